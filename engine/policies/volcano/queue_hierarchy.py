"""What queues deserve by Volcano's plugin ``capacity``: what their specs say of it.

Source: Volcano's pkg/scheduler/plugins/capacity, capacity.go. Its quirks are named in docs/policies/deserved.md.
"""

from collections.abc import Iterator, Mapping

from engine.model.objects import VolcanoCluster
from engine.model.quantities import Amounts, total
from engine.policies.volcano.amounts import Fine, at_most, capped, fine, limits, merged

ROOT = "root"


class HierarchyError(ValueError):
    """Queues that are no tree: with such Volcano schedules nothing at all. ``str()`` is a sentence."""


def deserved(cluster: VolcanoCluster, most: Mapping[str, Fine]) -> dict[str, Fine]:
    """Queue -> what it deserves where queues are no tree: at ``most`` what it can have, at least its guarantee."""
    specs = {name: cluster.queues[name] for name in most}
    return {
        name: merged(max, at_most(fine(queue.deserved), most[name]), fine(queue.guarantee))
        for name, queue in specs.items()
    }


class QueueHierarchy:
    """All queues as a tree: what each deserves, can have, asks and holds, with all below it."""

    def __init__(self, cluster: VolcanoCluster) -> None:
        self.queues = cluster.queues
        self.children: dict[str, list[str]] = {name: [] for name in cluster.queues}
        for queue in cluster.queues.values():
            if queue.name != ROOT and queue.parent in self.children:
                self.children[queue.parent].append(queue.name)
        self.order = tuple(self._top_down())
        if ROOT not in self.children or len(self.order) < len(self.children):
            raise HierarchyError("not every queue is below the queue root")
        if held := sorted(set(cluster.requests) - self.leaves):
            raise HierarchyError(f"queue {held[0]} has both queues and PodGroups in it")
        self.requests, self.allocated = self._summed(cluster.requests), self._summed(cluster.allocated)
        self.deserved: dict[str, Fine] = {}
        self.most: dict[str, Fine] = {ROOT: {}}
        for name in self.order:
            self._divide(name)
        self.deserved[ROOT] = fine(total(self.queues[name].deserved for name in self.children[ROOT]))

    @property
    def above(self) -> dict[str, tuple[str, ...]]:
        """Queue -> those above it, from the root down."""
        found: dict[str, tuple[str, ...]] = {ROOT: ()}
        for name in self.order:
            found |= dict.fromkeys(self.children[name], (*found[name], name))
        return found

    @property
    def leaves(self) -> frozenset[str]:
        """The queues with none below."""
        return frozenset(name for name, below in self.children.items() if not below)

    def _top_down(self) -> Iterator[str]:
        pending = [ROOT] if ROOT in self.children else []
        while pending:
            yield (name := pending.pop())
            pending += self.children[name]

    def _summed(self, amounts: dict[str, Amounts]) -> dict[str, Amounts]:
        found: dict[str, Amounts] = {}
        for name in reversed(self.order):
            found[name] = total([amounts.get(name, {}), *(found[child] for child in self.children[name])])
        return found

    def _divide(self, name: str) -> None:
        """What is above the queues below one is what is left of its own with the guarantees of all of them."""
        children = [self.queues[child] for child in self.children[name]]
        promised = fine(total(child.guarantee for child in children))
        for child in children:
            guarantee = fine(child.guarantee)
            self.deserved[child.name] = merged(max, fine(child.deserved), guarantee)
            left = {
                resource: amount - promised.get(resource, 0) + guarantee.get(resource, 0)
                for resource, amount in self.most[name].items()
            }
            self.most[child.name] = capped(left, limits(child.capability))
