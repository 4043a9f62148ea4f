"""Other sets of victims on a node, where the usual order of victims finds none that is allowed."""

from collections.abc import Sequence

from engine.model.objects import Pod
from engine.policies.common.victim_search import Rows, VictimSetRules, VictimSetSearch, rows_below
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.shares.balances import ShareBalances


class ReservedAmountRules(VictimSetRules):
    """The rules that a set of victims on one node must satisfy: reserved amounts and disruption budgets."""

    def __init__(self, attempt: ReclaimAttempt, candidates: Candidates, place: int, pods: Sequence[Pod]) -> None:
        by_row = dict(enumerate(pods))
        super().__init__(
            attempt.nodes.feasibility.on(place),
            by_row,
            leaving=(pod.uid for pod in attempt.nodes.columns.on(place) if pod.terminating),
            excess=(
                (rows_below(attempt.tree, path, by_row), name, more) for (path, name), more in attempt.excess.items()
            ),
        )
        self.attempt, self.budgets = attempt, candidates.budgets

    def may_go(self, rows: Rows) -> bool:
        """Return whether preempting all of these rows respects both reserved amounts and disruption budgets."""
        balances = ShareBalances(self.attempt)
        for row in rows:
            if balances.below_reserved(self.pods[row]):
                return False
            balances.give(self.pods[row])
        return self.budgets.allow([self.pods[row] for row in rows])

    def counted_alike(self, one: int, other: int) -> bool:
        """Return whether two pods count in the same reserved amounts and budgets."""
        first, second, kind = self.pods[one], self.pods[other], self.budgets.kind
        return (first.queue, kind(first)) == (second.queue, kind(second))


def search(attempt: ReclaimAttempt, candidates: Candidates, place: int, pods: Sequence[Pod]) -> VictimSetSearch:
    """Return the search for victims on a node, given the candidates in the order of preemption."""
    return VictimSetSearch(range(len(pods)), ReservedAmountRules(attempt, candidates, place, pods))
