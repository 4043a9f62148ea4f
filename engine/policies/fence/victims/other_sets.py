"""The rules of policy ``fence`` for sets of victims on nodes where its greedy choice fails."""

import numpy as np

from engine.model.columns import node_columns
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.queue_usage import UsageChange
from engine.policies.common.victim_search import Rows, VictimSetRules, VictimSetSearch, rows_below
from engine.policies.fence.victims.preemptable_amounts import AmountsByQueue


class GuaranteeRules(VictimSetRules):
    """The rules that a set of victims (rows) on one node must satisfy: invariant 2 and the disruption budgets."""

    def __init__(
        self, attempt: PreemptionAttempt, preemptable_amounts: AmountsByQueue, place: int, rows: node_columns.Rows
    ) -> None:
        columns = attempt.columns
        pods = {row: columns.pods[row] for row in rows.tolist()}
        super().__init__(
            attempt.feasibility.on(place),
            pods,
            leaving=(columns.pods[row].uid for row in columns.rows(place) if columns.terminating[row]),
            excess=(
                (rows_below(attempt.tree, path, pods), name, more) for (path, name), more in attempt.excess().items()
            ),
        )
        self.pod_index, self.preemptable_amounts = attempt.pod_index, preemptable_amounts
        self.limits = [
            (frozenset(np.intersect1d(rows, limit.covered).tolist()), limit.allowed)
            for limit in attempt.restraints.limits
        ]
        """The candidates that each disruption budget covers, and how many of them may be evicted."""

    def may_go(self, rows: Rows) -> bool:
        """Return whether these pods may be evicted together, by invariant 2 and the disruption budgets."""
        budgets = all(len(covered.intersection(rows)) <= allowed for covered, allowed in self.limits)
        return budgets and self._keeps_guarantees(rows)

    def _keeps_guarantees(self, rows: Rows) -> bool:
        tree, number, gone = self.pod_index.tree, self.pod_index.number, UsageChange(self.pod_index.tree)
        for row in rows:
            gone.add(self.pods[row].queue or tree.root, self.pods[row].requests)
        return all(
            amount <= 0 or amount <= self.preemptable_amounts[name][number[path]]
            for path, amounts in gone.by_queue.items()
            for name, amount in amounts.items()
            if name in self.preemptable_amounts
        )

    def counted_alike(self, one: int, other: int) -> bool:
        """Return whether two pods count in the same guarantees and budgets."""
        same_queue = self.pods[one].queue == self.pods[other].queue
        return same_queue and all((one in covered) == (other in covered) for covered, _ in self.limits)


def search(
    attempt: PreemptionAttempt, preemptable_amounts: AmountsByQueue, place: int, rows: node_columns.Rows
) -> VictimSetSearch:
    """Return a search for victims on a node (by place). ``rows``: its candidates, the most expendable first."""
    return VictimSetSearch(rows.tolist(), GuaranteeRules(attempt, preemptable_amounts, place, rows))
