"""Other sets of victims on a node, where the usual order of victims finds none that is allowed."""

from collections.abc import Sequence

from engine.model.objects import Pod
from engine.policies.common.victim_search import Rows, VictimSetSearch
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.shares.balances import ShareBalances


class _VictimConstraints:
    """The conditions that a set of victims on one node has to meet."""

    def __init__(self, attempt: ReclaimAttempt, candidates: Candidates, place: int, pods: Sequence[Pod]) -> None:
        self.attempt, self.candidates, self.pods = attempt, candidates, pods
        self.spot = attempt.nodes.feasibility.on(place)
        self.leaving = tuple(pod.uid for pod in attempt.nodes.columns.on(place) if pod.terminating)

    def room(self, rows: Rows, surely: Rows | None) -> bool:
        """Return whether the pending pod fits on the node and under the hard limits of all ancestors of its queue.

        With ``surely``, return whether it may fit, because only those rows are certain to be preempted.
        """
        tree, gone = self.attempt.tree, [self.pods[row] for row in rows]
        sure = None if surely is None else [*self.leaving, *(self.pods[row].uid for row in surely)]
        if self.spot.refusal([*self.leaving, *(pod.uid for pod in gone)], surely=sure) is not None:
            return False
        return all(
            sum(pod.requests.get(name, 0) for pod in gone if tree.contains(path, pod.queue or "")) >= more
            for (path, name), more in self.attempt.excess.items()
        )

    def may_go(self, rows: Rows) -> bool:
        """Return whether preempting all of these rows respects both reserved amounts and disruption budgets."""
        balances = ShareBalances(self.attempt)
        for row in rows:
            if balances.below_reserved(self.pods[row]):
                return False
            balances.give(self.pods[row])
        return self.candidates.budgets.allow([self.pods[row] for row in rows])

    def alike(self, one: int, other: int) -> bool:
        """Return whether two pods are interchangeable as to room, reserved amounts, and disruption budgets."""
        first, second, kind = self.pods[one], self.pods[other], self.candidates.budgets.kind
        same = (first.queue, first.requests, kind(first)) == (second.queue, second.requests, kind(second))
        return same and self.spot.weights(first.uid) == self.spot.weights(second.uid)


def search(attempt: ReclaimAttempt, candidates: Candidates, place: int, pods: Sequence[Pod]) -> VictimSetSearch:
    """Return the search for victims on a node, given the candidates in the order of preemption."""
    rules = _VictimConstraints(attempt, candidates, place, pods)
    return VictimSetSearch(range(len(pods)), room=rules.room, may_go=rules.may_go, alike=rules.alike)
