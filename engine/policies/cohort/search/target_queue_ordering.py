"""Under fair sharing the queue to take from next: from the root down, always the highest share.

Source: Kueue's pkg/scheduler/preemption/fairsharing, ordering.go and target.go.
"""

import heapq
from collections.abc import Iterable, Mapping

from engine.model.quota import NO_RANK, Rank, Workload
from engine.policies.cohort.search.quota_attempt import QuotaAttempt
from engine.policies.cohort.search.quota_index import Ranked


class Pick:
    """A queue to take from, with its candidates."""

    def __init__(self, question: QuotaAttempt, node: int, candidates: Iterable[Ranked]) -> None:
        self.node, self._question = node, question
        self._candidates = iter(candidates)
        self.first = next(self._candidates, None)
        """The candidate that goes first; None: there is none left."""

    def pop(self) -> Ranked | None:
        """The candidate that goes first, which is none any more."""
        first, self.first = self.first, next(self._candidates, None)
        return first

    def ranks(self) -> tuple[Rank, Rank]:
        """Shares of the ask's side and of this one: of what is right below the cohort that they share."""
        ours, theirs = self._sides()
        return self._rank(ours), self._rank(theirs)

    def rank_without(self, one: Workload) -> Rank:
        """This side's share once a candidate is gone."""
        self._question.take(one)
        found = self._rank(self._sides()[1])
        self._question.put_back(one)
        return found

    def _rank(self, node: int) -> Rank:
        return self._question.ground.ranks.of(self._question.usage, node) or NO_RANK

    def _sides(self) -> tuple[int, int]:
        tree, below = self._question.tree, self._question.below
        theirs = next(node for node in tree.paths[self.node] if tree.parents[node] in below)
        return below[tree.parents[theirs]], theirs


_Rung = tuple[bool, int, bool, tuple[str] | tuple[bool, bool, int], int]
"""A node's place among those of its cohort, the lowest first: by share, cohorts before queues. It ends with the node.

Of cohorts with one share Kueue takes any; here it is the first by name. Of queues it is the one whose first candidate
goes first.
"""


class Ladder:
    """Candidates by queue; queues that have none left, or borrow nothing any more, fall out.

    Taking a workload changes the share of its queue, and of the cohorts around it, and of nothing else. These are the
    firsts of their cohorts: what was picked is looked at anew before the next pick, and all else stands where it stood.
    """

    def __init__(self, question: QuotaAttempt, candidates: Mapping[int, Iterable[Ranked]]) -> None:
        self._question, self._tree = question, question.tree
        picks = (Pick(question, node, those) for node, those in candidates.items())
        self._picks = {pick.node: pick for pick in picks if pick.first is not None}
        self._heaps = self._hung()
        self._moved: set[int] = set()
        """What was picked last, from the queue up."""

    def drop(self, pick: Pick) -> None:
        """Take from it no more."""
        del self._picks[pick.node]

    def pick(self) -> Pick | None:
        """The queue with the highest share at every step down; None: nobody is left."""
        return self._highest(self._question.path[-1])

    def _hung(self) -> dict[int, list[_Rung]]:
        """Of every cohort the nodes in it that lead to candidates."""
        heaps: dict[int, list[_Rung]] = {}
        parents = self._tree.parents
        for node in {at for queue in self._picks for at in self._tree.paths[queue]}:
            parent, rung = parents[node], self._rung(node)
            if parent is not None and rung is not None:
                heaps.setdefault(parent, []).append(rung)
        for heap in heaps.values():
            heapq.heapify(heap)
        return heaps

    def _highest(self, node: int) -> Pick | None:
        """Where to get from a node."""
        if self._tree.is_queue(node):
            return self._left(node)
        heap = self._heaps.get(node, [])
        while heap:
            child = heap[0][-1]
            if child in self._moved:
                self._moved.discard(child)
                self._move(heap, self._rung(child))
            elif (found := self._highest(child)) is not None:
                self._moved.add(child)
                return found
            else:
                heapq.heappop(heap)
        return None

    @staticmethod
    def _move(heap: list[_Rung], rung: _Rung | None) -> None:
        """Put the first where it belongs now; None: nowhere."""
        if rung is None:
            heapq.heappop(heap)
        else:
            heapq.heapreplace(heap, rung)

    def _rung(self, node: int) -> _Rung | None:
        """Where it stands now; None: it falls out."""
        question = self._question
        rank = question.ground.ranks.of(question.usage, node)
        if rank is None:
            if node not in question.path:
                return None
            rank = NO_RANK
        infinite, share = rank
        if not self._tree.is_queue(node):
            return not infinite, -share, False, (self._tree.names[node],), node
        pick = self._left(node)
        if pick is None or pick.first is None:
            return None
        place, one = pick.first
        return not infinite, -share, True, (not one.evicted, node == question.node, place), node

    def _left(self, queue: int) -> Pick | None:
        """A queue with its candidates, if there are any left."""
        pick = self._picks.get(queue)
        return pick if pick is not None and pick.first is not None else None
