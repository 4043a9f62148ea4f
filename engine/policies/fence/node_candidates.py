"""The victims that policy ``fence`` would choose on every node, computed for all nodes at once."""

from collections.abc import Callable

import numpy as np

from engine.feasibility import FITS
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.decision import NodeReason
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.fence.candidates import ROW_GUARDS, BoundPodKinds, GuaranteeClaim, exclusion_guards
from engine.policies.fence.node_costs import Costs
from engine.policies.fence.preemptable_amounts import AmountsByQueue, find_preemptable_amounts
from engine.policies.fence.victim_selection import NodeCandidateOrder, VictimSelection

WHY = tuple(NodeReason)
"""The reasons why a node has no victims, by number."""


class NodeCandidates:
    """The candidates, victims and costs on every node for pending pods of one shape."""

    def __init__(self, attempt: PreemptionAttempt, claim: GuaranteeClaim) -> None:
        columns, pod_index = attempt.columns, attempt.pod_index
        self.columns, self.kept, self.excess = columns, attempt.usage.kept, attempt.excess()
        self.safeguards = attempt.restraints.key
        self.preemptable_amounts = find_preemptable_amounts(pod_index, attempt.usage, attempt.leaf, attempt.ask)
        self.reasons: Numbers = BoundPodKinds(pod_index, claim, self.preemptable_amounts).reasons
        """Kind -> the index in ``exclusion_guards`` of the reason why its pods are no candidates, -1 for candidates."""
        by_reason = np.bincount(self.reasons + 1, pod_index.counts, len(exclusion_guards()) + 1)
        self.excluded: Numbers = by_reason.astype(np.int64)  # floats are exact for these counts
        """The number of bound pods that no guard by kind excludes, followed by the number excluded for each reason."""
        candidates = self.candidates(attempt)
        gone = DepartingPods(columns, candidates, also=attempt.leaving)
        self.counts = gone.counts
        """Place of a node -> its number of candidates."""
        self.refusing: Rows = attempt.feasibility.refusing(gone, surely=attempt.leaving)
        """Place -> the number of the check that refuses the pending pod whichever candidates are evicted, or FITS."""
        useful = attempt.scope & (self.counts > 0) & ~self.blocked(attempt)
        rows = candidates if useful[self.counts > 0].all() else candidates[useful[columns.node[candidates]]]
        turns = NodeCandidateOrder(pod_index, attempt.leaf, np.flatnonzero(useful), rows, self.counts[useful])
        sets = VictimSelection(attempt, turns, self.preemptable_amounts)
        self.victims: Rows = turns.rows[sets.victims]
        """The rows of the victims on each node, node by node."""
        self.costs = Costs(pod_index, attempt.leaf, self.victims)
        self.became, self.gave_up = sets.became, sets.gave_up
        self.why: Rows = self._why(attempt)
        """Place -> the index in ``WHY`` of the reason why the node has no victims, apart from reservations."""

    def _why(self, attempt: PreemptionAttempt) -> Rows:
        why = np.where(self.counts > 0, WHY.index(NodeReason.NOT_ENOUGH), WHY.index(NodeReason.NO_CANDIDATES))
        for number, check in enumerate(attempt.feasibility.checks):
            if check.reason is not NodeReason.INSUFFICIENT:
                why[self.refusing == number] = WHY.index(check.reason)
        why[attempt.columns.not_ready] = WHY.index(NodeReason.NOT_READY)
        return why

    def reason(self, place: int) -> NodeReason:
        """Return why a node (by place) has no victims, apart from reservations."""
        return WHY[int(self.why[place])]

    def candidates(self, attempt: PreemptionAttempt) -> Rows:
        """Return the rows of the pods that may be evicted for the pending pod, node by node, most expendable first."""
        order = attempt.pod_index.order
        rows = order.rows[(self.reasons < 0)[order.kind]]
        for guard in ROW_GUARDS.values():
            kept_out = guard(attempt)
            rows = rows[~attempt.columns.only(kept_out)[rows]] if len(kept_out) else rows
        return rows

    def blocked(self, attempt: PreemptionAttempt) -> Flags:
        """Return for each node (by place) whether a guard forbids evictions there."""
        blocked = np.zeros(len(attempt.columns.nodes), np.bool_)
        for guard in GUARDS.values():
            blocked |= guard(self, attempt)
        return blocked

    def holds_for(self, attempt: PreemptionAttempt) -> bool:
        """Return whether these results are still valid for an attempt at a later moment.

        They are if the moments differ only in newly reserved nodes and pods there that are terminating since.
        """
        before, columns, kept = self.columns, attempt.columns, attempt.usage.kept
        if (self.kept & ~kept).any() or attempt.excess() != self.excess:
            return False
        if attempt.restraints.key != self.safeguards:
            return False
        gone = columns.since(before)
        if gone is None or not kept[columns.node[gone]].all():
            return False
        now = find_preemptable_amounts(attempt.pod_index, attempt.usage, attempt.leaf, attempt.ask)
        return _amounts_equivalent(attempt, self.preemptable_amounts, now)


def _amounts_equivalent(attempt: PreemptionAttempt, before: AmountsByQueue, now: AmountsByQueue) -> bool:
    """Return whether the preemptable amounts differ only where they exceed what any node could take from a queue."""
    for resource, spare in now.items():
        scarce = np.minimum(spare, before[resource]) < attempt.pod_index.densest[resource]
        if np.any(scarce & np.asarray(spare != before[resource], np.bool_)):
            return False
    return True


def node_candidates_of(attempt: PreemptionAttempt, claim: GuaranteeClaim) -> NodeCandidates:
    """Return the node candidates for a pending pod, from the cache of its shape if they are still valid."""
    kept = attempt.shape.kept
    of = (NodeCandidates, claim.opted_out, attempt.restraints.restrains)
    found: NodeCandidates | None = kept.get(of)
    if found is None or not found.holds_for(attempt):
        found = kept[of] = NodeCandidates(attempt, claim)
    return found


def _reserved(_node_candidates: NodeCandidates, attempt: PreemptionAttempt) -> Flags:
    return attempt.usage.kept


def _not_ready(_node_candidates: NodeCandidates, attempt: PreemptionAttempt) -> Flags:
    return attempt.columns.not_ready


def _refused(node_candidates: NodeCandidates, _attempt: PreemptionAttempt) -> Flags:
    """Return for each node (by place) whether the pending pod can't run there whichever candidates are evicted."""
    return np.asarray(node_candidates.refusing != FITS, np.bool_)


GUARDS: dict[str, Callable[[NodeCandidates, PreemptionAttempt], Flags]] = {
    "reserved": _reserved,
    "not-ready": _not_ready,
    "refused": _refused,
}
"""Name of a guard -> function that returns for each node (by place) whether evictions there are forbidden."""
