"""Selects the next queue to preempt from under fair sharing: from the root down, the node with the highest share.

Source: Kueue's pkg/scheduler/preemption/fairsharing, ordering.go and target.go.
"""

import heapq
from collections.abc import Iterable, Mapping

from engine.model.quota import NO_RANK, Rank, Workload
from engine.policies.cohort.search.quota_attempt import QuotaAttempt
from engine.policies.cohort.search.quota_index import RankedWorkload


class TargetQueue:
    """A queue to preempt from, with its remaining candidates."""

    def __init__(self, attempt: QuotaAttempt, node: int, candidates: Iterable[RankedWorkload]) -> None:
        self.node, self._attempt = node, attempt
        self._candidates = iter(candidates)
        self.first = next(self._candidates, None)
        """The next candidate, or None if there are none left."""

    def pop(self) -> RankedWorkload | None:
        """Remove the next candidate and return it."""
        first, self.first = self.first, next(self._candidates, None)
        return first

    def ranks(self) -> tuple[Rank, Rank]:
        """Return the shares of the preemptor's side and of this queue's side.

        They are the shares of the nodes right below the lowest common cohort.

        Source: TargetClusterQueue.ComputeShares of Kueue.
        """
        ours, theirs = self._sides()
        return self._rank(ours), self._rank(theirs)

    def rank_without(self, one: Workload) -> Rank:
        """Return the share of this queue's side once a candidate is preempted.

        Source: TargetClusterQueue.ComputeTargetShareAfterRemoval of Kueue.
        """
        self._attempt.take(one)
        found = self._rank(self._sides()[1])
        self._attempt.put_back(one)
        return found

    def _rank(self, node: int) -> Rank:
        return self._attempt.quota_index.ranks.of(self._attempt.usage, node) or NO_RANK

    def _sides(self) -> tuple[int, int]:
        tree, below = self._attempt.tree, self._attempt.below
        theirs = next(node for node in tree.paths[self.node] if tree.parents[node] in below)
        return below[tree.parents[theirs]], theirs


_SortKey = tuple[bool, int, bool, tuple[str] | tuple[bool, bool, int], int]
"""A node's sort key in its cohort, ending with the node; the lowest key comes first.

Nodes are sorted by share, the highest first, with cohorts before queues. Among cohorts with equal shares, Kueue takes
any; here, the first by name is taken. Among queues it is the one whose first candidate comes first.
"""


class TargetQueueOrdering:
    """The candidates by queue; queues that have none left, or that no longer borrow, drop out.

    Preempting a workload changes only the shares of its queue and of the cohorts around it, which are the first nodes
    of their cohorts' heaps. So only the nodes that were returned are sorted anew before the next one.
    """

    def __init__(self, attempt: QuotaAttempt, candidates: Mapping[int, Iterable[RankedWorkload]]) -> None:
        self._attempt, self._tree = attempt, attempt.tree
        queues = (TargetQueue(attempt, node, workloads) for node, workloads in candidates.items())
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
        if self._tree.is_queue(node):
            return self._left(node)
        heap = self._heaps.get(node, [])
        while heap:
            child = heap[0][-1]
            if child in self._outdated:
                self._outdated.discard(child)
                self._move(heap, self._sort_key(child))
            elif (found := self._highest(child)) is not None:
                self._outdated.add(child)
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
        attempt = self._attempt
        rank = attempt.quota_index.ranks.of(attempt.usage, node)
        if rank is None:
            if node not in attempt.path:
                return None
            rank = NO_RANK
        infinite, share = rank
        if not self._tree.is_queue(node):
            return not infinite, -share, False, (self._tree.names[node],), node
        queue = self._left(node)
        if queue is None or queue.first is None:
            return None
        place, workload = queue.first
        return not infinite, -share, True, (not workload.evicted, node == attempt.node, place), node

    def _left(self, node: int) -> TargetQueue | None:
        """Return a queue with its candidates, or None if it has none left."""
        queue = self._queues.get(node)
        return queue if queue is not None and queue.first is not None else None
