"""Under fair sharing the queue to take from next: from the root down, always the highest share.

Source: Kueue's pkg/scheduler/preemption/fairsharing, ordering.go and target.go.
"""

from collections.abc import Iterable
from typing import NamedTuple

from engine.model.quota import BorrowedShare, Workload, share_of
from tests.engine.plain_cohort.candidates import rank
from tests.engine.plain_cohort.ground import Question


class Pick(NamedTuple):
    """The queue to take from, with its candidates, the first at the front."""

    question: Question
    node: int
    workloads: list[Workload]

    def pop(self) -> Workload:
        """The candidate at the front, which is none any more."""
        return self.workloads.pop(0)

    def shares(self) -> tuple[BorrowedShare, BorrowedShare]:
        """Of the ask's side and of this one: of what is right below the cohort that they share."""
        usage = self.question.usage
        return share_of(usage, self._side(self.question.node)), share_of(usage, self._side(self.node))

    def share_without(self, one: Workload) -> BorrowedShare:
        """Of this side once a candidate is gone."""
        self.question.ground.take(one)
        found = share_of(self.question.usage, self._side(self.node))
        self.question.ground.put_back(one)
        return found

    def _side(self, node: int) -> int:
        tree = self.question.tree
        other = self.node if node == self.question.node else self.question.node
        around = set(tree.above(other))
        for above in tree.above(node):
            if above in around:
                break
            node = above
        return node


class Ladder:
    """Candidates by queue; those that have none left, or borrow nothing any more, fall out."""

    def __init__(self, question: Question, candidates: Iterable[Workload]) -> None:
        self._question, self._tree = question, question.tree
        self._left: dict[int, list[Workload]] = {}
        for one in candidates:
            self._left.setdefault(self._tree.queue[one.queue], []).append(one)
        self._out: set[int] = set()
        self._path = {question.node, *question.cohorts}

    def drop(self, queue: int) -> None:
        """Take from it no more."""
        self._out.add(queue)

    def pick(self) -> Pick | None:
        """The queue with the highest share at every step down; None: nobody is left."""
        cohorts = self._question.cohorts
        if not cohorts:
            left = self._left.get(self._question.node)
            return Pick(self._question, self._question.node, left) if left else None
        while cohorts[-1] not in self._out:
            node: int | None = cohorts[-1]
            while node is not None and not self._tree.is_queue(node):
                node = self._highest(node)
            if node is not None:
                return Pick(self._question, node, self._left[node])
        return None

    def _highest(self, cohort: int) -> int | None:
        """What to go down to: by share, cohorts before queues, of queues the one whose front goes first.

        Of cohorts with one share Kueue takes any; here it is the first by name. Where nothing is left, the cohort
        falls out.
        """
        shares = {node: share_of(self._question.usage, node) for node in self._tree.children[cohort]}
        left = [node for node in shares if node not in self._out and self._stays(node, shares[node])]
        self._out |= shares.keys() - set(left)
        if not left:
            self._out.add(cohort)
            return None
        queues = [node for node in left if self._tree.is_queue(node)]
        queues.sort(key=lambda node: rank(self._question, self._left[node][0]))
        cohorts = sorted((node for node in left if not self._tree.is_queue(node)), key=self._tree.names.__getitem__)
        return max([*cohorts, *queues], key=lambda node: shares[node].rank)

    def _stays(self, node: int, share: BorrowedShare) -> bool:
        if self._tree.is_queue(node) and not self._left.get(node):
            return False
        return share.borrows or node in self._path
