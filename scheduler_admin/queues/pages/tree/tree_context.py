"""What the page of the tree shows, put together from the selectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster, ClusterStatus, Notice
from scheduler_admin.clusters.pages.quota import QuotaBlock, elsewhere, fair_sharing
from scheduler_admin.clusters.selectors import present, status_of
from scheduler_admin.clusters.status.quota import quota_of
from scheduler_admin.clusters.status.reclaim_notices import notices_of
from scheduler_admin.core.paging import Paged, numbered
from scheduler_admin.core.words import Unit
from scheduler_admin.decisions.selectors import activity, latest
from scheduler_admin.decisions.selectors.latest import Side, Told
from scheduler_admin.queues.pages.tree.tree_lead import Lead, lead
from scheduler_admin.queues.selectors import queues as selectors
from scheduler_admin.queues.selectors import tree_filters
from scheduler_admin.queues.selectors.queues import Figure, TreeRow


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
    into: Told | None
    out: Told | None
    notice: Notice | None
    """That it is told to give back."""
    folds: bool
    folded: bool
    hidden: bool
    opens: bool
    """Whether something below it is folded that could be opened with all the rest."""


@dataclass(frozen=True)
class TreePage:
    """Everything that the page of the tree shows."""

    rows: list[Row]
    left_out: int
    """So many rows more are there to be shown."""
    paged: Paged | None
    """Where the rows stand among all that there are to be shown, where those are too many for one page."""
    columns: list[Unit]
    levels: range
    """How many levels can be shown."""
    total: int
    leaves: int
    sift: tree_filters.Sift
    lead: Lead
    fair_sharing: str
    """Whether and how Kueue shares fairly; empty where there is no Kueue."""
    quota: list[QuotaBlock]
    """Kueue's, of its queues that the tree has not."""
    why: int | None
    unplaced: Mapping[str, Any]
    """The pods that are in no queue, for who sees everything: see clusters.unplaced."""


def tree_page(user: Who, cluster: Cluster, sift: tree_filters.Sift, query: QueryDict) -> TreePage:
    """The tree of a cluster as a person may see it. ``query``: the page's, which says where in a long list it is."""
    status = status_of(cluster)
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    queues = selectors.visible(user, revision, present(cluster))
    capacity = status.capacity if status else {}
    names = selectors.resources(queues, capacity)
    tree = selectors.rows(queues, status.queues if status else {}, capacity, names)
    last = latest.latest(user, cluster)
    notices = {notice.queue: notice for notice in notices_of(user, cluster)}
    units = columns(tree, names)
    told = lead(tree)
    turns = {
        side: {path: -turn for turn, path in enumerate(last[of])} for side, of in (("in", Side.INTO), ("out", Side.OUT))
    }
    passing = tree_filters.sift(tree, sift, turns)
    folded = frozenset[str]() if sift.order else tree_filters.folds(passing, sift)
    shown = passing if sift.order else tree_filters.not_hidden(passing, folded)
    paged = None
    most = tree_filters.MOST if sift.whole else tree_filters.MANY
    part = shown[:most]
    if len(shown) > tree_filters.MOST:
        part, paged = numbered(shown, query)
    # Rows that are folded away come along where there are few, so that unfolding needs no round trip.
    kept = passing if len(passing) <= tree_filters.MANY else part
    marked = tree_filters.flat(kept) if sift.order else tree_filters.mark_fences(kept, [row.path for row in part])
    quota = quota_of(user, cluster, queues.paths)
    told_last = latest.told(user, last, [row.path for row in marked])
    return TreePage(
        rows=_rows(marked, units, told_last, notices, folded, flat=bool(sift.order)),
        left_out=0 if paged else max(0, len(shown) - most),
        paged=paged,
        levels=range(1, max((row.depth for row in tree), default=0) + 2),
        columns=list(units.values()),
        total=len(tree),
        leaves=sum(row.queue.leaf for row in tree),
        sift=sift,
        lead=told,
        fair_sharing=fair_sharing(quota),
        quota=elsewhere(quota),
        why=_why(user, cluster, told, status),
        unplaced=status.unplaced if status and scope_of(user, "view").everything else {},
    )


def _why(user: Who, cluster: Cluster, told: Lead, status: ClusterStatus | None) -> int | None:
    """The decision that says why the queue of the lead waits."""
    if not told.asks or status is None or status.pass_at is None:
        return None
    return activity.latest_for_queue(user, cluster, told.path, status.pass_at)


def columns(tree: Sequence[TreeRow], names: Sequence[str]) -> dict[str, Unit]:
    """One unit for each resource."""
    return {name: _unit(tree, name) for name in names}


def _unit(tree: Sequence[TreeRow], name: str) -> Unit:
    # Sets, as most queues of a large tree are granted the same.
    used = {row.used.get(name, 0) for row in tree}
    promised = {row.granted.get(name, 0) for row in tree} | {row.limits.get(name, 0) for row in tree}
    promised |= {row.deserved.get(name, 0) for row in tree if row.deserved is not None}
    return Unit.of(name, used | promised, promised)


def _rows(
    tree: Sequence[TreeRow],
    units: Mapping[str, Unit],
    last: Mapping[str, Mapping[str, Told]],
    notices: Mapping[str, Notice],
    folded: frozenset[str],
    *,
    flat: bool,
) -> list[Row]:
    opening = tree_filters.holding(folded)
    return [
        Row(
            tree=row,
            cells=tuple(Cell(figure, units[figure.resource]) for figure in row.figures),
            into=last[Side.INTO].get(row.path),
            out=last[Side.OUT].get(row.path),
            notice=notices.get(row.path),
            folds=not row.queue.leaf and not flat,
            folded=row.path in folded,
            hidden=tree_filters.is_hidden(row.path, folded),
            opens=row.path in opening,
        )
        for row in tree
    ]
