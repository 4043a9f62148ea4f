"""The queues that a reader may see, with what is the same of them at every request."""

from collections.abc import Mapping
from functools import cached_property

import msgspec

from engine.model.quantities import Amounts
from scheduler_admin.queues.models import Queue


class Place(msgspec.Struct, frozen=True, gc=False):
    """A queue as it stands in its tree."""

    queue: Queue
    depth: int
    leaves: int
    """So many are below it that the reader may see; one where it is a leaf."""
    promised: Amounts
    """Its guarantee, or what is guaranteed below it."""
    limits: Amounts


class VisibleQueues(tuple[Queue, ...]):  # noqa: SLOT001 - what is computed of them is kept beside them
    """Queues of one tree, parents before children.

    All requests of people who see everything share one until another revision is in force, so what would take long
    for a large tree is computed once.
    """

    @cached_property
    def places(self) -> Mapping[str, Place]:
        """Path -> its place, in the order of the tree."""
        found: dict[str, Place] = {}
        sums: dict[str, Amounts] = {}
        counts: dict[str, int] = {}
        for queue in reversed(self):
            path, own = queue.path, queue.own.guaranteed
            below = sums.pop(path, None)
            # A parent without a guarantee of its own is shown with what is promised below it.
            promised = own if below is None else below | own
            leaves = int(queue.leaf) if below is None else counts.pop(path)
            above = path.rpartition(".")[0]
            into = sums.setdefault(above, {})
            for name, amount in promised.items():
                into[name] = into.get(name, 0) + amount
            counts[above] = counts.get(above, 0) + leaves
            found[path] = Place(queue, queue.depth, leaves, promised, queue.own.max)
        return dict(reversed(found.items()))

    @cached_property
    def paths(self) -> frozenset[str]:
        """Their paths."""
        return frozenset(queue.path for queue in self)

    @cached_property
    def granted(self) -> frozenset[str]:
        """The resources in which any of them has a guarantee or a max."""
        return frozenset(name for queue in self for name in (*queue.own.guaranteed, *queue.own.max))
