"""Calculates what queues deserve by Volcano's plugin ``capacity``: what their specs state.

Source: Volcano's pkg/scheduler/plugins/capacity, capacity.go. Its quirks are listed in docs/policies/deserved.md.
"""

from collections.abc import Iterator, Mapping

from engine.model.objects import VolcanoCluster
from engine.model.quantities import Amounts, total
from engine.policies.volcano.amounts import Fine, combine_amounts, limit_to, limits, lower_limits, to_fine

ROOT = "root"


class HierarchyError(ValueError):
    """Queues that form no valid tree; Volcano then schedules nothing at all. ``str()`` is a sentence."""


def deserved(cluster: VolcanoCluster, most: Mapping[str, Fine]) -> dict[str, Fine]:
    """Return what each queue deserves if the queues form no tree.

    It is at most what the queue can have (``most``), and at least its guarantee.

    Source: capacityPlugin.buildQueueAttrs of Volcano.
    """
    specs = {name: cluster.queues[name] for name in most}
    return {
        name: combine_amounts(max, limit_to(to_fine(queue.deserved), most[name]), to_fine(queue.guarantee))
        for name, queue in specs.items()
    }


class QueueHierarchy:
    """All queues as a tree: what each deserves, can have, requests, and holds, including all queues below it.

    Source: capacityPlugin.buildHierarchicalQueueAttrs of Volcano.
    """

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
        self.deserved[ROOT] = to_fine(total(self.queues[name].deserved for name in self.children[ROOT]))

    @property
    def above(self) -> dict[str, tuple[str, ...]]:
        """Return the ancestors of every queue, from the root down."""
        found: dict[str, tuple[str, ...]] = {ROOT: ()}
        for name in self.order:
            found |= dict.fromkeys(self.children[name], (*found[name], name))
        return found

    @property
    def leaves(self) -> frozenset[str]:
        """Return the queues without children."""
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
        """Calculate what the children of a queue deserve, and the most they can have.

        A child can have what its parent can have, without the guarantees of its siblings, up to its own capability.

        Source: capacityPlugin.checkHierarchicalQueue of Volcano.
        """
        children = [self.queues[child] for child in self.children[name]]
        promised = to_fine(total(child.guarantee for child in children))
        for child in children:
            guarantee = to_fine(child.guarantee)
            self.deserved[child.name] = combine_amounts(max, to_fine(child.deserved), guarantee)
            left = {
                resource: amount - promised.get(resource, 0) + guarantee.get(resource, 0)
                for resource, amount in self.most[name].items()
            }
            self.most[child.name] = lower_limits(left, limits(child.capability))
