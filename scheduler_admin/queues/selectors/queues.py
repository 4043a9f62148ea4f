"""Reads of queue trees: the rows that a person may see, with what runs in them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import Any

import msgspec

from engine.model.placement import add_dynamic_queues
from engine.model.quantities import CPU, PODS, Amounts
from engine.model.queue_tree import GuaranteeStatus, QueueTree
from scheduler_admin.accounts.former_paths import renames_for, with_former
from scheduler_admin.accounts.scopes import Scope, Who, scope_of
from scheduler_admin.queues.models import Queue, Revision
from scheduler_admin.queues.selectors.visible_queues import Place, VisibleQueues
from scheduler_admin.queues.services.hierarchies import row_of, tree_of
from scheduler_admin.queues.services.kept_trees import keep_trees


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
        return _excess(self.used, self.promised or 0, self.max)


def _excess(used: int, promised: int, limit: int | None) -> float:
    return (used - promised) / (promised or limit or used or 1)


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
    def excesses(self) -> list[tuple[float, bool]]:
        """The excess of each resource, and whether any of it is promised; as its figures say, without making these."""
        found, granted = [], self.granted if self.deserved is None else self.deserved
        for name in self.names:
            used, promised = self.used.get(name, 0), granted.get(name, 0)
            found.append((_excess(used, promised, self.limits.get(name)), promised > 0))
        return found

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


def visible(user: Who, revision: Revision | None, present: Collection[str] = ()) -> VisibleQueues:
    """The queues of a revision that the user may see; of their namespaces, the user's.

    With those that are there because of their pods, of the ``present`` paths.
    """
    if revision is None:
        return VisibleQueues()
    scope, tree = scope_of(user, "view"), tree_with(revision, present)
    every = tree.once("rows", lambda: _every(tree, revision.pk))
    if scope.everything:
        return every
    # Kept with the tree, as the news of a tenant's pages ask for the same part every two seconds.
    return tree.once("parts of rows", lambda: lru_cache(maxsize=32)(partial(_part, every)))(scope)


def _part(every: VisibleQueues, scope: Scope) -> VisibleQueues:
    """The queues that lie in a scope."""
    return VisibleQueues(_with_own(queue, scope) for queue in every if scope.has_path(queue.path))


def _every(tree: QueueTree, revision: int | None) -> VisibleQueues:
    """The queues of a tree, which never change: made once of what it says, by far quicker than a thousand rows."""
    its, found = Revision(pk=revision), list[Queue]()
    for position, path in enumerate(tree.walk()):
        found.append(queue := row_of(its, tree, path, position))
        queue.dynamic = tree[path].dynamic
    return VisibleQueues(found)


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
    known = tree.queues
    more = [path for path in present if path not in known]
    above = {path.rpartition(".")[0] for path in more}
    return _grown(tree, tuple(sorted(path for path in more if path not in above))) if more else tree


@keep_trees(key=lambda tree, leaves: (tree, leaves))
def _grown(tree: QueueTree, leaves: tuple[str, ...]) -> QueueTree:
    """A tree with its dynamic queues, which are the same in most passes."""
    return add_dynamic_queues(tree, leaves)


def resources(queues: VisibleQueues, capacity: Iterable[str]) -> list[str]:
    """cpu, memory, then the others that the tree grants or the cluster has; ``pods`` only where it is granted."""
    return ordered(queues.granted, capacity)


def ordered(granted: Collection[str], capacity: Iterable[str]) -> list[str]:
    """The same of resources that are ``granted``."""
    names = {*granted} | (
        set(capacity) - {PODS, "ephemeral-storage"} - {n for n in capacity if n.startswith("hugepages-")}
    )
    return [name for name in (CPU, "memory") if name in names] + sorted(names - {CPU, "memory"})


def rows(
    queues: VisibleQueues, figures: Mapping[str, Mapping[str, Any]], capacity: Amounts, names: Sequence[str]
) -> list[TreeRow]:
    """The tree as rows, parents before children. ``figures`` and ``capacity`` are ClusterStatus's."""
    top = min((place.depth for place in queues.places.values()), default=0)
    return [_row(place, figures.get(path, _NOTHING), capacity, names, top) for path, place in queues.places.items()]


def row(
    queues: VisibleQueues, path: str, figures: Mapping[str, Any], capacity: Amounts, names: Sequence[str]
) -> TreeRow:
    """One of them alone, as the top of those below it. ``figures``: its own."""
    place = queues.places[path]
    return _row(place, figures, capacity, names, place.depth)


_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _row(place: Place, found: Mapping[str, Any], capacity: Amounts, names: Sequence[str], top: int) -> TreeRow:
    get = found.get
    return TreeRow(
        place.queue,
        place.depth - top,
        place.leaves,
        get("asks", 0),
        get("oldest_ask_ms"),
        names,
        get("used", _NOTHING),
        place.promised,
        place.limits if place.depth else capacity | place.limits,
        get("deserved"),
        get("lent", _NOTHING),
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
