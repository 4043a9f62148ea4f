"""Indexes a cluster once: its quota tree, the usage, and the workloads that hold quota, in the order of preemption."""

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

from engine.model.quota import QuotaCluster, QuotaTree, QuotaUsage, Ranks, Workload

RankedWorkload = tuple[int, Workload]
"""A workload with its position in the cluster-wide order of preemption.

The order does not consider whether a workload is in the preemptor's own queue.
"""


class Holders(NamedTuple):
    """The workloads of one queue that may be preempted at all, in the order of preemption."""

    leaving: list[RankedWorkload]
    """They are already being evicted."""
    staying: list[RankedWorkload]


class QuotaIndex:
    """The index of a cluster. It is never modified; a search works on a copy of ``usage``."""

    def __init__(self, cluster: QuotaCluster) -> None:
        self.flavors, self.queues = cluster.flavors, cluster.queues
        self.tree = QuotaTree(cluster.queues.values(), cluster.cohorts.values())
        self.ranks = Ranks(self.tree)
        self.usage = QuotaUsage(self.tree)
        self.holders = {name: Holders([], []) for name in cluster.queues}
        held = [one for one in cluster.workloads if one.holds and one.queue in cluster.queues]
        for ranked in enumerate(sorted(held, key=lambda one: _rank(one, cluster.now_ms))):
            one = ranked[1]
            self.usage.add(self.tree.queue[one.queue], one.usage)
            if cluster.queues[one.queue].active and not one.spared:
                holders = self.holders[one.queue]
                (holders.leaving if one.evicted else holders.staying).append(ranked)

    @classmethod
    def of(cls, cluster: QuotaCluster) -> "QuotaIndex":
        """Return the index of a cluster, which is cached with the cluster."""
        return cluster.once("quota index", lambda: cls(cluster))

    def changed(self, gone: Sequence[Workload], come: Sequence[Workload]) -> "QuotaIndex":
        """Return a copy without the workloads ``gone``, and with the workloads ``come``.

        Those added hold quota, but cannot be preempted.
        """
        later, uids = copy(self), {one.uid for one in gone}
        later.usage = self.usage.copy()
        for many, sign in ((gone, -1), (come, 1)):
            for one in many:
                later.usage.add(self.tree.queue[one.queue], one.usage, sign)
        left = {queue: self.holders[queue] for queue in {one.queue for one in gone}}
        later.holders = self.holders | {
            queue: Holders(*([ranked for ranked in each if ranked[1].uid not in uids] for each in holders))
            for queue, holders in left.items()
        }
        return later


def usage_of(cluster: QuotaCluster) -> QuotaUsage:
    """Return the usage of a cluster's quota.

    Raises engine.model.quota.QuotaError for cohorts that form a cycle.
    """
    return QuotaIndex.of(cluster).usage.copy()


def _rank(one: Workload, now_ms: int) -> tuple[bool, int, int, str]:
    """Return a key that sorts workloads in the order of preemption.

    Those already being evicted come first, then lower priorities, then those that reserved quota most recently.

    Source: CandidatesOrdering of Kueue (pkg/scheduler/preemption/common, ordering.go).
    """
    since_ms = now_ms if one.reserved_ms is None else one.reserved_ms
    return not one.evicted, one.priority, -since_ms, one.uid
