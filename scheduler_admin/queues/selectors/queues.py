"""Reads of queue trees: the rows that a person may see, with what runs in them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

import msgspec

from engine.model.placement import add_dynamic_queues
from engine.model.quantities import CPU, PODS, Amounts
from engine.model.queue_tree import GuaranteeStatus, QueueTree
from scheduler_admin.accounts.former_paths import renames_for, with_former
from scheduler_admin.accounts.scopes import Scope, Who, scope_of
from scheduler_admin.queues.models import Queue, Revision
from scheduler_admin.queues.services import hierarchies
from scheduler_admin.queues.services.hierarchies import Published, row_of, tree_of


class Figure(msgspec.Struct, frozen=True, gc=False):
    """One resource of one queue. No guarantee: nothing is granted here; no max: not limited."""

    resource: str
    used: int
    guaranteed: int | None
    max: int | None
    deserved: int | None = None
    """None where nothing is divided by shares."""
    lent: int = 0
    """What others use of what it is promised."""

    @property
    def promised(self) -> int | None:
        """What usage is held against: what it deserves, where that is worked out, else its guarantee."""
        return self.guaranteed if self.deserved is None else self.deserved

    @property
    def standing(self) -> GuaranteeStatus:
        """Against what is promised."""
        return GuaranteeStatus.of(self.used, self.promised)

    @property
    def excess(self) -> float:
        """How far above what is promised, as a share of it; negative below it."""
        return (self.used - (self.promised or 0)) / (self.promised or self.max or self.used or 1)


class TreeRow(msgspec.Struct, frozen=True, dict=True):
    """A queue as the page of the tree shows it. Fence marks are set by ``mark_fences``.

    Figures are only made where somebody looks at them: of a large tree, pages show a hundred rows.
    """

    queue: Queue
    depth: int
    leaves: int
    asks: int
    oldest_ask_ms: int | None
    names: Sequence[str] = ()
    """The resources that it has figures of."""
    used: Mapping[str, int] = {}
    granted: Mapping[str, int] = {}
    """Its guarantee, or what is guaranteed below it."""
    limits: Mapping[str, int] = {}
    deserved: Mapping[str, int] | None = None
    """None where nothing is divided by shares."""
    lent: Mapping[str, int] = {}
    marks: str = ""

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """One for each resource."""
        return tuple(
            Figure(
                resource=name,
                used=self.used.get(name, 0),
                guaranteed=self.granted.get(name),
                max=self.limits.get(name),
                deserved=None if self.deserved is None else self.deserved.get(name, 0),
                lent=self.lent.get(name, 0),
            )
            for name in self.names
        )

    @property
    def path(self) -> str:
        """The queue's path."""
        return self.queue.path

    @cached_property
    def below(self) -> list[str]:
        """Resources in which it is below what is promised."""
        return [figure.resource for figure in self.figures if figure.standing == "below"]

    @cached_property
    def above(self) -> list[str]:
        """Resources in which it is above what is promised."""
        return [figure.resource for figure in self.figures if figure.standing == "above"]

    @property
    def standing(self) -> GuaranteeStatus:
        """The status of the whole queue, by the resources that it is promised, or by all if it is promised none."""
        promised = [figure for figure in self.figures if figure.promised is not None]
        return GuaranteeStatus.of_queue(figure.standing for figure in promised or self.figures)

    def stands(self, standing: str) -> bool:
        """Whether the queue is ``below`` or ``above`` in any resource, or as a whole ``at`` what it is promised."""
        if standing == GuaranteeStatus.AT:
            return self.standing == standing
        return any(figure.standing == standing for figure in self.figures)

    @property
    def shared(self) -> bool:
        """Whether the cluster is divided by shares, so that the queue deserves something or nothing."""
        return self.deserved is not None


def visible(user: Who, revision: Revision | None, present: Collection[str] = ()) -> list[Queue]:
    """The queues of a revision that the user may see, parents before children; of their namespaces, the user's.

    With those that are there because of their pods, of the ``present`` paths.
    """
    if revision is None:
        return []
    scope = scope_of(user, "view")
    published = _published(Published.of(revision))
    if scope.everything:
        queues = list(published)
    else:
        queues = [_with_own(queue, scope) for queue in published if scope.has_path(queue.path)]
    tree = tree_with(revision, present)
    found = [row_of(revision, tree, one.path, 0) for one in tree.dynamic if scope.has_path(one.path)]
    if not found:
        return queues
    for queue in found:
        queue.dynamic = True
    place = {path: position for position, path in enumerate(tree.walk())}
    return sorted([*queues, *found], key=lambda queue: place[queue.path])


@lru_cache(maxsize=64)
def _published(of: Published) -> tuple[Queue, ...]:
    """The queues of a revision, which never change: made once of what it says, by far quicker than a thousand rows."""
    tree, its = tree_of(of.revision), Revision(pk=of.pk)
    return tuple(row_of(its, tree, path, position) for position, path in enumerate(tree.walk()))


def forget() -> None:
    """Read all trees and their queues anew, as in a process that has just begun."""
    hierarchies.forget()
    _published.cache_clear()


def _with_own(queue: Queue, scope: Scope) -> Queue:
    """With the namespaces that are in a scope alone."""
    own = tuple(name for name in queue.own.namespaces if scope.has_pod(name, queue.path))
    if own == queue.own.namespaces:
        return queue
    found = copy(queue)
    found.own = msgspec.structs.replace(queue.own, namespaces=own)
    return found


def tree_with(revision: Revision, present: Collection[str] = ()) -> QueueTree:
    """A revision's tree, whoever asks, with its dynamic queues of the ``present`` paths.

    Fence rules need all of it; pages name only what one may see.
    """
    tree = tree_of(revision)
    more = [path for path in present if path not in tree]
    above = {path.rpartition(".")[0] for path in more}
    return add_dynamic_queues(tree, sorted(path for path in more if path not in above))


def resources(queues: Iterable[Queue], capacity: Iterable[str]) -> list[str]:
    """cpu, memory, then the others that the tree grants or the cluster has; ``pods`` only where it is granted."""
    granted = set[str]()
    for queue in queues:
        granted.update(queue.own.guaranteed, queue.own.max)
    return ordered(granted, capacity)


def ordered(granted: Collection[str], capacity: Iterable[str]) -> list[str]:
    """The same of resources that are ``granted``."""
    names = {*granted} | (
        set(capacity) - {PODS, "ephemeral-storage"} - {n for n in capacity if n.startswith("hugepages-")}
    )
    return [name for name in (CPU, "memory") if name in names] + sorted(names - {CPU, "memory"})


def rows(
    queues: Sequence[Queue], figures: Mapping[str, Mapping[str, Any]], capacity: Amounts, names: Sequence[str]
) -> list[TreeRow]:
    """The tree as rows, parents before children. ``figures`` and ``capacity`` are ClusterStatus's."""
    promised, leaves = _below(queues)
    top = min((queue.depth for queue in queues), default=0)
    return [
        _row(queue, figures.get(queue.path, _NOTHING), promised[queue.path], capacity, names, leaves[queue.path], top)
        for queue in queues
    ]


def top_row(
    queues: Sequence[Queue], figures: Mapping[str, Mapping[str, Any]], capacity: Amounts, names: Sequence[str]
) -> TreeRow:
    """The first of them alone, that of the queue above all others; there has to be one."""
    promised, leaves = _below(queues)
    top = queues[0]
    return _row(top, figures.get(top.path, _NOTHING), promised[top.path], capacity, names, leaves[top.path], top.depth)


def _below(queues: Sequence[Queue]) -> tuple[dict[str, Amounts], dict[str, int]]:
    """What each queue is promised, and its leaves. ``queues``: parents before children."""
    promised: dict[str, Amounts] = {}
    leaves: dict[str, int] = {}
    sums: dict[str, Amounts] = {}
    counts: dict[str, int] = {}
    for queue in reversed(queues):
        path, own = queue.path, queue.own.guaranteed
        below = sums.pop(path, None)
        # A parent without a guarantee of its own is shown with what is promised below it.
        promised[path] = found = own if below is None else below | own
        leaves[path] = many = int(queue.leaf) if below is None else counts.pop(path)
        above = path.rpartition(".")[0]
        into = sums.setdefault(above, {})
        for name, amount in found.items():
            into[name] = into.get(name, 0) + amount
        counts[above] = counts.get(above, 0) + many
    return promised, leaves


_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _row(
    queue: Queue,
    found: Mapping[str, Any],
    promised: Amounts,
    capacity: Amounts,
    names: Sequence[str],
    leaves: int,
    top: int,
) -> TreeRow:
    depth, own = queue.depth, queue.own
    return TreeRow(
        queue,
        depth - top,
        leaves,
        found.get("asks", 0),
        found.get("oldest_ask_ms"),
        names,
        found.get("used", _NOTHING),
        promised,
        own.max if depth else capacity | own.max,
        found.get("deserved"),
        found.get("lent", _NOTHING),
    )


def revisions(user: Who, revision: Revision, path: str, limit: int = 20) -> list[tuple[Revision, Queue | None]]:
    """The hierarchy's latest revisions in which this queue differs from the one before; None: it was not there."""
    history = list(
        Revision.objects.restrict(user, "view")
        .filter(hierarchy=revision.hierarchy_id)
        .order_by("number")
        .defer("document", "source")
    )
    names = with_former(path, renames_for(user), alone=True)
    rows = Queue.objects.filter(revision__in=history, path__in=names)
    found = {queue.revision_id: queue for queue in sorted(rows, key=lambda queue: queue.path == path)}
    changed: list[tuple[Revision, Queue | None]] = []
    before: tuple[Any, ...] | None = None
    for each in history:
        queue = found.get(each.pk)
        own = (queue.path, queue.settings, queue.leaf) if queue else None
        if own != before:
            changed.append((each, queue))
        before = own
    return changed[::-1][:limit]
