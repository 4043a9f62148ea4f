"""A search for sets of victims on nodes where the greedy choice of policy ``fence`` fails."""

import numpy as np

from engine.model.columns import node_columns
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.victim_search import Rows, VictimSetSearch
from engine.policies.fence.preemptable_amounts import AmountsByQueue


class VictimSetRules:
    """The rules that a set of victims (rows) on one node must satisfy."""

    def __init__(
        self, attempt: PreemptionAttempt, preemptable_amounts: AmountsByQueue, place: int, rows: node_columns.Rows
    ) -> None:
        self.attempt, self.preemptable_amounts = attempt, preemptable_amounts
        self.spot = attempt.feasibility.on(place)
        pods, pod_index = attempt.columns, attempt.pod_index
        self.leaving = tuple(pods.pods[row].uid for row in pods.rows(place) if pods.terminating[row])
        self.limits = [
            (frozenset(np.intersect1d(rows, limit.covered).tolist()), limit.allowed)
            for limit in attempt.restraints.limits
        ]
        """The candidates that each disruption budget covers, and how many of them may be evicted."""
        self.excess = [(pod_index.below(path), name, more) for (path, name), more in attempt.excess().items()]

    def room(self, rows: Rows, surely: Rows | None = None) -> bool:
        """Return whether the pending pod fits on the node and under every max above it without these pods.

        With ``surely``, return whether it possibly fits, because only the pods in ``surely`` are sure to be evicted.
        """
        pods = [self.attempt.columns.pods[row] for row in rows]
        going = [*self.leaving, *(pod.uid for pod in pods)]
        sure = None if surely is None else [*self.leaving, *(self.attempt.columns.pods[row].uid for row in surely)]
        if self.spot.refusal(going, surely=sure) is not None:
            return False
        queue_of = self.attempt.pod_index.queue_of
        return all(
            sum(pod.requests.get(name, 0) for pod in pods if below[queue_of(pod.queue)]) >= more
            for below, name, more in self.excess
        )

    def may_go(self, rows: Rows) -> bool:
        """Return whether these pods may be evicted together, by invariant 2 and the disruption budgets."""
        budgets = all(len(covered.intersection(rows)) <= allowed for covered, allowed in self.limits)
        return budgets and self._keeps_guarantees(rows)

    def _keeps_guarantees(self, rows: Rows) -> bool:
        pod_index = self.attempt.pod_index
        gone: dict[tuple[str, int], int] = {}
        for row in rows:
            pod = self.attempt.columns.pods[row]
            for path in pod_index.tree.lineage(pod.queue or pod_index.tree.root):
                for name in self.preemptable_amounts:
                    at = (name, pod_index.number[path])
                    gone[at] = gone.get(at, 0) + pod.requests.get(name, 0)
        return all(
            amount <= 0 or amount <= self.preemptable_amounts[name][number] for (name, number), amount in gone.items()
        )

    def alike(self, one: int, other: int) -> bool:
        """Return whether two pods are equivalent as victims, in freed capacity, guarantees and budgets."""
        first, second = (self.attempt.columns.pods[row] for row in (one, other))
        weights = self.spot.weights
        same = (first.queue, first.requests) == (second.queue, second.requests)
        same = same and all((one in covered) == (other in covered) for covered, _ in self.limits)
        return same and weights(first.uid) == weights(second.uid)


def search(
    attempt: PreemptionAttempt, preemptable_amounts: AmountsByQueue, place: int, rows: node_columns.Rows
) -> VictimSetSearch:
    """Return a search for victims on a node (by place). ``rows``: its candidates, the most expendable first."""
    rules = VictimSetRules(attempt, preemptable_amounts, place, rows)
    return VictimSetSearch(rows.tolist(), room=rules.room, may_go=rules.may_go, alike=rules.alike)
