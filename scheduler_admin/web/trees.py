"""What the page of the tree shows, put together from the selectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.quota import quota_of
from scheduler_admin.clusters.selectors import present, status_of
from scheduler_admin.history import activity_selectors
from scheduler_admin.history.activity_selectors import LastPreemption
from scheduler_admin.queues import selectors, sifting
from scheduler_admin.queues.selectors import Figure, TreeRow
from scheduler_admin.web.leads import Lead, lead
from scheduler_admin.web.quota import QuotaBlock, elsewhere
from scheduler_admin.web.words import Unit


@dataclass(frozen=True)
class Cell:
    """One resource of one row in its column's unit."""

    figure: Figure
    unit: Unit


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    tree: TreeRow
    cells: tuple[Cell, ...]
    into: LastPreemption | None
    out: LastPreemption | None
    folds: bool
    folded: bool
    hidden: bool


@dataclass(frozen=True)
class TreePage:
    """Everything that the page of the tree shows."""

    rows: list[Row]
    columns: list[Unit]
    total: int
    leaves: int
    sift: sifting.Sift
    lead: Lead
    quota: list[QuotaBlock]
    """Kueue's, of its queues that the tree has not."""
    why: int | None


def tree_page(user: Who, cluster: Cluster, sift: sifting.Sift) -> TreePage:
    """The tree of a cluster as a person may see it."""
    status = status_of(cluster)
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    queues = selectors.visible(user, revision, present(cluster))
    capacity = status.capacity if status else {}
    names = selectors.resources(queues, capacity)
    tree = selectors.rows(queues, status.queues if status else {}, capacity, names)
    last = activity_selectors.last_preemptions(user, cluster, [queue.path for queue in queues])
    units = columns(tree, names)
    told = lead(tree)
    return TreePage(
        rows=_rows(sifting.sift(tree, sift), units, last, sift),
        columns=list(units.values()),
        total=len(tree),
        leaves=sum(row.queue.leaf for row in tree),
        sift=sift,
        lead=told,
        quota=elsewhere(quota_of(user, cluster, {queue.path for queue in queues})),
        why=activity_selectors.latest_for_queue(user, cluster, told.path) if told.asks else None,
    )


def columns(tree: Sequence[TreeRow], names: Sequence[str]) -> dict[str, Unit]:
    """One unit for each resource."""
    values: dict[str, list[int]] = {name: [] for name in names}
    for row in tree:
        for figure in row.figures:
            values[figure.resource] += [v for v in (figure.used, figure.guaranteed, figure.max) if v is not None]
    return {name: Unit.of(name, found) for name, found in values.items()}


def _rows(
    tree: Sequence[TreeRow], units: Mapping[str, Unit], last: activity_selectors.LastPreemptions, sift: sifting.Sift
) -> list[Row]:
    return [
        Row(
            tree=row,
            cells=tuple(Cell(figure, units[figure.resource]) for figure in row.figures),
            into=last.into.get(row.path),
            out=last.out.get(row.path),
            folds=not row.queue.leaf and not sift.order,
            folded=row.path in sift.folded,
            hidden=not sift.order and sifting.is_hidden(row.path, sift.folded),
        )
        for row in tree
    ]
