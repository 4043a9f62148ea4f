"""What policy ``fence`` would do on every node, all nodes at once."""

from collections.abc import Callable

import numpy as np

from engine.feasibility import FITS
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.decision import NodeReason
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.fence.candidates import ROW_GUARDS, BoundPodKinds, GuaranteeClaim, excluding
from engine.policies.fence.node_costs import Costs
from engine.policies.fence.preemptable_amounts import Spared, spared
from engine.policies.fence.victim_selection import NodeCandidateOrder, VictimSelection

WHY = tuple(NodeReason)
"""Why nobody would go from a node, by number."""


class NodeCandidates:
    """All nodes as asks of one shape find them."""

    def __init__(self, attempt: PreemptionAttempt, claim: GuaranteeClaim) -> None:
        columns, ground = attempt.columns, attempt.ground
        self.columns, self.kept, self.excess = columns, attempt.usage.kept, attempt.excess()
        self.safeguards = attempt.restraints.key
        self.spared = spared(ground, attempt.usage, attempt.leaf, attempt.ask)
        self.reasons: Numbers = BoundPodKinds(ground, claim, self.spared).reasons
        """Kind -> the number of the reason why its pods are no candidates, -1 for candidates."""
        by_reason = np.bincount(self.reasons + 1, ground.counts, len(excluding()) + 1)
        self.excluded: Numbers = by_reason.astype(np.int64)  # of so few pods a float is exact
        """How many bound pods there are that nothing keeps from being candidates, then those of each reason."""
        candidates = self.candidates(attempt)
        gone = DepartingPods(columns, candidates, also=attempt.leaving)
        self.counts = gone.counts
        """Place -> how many candidates there are."""
        self.refusing: Rows = attempt.feasibility.refusing(gone, surely=attempt.leaving)
        """Place -> the number of the check that refuses the ask whichever candidates are gone."""
        useful = attempt.scope & (self.counts > 0) & ~self.blocked(attempt)
        rows = candidates if useful[self.counts > 0].all() else candidates[useful[columns.node[candidates]]]
        turns = NodeCandidateOrder(ground, attempt.leaf, np.flatnonzero(useful), rows, self.counts[useful])
        sets = VictimSelection(attempt, turns, self.spared)
        self.victims: Rows = turns.rows[sets.victims]
        """The rows of those who would go on each node, node by node."""
        self.costs = Costs(ground, attempt.leaf, self.victims)
        self.became, self.gave_up = sets.became, sets.gave_up
        self.why: Rows = self._why(attempt)
        """Place -> the number in ``WHY`` of the reason why nobody would go there, were it not reserved."""

    def _why(self, attempt: PreemptionAttempt) -> Rows:
        why = np.where(self.counts > 0, WHY.index(NodeReason.NOT_ENOUGH), WHY.index(NodeReason.NO_CANDIDATES))
        for number, check in enumerate(attempt.feasibility.checks):
            if check.reason is not NodeReason.INSUFFICIENT:
                why[self.refusing == number] = WHY.index(check.reason)
        why[attempt.columns.not_ready] = WHY.index(NodeReason.NOT_READY)
        return why

    def reason(self, place: int) -> NodeReason:
        """Why nobody would go from a node, were it not reserved."""
        return WHY[int(self.why[place])]

    def candidates(self, attempt: PreemptionAttempt) -> Rows:
        """The pods that may be evicted for the ask, node by node from the most expendable on."""
        order = attempt.ground.order
        rows = order.rows[(self.reasons < 0)[order.kind]]
        for guard in ROW_GUARDS.values():
            kept_out = guard(attempt)
            rows = rows[~attempt.columns.only(kept_out)[rows]] if len(kept_out) else rows
        return rows

    def blocked(self, attempt: PreemptionAttempt) -> Flags:
        """Place -> whether nobody is evicted there, whatever it would give."""
        blocked = np.zeros(len(attempt.columns.nodes), np.bool_)
        for guard in GUARDS.values():
            blocked |= guard(self, attempt)
        return blocked

    def holds_for(self, attempt: PreemptionAttempt) -> bool:
        """Whether another moment differs only in nodes that were reserved since, and pods there that began to leave."""
        before, columns, kept = self.columns, attempt.columns, attempt.usage.kept
        if (self.kept & ~kept).any() or attempt.excess() != self.excess:
            return False
        if attempt.restraints.key != self.safeguards:
            return False
        gone = columns.since(before)
        if gone is None or not kept[columns.node[gone]].all():
            return False
        now = spared(attempt.ground, attempt.usage, attempt.leaf, attempt.ask)
        return _alike(attempt, self.spared, now)


def _alike(attempt: PreemptionAttempt, before: Spared, now: Spared) -> bool:
    """Whether what queues may give differs only where no node could ever ask for so much."""
    for resource, spare in now.items():
        scarce = np.minimum(spare, before[resource]) < attempt.ground.densest[resource]
        if np.any(scarce & np.asarray(spare != before[resource], np.bool_)):
            return False
    return True


def node_candidates_of(attempt: PreemptionAttempt, claim: GuaranteeClaim) -> NodeCandidates:
    """Return the candidates for an ask; those of one of the same shape a little earlier where they still hold."""
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


def _refused(node_candidates: NodeCandidates, _question: PreemptionAttempt) -> Flags:
    """The ask can't run there whichever candidates are gone."""
    return np.asarray(node_candidates.refusing != FITS, np.bool_)


GUARDS: dict[str, Callable[[NodeCandidates, PreemptionAttempt], Flags]] = {
    "reserved": _reserved,
    "not-ready": _not_ready,
    "refused": _refused,
}
"""Place -> why nobody is evicted there, whatever it would give."""
