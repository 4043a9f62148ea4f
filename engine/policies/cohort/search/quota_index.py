"""Indexes a cluster once: its quota tree, the usage, and the workloads that hold quota, in the order of preemption."""

from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from engine.model.collections.arrays import array_of
from engine.model.collections.offsets import ranges, running_sums
from engine.model.columns.distinct import ItemGroups
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.columns.node_fields import SAFE
from engine.model.quota import FlavorResource, Quantities, QuotaCluster, QuotaTree, QuotaUsage, Ranks, Workload


class QuotaArrays(NamedTuple):
    """Amounts of a resource in one flavor, as 64-bit integers if all sums fit into them."""

    amounts: Numbers
    """Kind -> what a workload of it holds."""
    own: Numbers
    """Node -> the quota of its subtree."""
    kept: Numbers
    """Node -> the part of it that the cohort above never sees."""


class QuotaIndex:
    """The index of a cluster. It is never modified; a search works on a copy of ``usage``.

    Workloads that hold quota are rows, in the order of preemption of the whole cluster. The order does not consider
    whether a workload is in the preemptor's own queue. Workloads of one kind are in the same queue and hold the same
    amounts.
    """

    def __init__(self, cluster: QuotaCluster) -> None:
        self.flavors, self.queues = cluster.flavors, cluster.queues
        self.tree = QuotaTree(cluster.queues.values(), cluster.cohorts.values())
        self.ranks = Ranks(self.tree)
        self.workloads = _in_order_of_preemption(cluster)
        self.leaving = sum(one.evicted for one in self.workloads)
        """The number of workloads that are already being evicted; they are the first rows."""
        self.priority: Numbers = self._column("priority")
        self.turn_ms: Numbers = self._column("turn_ms")
        self._uid_hashes: Numbers = np.array([hash(one.uid) for one in self.workloads], np.int64)
        kinds = ItemGroups(self.workloads, lambda one: (one.queue, *one.usage.items()))
        self.kind: Rows = kinds.of
        self.amounts: list[Quantities] = [one.usage for one in kinds.each]
        """Kind -> the quota that a workload of it holds."""
        self.nodes: list[int] = [self.tree.queue[one.queue] for one in kinds.each]
        """Kind -> the number of its queue in the tree."""
        self.node: Rows = np.array(self.nodes, np.intp)[self.kind]
        self._by_queue: Rows = np.argsort(self.node, kind="stable")
        self._first: Rows = running_sums(np.bincount(self.node, minlength=len(self.tree.names)))
        active = np.array([one.active for one in cluster.queues.values()] or [False])
        self._preemptable: Flags = active[self.node] & ~np.array([one.spared for one in self.workloads], np.bool_)
        self._holding: dict[tuple[FlavorResource, ...], Flags] = {}
        self._arrays: dict[FlavorResource, QuotaArrays] = {}
        self.usage = self._usage()

    def _column(self, name: str) -> Numbers:
        return array_of(map(attrgetter(name), self.workloads), np.int64, len(self.workloads))

    def _usage(self) -> QuotaUsage:
        usage, counts = QuotaUsage(self.tree), np.bincount(self.kind, minlength=len(self.nodes)).tolist()
        for node, amounts, count in zip(self.nodes, self.amounts, counts, strict=True):
            usage.add(node, {of: count * amount for of, amount in amounts.items()})
        return usage

    @classmethod
    def of(cls, cluster: QuotaCluster) -> "QuotaIndex":
        """Return the index of a cluster, which is cached with the cluster."""
        return cluster.once("quota index", lambda: cls(cluster))

    def preemptable(self, nodes: Sequence[int] | Rows) -> Rows:
        """Return the rows of the workloads in some queues that may be preempted at all, one queue after the other."""
        queues = np.array(nodes, np.intp)
        rows = self._by_queue[ranges(self._first[queues], self._first[queues + 1])]
        return rows[self._preemptable[rows]]

    @cached_property
    def levels(self) -> tuple[Rows, ...]:
        """Return for every height in the tree, by node, its ancestor (or itself) of that height, -1 if it has none."""
        tree = self.tree
        levels = np.full((max(tree.heights, default=0) + 1, len(tree.names)), -1, np.intp)
        for node, path in enumerate(tree.paths):
            for above in path:
                levels[tree.heights[above], node] = above
        return tuple(levels)

    @cached_property
    def weightless(self) -> Flags:
        """Return for every node whether its weight is 0."""
        return np.array([not weight for weight in self.tree.weights], np.bool_)

    def queues_below(self, node: int) -> Flags:
        """Return for every node whether it is a queue in the subtree of a node."""
        below: Flags = self.levels[self.tree.heights[node]] == node
        return below & (np.arange(len(below)) < len(self.tree.queue))

    def arrays(self, of: FlavorResource) -> QuotaArrays:
        """Return what workloads hold, and what nodes have, of a resource in one flavor."""
        if of not in self._arrays:
            amounts, columns = [one.get(of, 0) for one in self.amounts], self.tree.columns[of]
            counts = np.bincount(self.kind, minlength=len(amounts)).tolist()
            held = sum(abs(amount) * count for amount, count in zip(amounts, counts, strict=True))
            limits = [limit for limit in columns.limits if limit is not None]
            most = max(map(abs, (held, *columns.own, *columns.kept, *limits)))
            dtype = np.int64 if most <= SAFE >> 1 else object
            self._arrays[of] = QuotaArrays(*(np.array(each, dtype) for each in (amounts, columns.own, columns.kept)))
        return self._arrays[of]

    def holding(self, contested: tuple[FlavorResource, ...]) -> Flags:
        """Return for every kind whether its workloads hold any of these flavors and resources."""
        if contested not in self._holding:
            self._holding[contested] = np.array([any(map(one.get, contested)) for one in self.amounts], np.bool_)
        return self._holding[contested]

    def named(self, uids: Iterable[str], rows: Rows) -> Rows:
        """Return those of some rows whose workloads have one of these UIDs."""
        names = frozenset(uids)
        alike = rows[np.isin(self._uid_hashes[rows], np.array(list(map(hash, names)), np.int64))]
        return np.array([row for row in alike.tolist() if self.workloads[row].uid in names], np.intp)

    def changed(self, gone: Sequence[Workload], come: Sequence[Workload]) -> "QuotaIndex":
        """Return a copy without the workloads ``gone``, and with the workloads ``come``.

        Those added hold quota, but cannot be preempted.
        """
        later = copy(self)
        later.usage = self.usage.copy()
        for many, sign in ((gone, -1), (come, 1)):
            for one in many:
                later.usage.add(self.tree.queue[one.queue], one.usage, sign)
        left = self.preemptable(sorted({self.tree.queue[one.queue] for one in gone}))
        later._preemptable = preemptable = self._preemptable.copy()  # noqa: SLF001 - same class
        preemptable[self.named((one.uid for one in gone), left)] = False
        return later


def usage_of(cluster: QuotaCluster) -> QuotaUsage:
    """Return the usage of a cluster's quota.

    Raises engine.model.quota.QuotaError for cohorts that form a cycle.
    """
    return QuotaIndex.of(cluster).usage.copy()


def _in_order_of_preemption(cluster: QuotaCluster) -> list[Workload]:
    """Return the workloads that hold quota of a known queue, in the order of preemption.

    Those already being evicted come first, then lower priorities, then those that reserved quota most recently.

    Source: CandidatesOrdering of Kueue (pkg/scheduler/preemption/common, ordering.go).
    """
    held = [one for one in cluster.workloads if one.holds and one.queue in cluster.queues]
    held.sort(key=attrgetter("uid"))  # the order of workloads that are equal in all else
    since_ms = [cluster.now_ms if one.reserved_ms is None else one.reserved_ms for one in held]
    by = (
        -np.array(since_ms, np.int64),
        np.array([one.priority for one in held], np.int64),
        np.array([not one.evicted for one in held], np.bool_),
    )
    return [held[row] for row in np.lexsort(by).tolist()]
