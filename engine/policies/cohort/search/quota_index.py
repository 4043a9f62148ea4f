"""What is worked out once of a cluster: its tree, what is used of it, and who holds that, in the order of going."""

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

from engine.model.quota import QuotaCluster, QuotaTree, QuotaUsage, Ranks, Workload

Ranked = tuple[int, Workload]
"""A workload, and how many of the whole cluster would go before it, were all of other queues than the ask's."""


class Holders(NamedTuple):
    """Those of one queue that may be taken at all; who goes first, first."""

    leaving: list[Ranked]
    """They are on their way out already."""
    staying: list[Ranked]


class QuotaIndex:
    """Nothing in it changes: who searches, does so on a copy of ``usage``."""

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
        """Of this cluster, kept with it."""
        return cluster.once("ground", lambda: cls(cluster))

    def changed(self, gone: Sequence[Workload], come: Sequence[Workload]) -> "QuotaIndex":
        """The same without some of those that hold quota, and with others that nobody may take."""
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
    """Return what is used of a cluster's quota. Raises engine.model.quota.QuotaError for cohorts in a ring."""
    return QuotaIndex.of(cluster).usage.copy()


def _rank(one: Workload, now_ms: int) -> tuple[bool, int, int, str]:
    """Lower goes first: who goes already, then low priorities, and who came last."""
    since_ms = now_ms if one.reserved_ms is None else one.reserved_ms
    return not one.evicted, one.priority, -since_ms, one.uid
