"""Limits on what may be evicted together on one node: by queue (invariant 2) and by disruption budget.

Source: rules 2 and 5 of YuniKorn's design document "Preemption"; for budgets, the Eviction API of Kubernetes
(pkg/registry/core/pod/storage/eviction.go).
"""

from collections.abc import Callable, Iterable

import numpy as np

from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows
from engine.model.columns.node_fields import SAFE
from engine.model.objects import Pod
from engine.policies.common.pod_index import LIMITLESS, PodIndex
from engine.policies.common.queue_usage import QueueUsage
from engine.policies.common.safeguards import EvictionLimit

AmountsByQueue = dict[str, Numbers]
"""Guaranteed resource -> queue number -> the amount that may be preempted from the queue's subtree."""


def find_preemptable_amounts(pod_index: PodIndex, usage: QueueUsage, leaf: str, ask: Pod) -> AmountsByQueue:
    """Return the preemptable amounts of all queues for a pending pod in a leaf."""
    return {
        name: preemptable
        for guard in GUARDS.values()
        for name, preemptable in guard(pod_index, usage, leaf, ask).items()
    }


def _beyond_guarantees(pod_index: PodIndex, usage: QueueUsage, leaf: str, ask: Pod) -> AmountsByQueue:
    """Return what each queue uses beyond its guarantee, negative if it uses less.

    A queue above the preemptor also gains the pending pod's requests, and may remain as far below its guarantee as it
    is. A queue without a guarantee in the resource has no limit.

    Source: rules 2 and 5 of YuniKorn's design document "Preemption", read for several resources and levels.
    """
    own_lineage = [pod_index.number[path] for path in pod_index.tree.lineage(leaf)]
    found = {}
    for resource, promised in pod_index.queues.promised.items():
        preemptable = usage.of(usage.for_victims, resource) - promised
        preemptable[own_lineage] = np.maximum(preemptable[own_lineage], 0) + min(ask.requests.get(resource, 0), SAFE)
        found[resource] = np.where(promised < 0, pod_index.limitless(preemptable), preemptable)
    return found


GUARDS: dict[str, Callable[[PodIndex, QueueUsage, str, Pod], AmountsByQueue]] = {"guarantee": _beyond_guarantees}
"""Name of a guard -> function that returns the preemptable amounts that the guard leaves."""


def constrained_queues(pod_index: PodIndex, preemptable_amounts: AmountsByQueue) -> Flags:
    """Return for each queue (by number) whether its pods on one node could exceed a preemptable amount.

    The amount may be that of the queue itself or of a queue above it.
    """
    scarce = np.zeros(pod_index.nobody + 1, np.bool_)
    for resource, preemptable in preemptable_amounts.items():
        short = pod_index.exceeds_on_a_node(resource, preemptable)
        scarce |= short[pod_index.ancestors].any(axis=0)
    return scarce


class SharedLimits:
    """The amounts that may still be preempted from groups of pods (rows, node by node), separately for each node."""

    def __init__(self) -> None:
        self._groups: list[_LimitedGroups] = []

    @property
    def binds(self) -> bool:
        """Return whether any limit applies."""
        return bool(self._groups)

    def allows(self, index: Rows) -> Flags:
        """Return for each of these pods whether it may be evicted too.

        ``index``: positions of the pods among the rows, at most one pod per node.
        """
        allowed = np.ones(len(index), np.bool_)
        for limited in self._groups:
            held = limited.held[index]
            allowed &= (held <= 0) | np.asarray(held <= limited.left[limited.group[index]], np.bool_)
        return allowed

    def take(self, index: Rows) -> None:
        """Subtract evicted pods from the remaining amounts. ``index``: positions of the pods among the rows."""
        for limited in self._groups:
            np.subtract.at(limited.left, limited.group[index], limited.held[index])


class BudgetAllowances(SharedLimits):
    """The number of evictions that disruption budgets still allow, separately for each node."""

    def __init__(self, columns: Columns, rows: Rows, limits: Iterable[EvictionLimit]) -> None:
        super().__init__()
        for limit in limits:
            covered = np.isin(rows, limit.covered)
            nodes, group, counts = np.unique(columns.node[rows[covered]], return_inverse=True, return_counts=True)
            if counts.max(initial=0) <= limit.allowed:
                continue
            groups = np.full(len(rows), len(nodes), np.intp)
            groups[covered] = group
            left = np.append(np.full(len(nodes), limit.allowed), LIMITLESS)
            self._groups.append(_LimitedGroups(covered.astype(np.int64), groups, left))


class PreemptableAmounts(SharedLimits):
    """The amounts that may still be preempted from the queues of some pods, separately for each node."""

    def __init__(self, pod_index: PodIndex, rows: Rows, kinds: Rows, preemptable_amounts: AmountsByQueue) -> None:
        """Begin with nothing preempted. ``kinds``: the kind of the pod of each row."""
        super().__init__()
        bound = np.flatnonzero(constrained_queues(pod_index, preemptable_amounts)[pod_index.queue][kinds])
        if not len(bound):
            return
        node, queue = pod_index.columns.node[rows[bound]], pod_index.queue[kinds[bound]]
        for resource, preemptable in preemptable_amounts.items():
            held = pod_index.amounts(resource)[kinds]
            for level in pod_index.ancestors:
                above = level[queue]
                names, group = np.unique(node * (pod_index.nobody + 1) + above, return_inverse=True)
                left = np.append(preemptable[names % (pod_index.nobody + 1)], pod_index.limitless(preemptable))
                groups = np.full(len(rows), len(names), np.intp)
                groups[bound] = group
                self._groups.append(_LimitedGroups(held, groups, left))


class _LimitedGroups:
    """Groups of pods that share a limit on one node: each pod's amount and group, and each group's remaining amount.

    The last group holds the pods without a limit.
    """

    def __init__(self, held: Numbers, group: Rows, left: Numbers) -> None:
        self.held, self.group, self.left = held, group, left
