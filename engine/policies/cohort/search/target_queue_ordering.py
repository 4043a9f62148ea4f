"""Selects the next queue to preempt from under fair sharing: from the root down, the node with the highest share.

Source: Kueue's pkg/scheduler/preemption/fairsharing, ordering.go and target.go.
"""

import heapq
from collections.abc import Mapping
from typing import Any

from engine.model.columns.node_columns import Rows
from engine.model.quota import NO_RANK, QuotaTree, Rank
from engine.policies.cohort.search.quota_attempt import QuotaAttempt


class TargetQueue:
    """A queue to preempt from, with its remaining candidates."""

    def __init__(self, attempt: QuotaAttempt, node: int, candidates: Rows) -> None:
        self.node, self._attempt = node, attempt
        self._candidates, self._next, self._count = candidates, 0, len(candidates)
        self.first: int | None = candidates.item(0) if self._count else None
        """The row of the next candidate, or None if there are none left."""

    def pop(self) -> int | None:
        """Remove the next candidate and return its row."""
        first = self.first
        self._next += 1
        self.first = self._candidates.item(self._next) if self._next < self._count else None
        return first

    def kind(self, row: int) -> int:
        """Return the kind of a candidate."""
        return self._attempt.quota_index.kind.item(row)

    def ranks(self) -> tuple[Rank, Rank]:
        """Return the shares of the preemptor's side and of this queue's side.

        They are the shares of the nodes right below the lowest common cohort.

        Source: TargetClusterQueue.ComputeShares of Kueue.
        """
        ours, theirs = self._sides()
        return self._rank(ours), self._rank(theirs)

    def rank_without(self, kind: int) -> Rank:
        """Return the share of this queue's side once a candidate of a kind is preempted.

        Source: TargetClusterQueue.ComputeTargetShareAfterRemoval of Kueue.
        """
        self._attempt.take(kind)
        found = self._rank(self._sides()[1])
        self._attempt.put_back(kind)
        return found

    def _rank(self, node: int) -> Rank:
        return self._attempt.quota_index.ranks.of(self._attempt.usage, node) or NO_RANK

    def _sides(self) -> tuple[int, int]:
        tree, below = self._attempt.tree, self._attempt.below
        theirs = next(node for node in tree.paths[self.node] if tree.parents[node] in below)
        return below[tree.parents[theirs]], theirs


_SortKey = tuple[bool, int, int, int]
"""A node's sort key in its cohort, ending with the node; the lowest key comes first.

Nodes are sorted by share, the highest first, and then by a number that puts cohorts before queues. Among cohorts with
equal shares, Kueue takes any; here, the first by name is taken. Among queues it is the one whose first candidate comes
first: one that is being evicted already, then one of another queue than the preemptor's.
"""
_QUEUE, _STAYING, _OWN = 1 << 62, 1 << 61, 1 << 60


def tie_of_queue(first: Any, staying: Any, own: Any) -> Any:
    """Return the number by which a queue is sorted among nodes with equal shares; all arguments may be arrays.

    ``first``: the row of its first candidate. ``staying``: whether that is not being evicted already. ``own``: whether
    the queue is the preemptor's.
    """
    return _QUEUE + first + staying * _STAYING + own * _OWN


def cohorts_by_name(tree: QuotaTree) -> dict[int, int]:
    """Return for each cohort its position by name, by which cohorts with equal shares are sorted."""
    return {tree.cohort[name]: place for place, name in enumerate(sorted(tree.cohort))}


class TargetQueueOrdering:
    """The candidates by queue; queues that have none left, or that no longer borrow, drop out.

    Preempting a workload changes only the shares of its queue and of the cohorts around it, which are the first nodes
    of their cohorts' heaps. So only the nodes that were returned are sorted anew before the next one.
    """

    def __init__(self, attempt: QuotaAttempt, candidates: Mapping[int, Rows]) -> None:
        self._attempt, self._tree = attempt, attempt.tree
        self._usage, self._ranks, self._leaving = attempt.usage, attempt.quota_index.ranks, attempt.quota_index.leaving
        self._by_name = cohorts_by_name(attempt.tree)
        queues = (TargetQueue(attempt, node, rows) for node, rows in candidates.items())
        self._queues = {queue.node: queue for queue in queues if queue.first is not None}
        self._heaps = self._build_heaps()
        self._outdated: set[int] = set()
        """The nodes on the path of the last queue that was returned, from the queue up."""

    def drop(self, queue: TargetQueue) -> None:
        """Stop preempting from a queue."""
        del self._queues[queue.node]

    def next(self) -> TargetQueue | None:
        """Return the queue reached by the highest share at every level, or None if no candidates are left.

        Source: TargetClusterQueueOrdering.nextTarget of Kueue.
        """
        return self._highest(self._attempt.path[-1])

    def _build_heaps(self) -> dict[int, list[_SortKey]]:
        """Build the heap of every cohort, with those of its nodes that lead to candidates."""
        heaps: dict[int, list[_SortKey]] = {}
        parents = self._tree.parents
        for node in {at for queue in self._queues for at in self._tree.paths[queue]}:
            parent, key = parents[node], self._sort_key(node)
            if parent is not None and key is not None:
                heaps.setdefault(parent, []).append(key)
        for heap in heaps.values():
            heapq.heapify(heap)
        return heaps

    def _highest(self, node: int) -> TargetQueue | None:
        """Return the queue to preempt from in the subtree of a node, or None."""
        if node not in self._by_name:
            queue = self._queues.get(node)
            return queue if queue is not None and queue.first is not None else None
        heap, outdated = self._heaps.get(node, []), self._outdated
        while heap:
            child = heap[0][-1]
            if child in outdated:
                outdated.discard(child)
                self._move(heap, self._sort_key(child))
            elif (found := self._highest(child)) is not None:
                outdated.add(child)
                return found
            else:
                heapq.heappop(heap)
        return None

    @staticmethod
    def _move(heap: list[_SortKey], key: _SortKey | None) -> None:
        """Move the first entry of a heap to its new position, or remove it if ``key`` is None."""
        if key is None:
            heapq.heappop(heap)
        else:
            heapq.heapreplace(heap, key)

    def _sort_key(self, node: int) -> _SortKey | None:
        """Return the current sort key of a node, or None if it drops out."""
        rank = self._ranks.of(self._usage, node)
        if rank is None:
            if node not in self._attempt.path:
                return None
            rank = NO_RANK
        infinite, share = rank
        if (place := self._by_name.get(node)) is not None:
            return not infinite, -share, place, node
        queue = self._queues.get(node)
        if queue is None or (first := queue.first) is None:
            return None
        tie: int = tie_of_queue(first, first >= self._leaving, node == self._attempt.node)
        return not infinite, -share, tie, node
