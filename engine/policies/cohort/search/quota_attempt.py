"""Tracks one attempt to fit a workload into a cluster, and the quota usage as the search removes other workloads."""

import numpy as np

from engine.model.columns.node_columns import Flags
from engine.model.quota import FlavorResource, Quantities, QuotaUsage, Workload
from engine.policies.cohort.search.quota_index import QuotaIndex

MissingQuota = tuple[FlavorResource, int]
"""A flavor and resource with too little quota, and the amount that is missing."""


class QuotaAttempt:
    """An attempt to find quota for the amounts ``asked`` by a workload.

    Workloads that hold anything ``contested`` may be preempted for it.
    """

    def __init__(
        self, quota_index: QuotaIndex, ask: Workload, asked: Quantities, contested: tuple[FlavorResource, ...]
    ) -> None:
        self.quota_index, self.tree, self.usage = quota_index, quota_index.tree, quota_index.usage.copy()
        self.ask, self.asked, self.contested = ask, asked, contested
        self.queue = quota_index.queues[ask.queue]
        self.node = quota_index.tree.queue[ask.queue]
        self.path = quota_index.tree.paths[self.node]
        """The nodes from the queue up to the root."""
        self.below: dict[int | None, int] = dict(zip(self.path[1:], self.path, strict=False))
        """Cohort on the path -> the node on the path right below it."""

    def start_over(self) -> None:
        """Restore the usage of all workloads."""
        self.usage = self.quota_index.usage.copy()

    def take(self, kind: int) -> None:
        """Remove the usage of a workload of a kind."""
        self.usage.add(self.quota_index.nodes[kind], self.quota_index.amounts[kind], -1)

    def put_back(self, kind: int) -> None:
        """Add the usage of a removed workload of a kind again."""
        self.usage.add(self.quota_index.nodes[kind], self.quota_index.amounts[kind])

    def lacks(self, *, borrowing: bool) -> MissingQuota | None:
        """Return the first resource with too little quota and the missing amount, or None if the workload fits.

        Without ``borrowing``, it has to fit in the queue's own nominal quota.

        Source: workloadFits of Kueue (pkg/scheduler/preemption, preemption.go).
        """
        for of, amount in self.asked.items():
            used, own = self.usage.used(self.node, of), self.tree.columns[of].own[self.node]
            if not borrowing and used + amount > own:
                return of, used + amount - own
            room = self.usage.room(self.node, of)
            if amount > max(0, room):
                return of, amount - room
        return None

    def borrowers(self) -> Flags:
        """Return for every node whether it borrows any of the contested resources now."""
        borrowers = np.zeros(len(self.tree.names), np.bool_)
        for of in self.contested:
            own = self.quota_index.arrays(of).own
            borrowers |= np.asarray(np.array(self.usage.columns[of], own.dtype) > own, np.bool_)
        return borrowers

    def within_nominal(self, node: int) -> bool:
        """Return whether a queue or cohort borrows none of the contested resources.

        Source: IsWithinNominalInResources of Kueue (resource_node.go).
        """
        return self.usage.within_nominal(node, self.contested)


def left_after(usage: QuotaUsage, node: int, asked: Quantities) -> tuple[bool, dict[FlavorResource, int]]:
    """Return whether a node's subtree has enough quota for some amounts, and what is left to borrow.

    What is left excludes the part of the node's quota that it does not lend.

    Source: QuantitiesFitInQuota of Kueue (resource_node.go).
    """
    fits = not any(usage.borrows(node, of, amount) for of, amount in asked.items())
    return fits, {of: amount - min(amount, usage.local_available(node, of)) for of, amount in asked.items()}
