"""What policy ``fence`` would do on every node, all nodes at once."""

from collections.abc import Callable

import numpy as np

from engine.decision import NodeReason
from engine.feasibility import FITS
from engine.policies.fence.candidates import ROW_GUARDS, Claim, Field, excluding
from engine.policies.fence.costs import Costs
from engine.policies.fence.question import Question
from engine.policies.fence.sets import Sets, Turns
from engine.policies.fence.spare import Spared, spared
from engine.snapshot.columns import Flags, Numbers, Rows
from engine.snapshot.leaving import Leaving

WHY = tuple(NodeReason)
"""Why nobody would go from a node, by number."""


class Survey:
    """All nodes as asks of one shape find them."""

    def __init__(self, question: Question, claim: Claim) -> None:
        columns, ground = question.columns, question.ground
        self.columns, self.kept, self.excess = columns, question.usage.kept, question.excess()
        self.safeguards = question.restraints.key
        self.spared = spared(ground, question.usage, question.leaf, question.ask)
        self.reasons: Numbers = Field(ground, claim, self.spared).reasons
        """Kind -> the number of the reason why its pods are no candidates, -1 for candidates."""
        by_reason = np.bincount(self.reasons + 1, ground.counts, len(excluding()) + 1)
        self.excluded: Numbers = by_reason.astype(np.int64)  # of so few pods a float is exact
        """How many bound pods there are that nothing keeps from being candidates, then those of each reason."""
        candidates = self.candidates(question)
        gone = Leaving(columns, candidates, also=question.leaving)
        self.counts = gone.counts
        """Place -> how many candidates there are."""
        self.refusing: Rows = question.feasibility.refusing(gone, surely=question.leaving)
        """Place -> the number of the check that refuses the ask whichever candidates are gone."""
        useful = question.scope & (self.counts > 0) & ~self.blocked(question)
        rows = candidates if useful[self.counts > 0].all() else candidates[useful[columns.node[candidates]]]
        turns = Turns(ground, question.leaf, np.flatnonzero(useful), rows, self.counts[useful])
        sets = Sets(question, turns, self.spared)
        self.victims: Rows = turns.rows[sets.victims]
        """The rows of those who would go on each node, node by node."""
        self.costs = Costs(ground, question.leaf, self.victims)
        self.became, self.gave_up = sets.became, sets.gave_up
        self.why: Rows = self._why(question)
        """Place -> the number in ``WHY`` of the reason why nobody would go there, were it not reserved."""

    def _why(self, question: Question) -> Rows:
        why = np.where(self.counts > 0, WHY.index(NodeReason.NOT_ENOUGH), WHY.index(NodeReason.NO_CANDIDATES))
        for number, check in enumerate(question.feasibility.checks):
            if check.reason is not NodeReason.INSUFFICIENT:
                why[self.refusing == number] = WHY.index(check.reason)
        why[question.columns.not_ready] = WHY.index(NodeReason.NOT_READY)
        return why

    def reason(self, place: int) -> NodeReason:
        """Why nobody would go from a node, were it not reserved."""
        return WHY[int(self.why[place])]

    def candidates(self, question: Question) -> Rows:
        """The pods that may be evicted for the ask, node by node from the most expendable on."""
        order = question.ground.order
        rows = order.rows[(self.reasons < 0)[order.kind]]
        for guard in ROW_GUARDS.values():
            kept_out = guard(question)
            rows = rows[~question.columns.only(kept_out)[rows]] if len(kept_out) else rows
        return rows

    def blocked(self, question: Question) -> Flags:
        """Place -> whether nobody is evicted there, whatever it would give."""
        blocked = np.zeros(len(question.columns.nodes), np.bool_)
        for guard in GUARDS.values():
            blocked |= guard(self, question)
        return blocked

    def holds_for(self, question: Question) -> bool:
        """Whether another moment differs only in nodes that were reserved since, and pods there that began to leave."""
        before, columns, kept = self.columns, question.columns, question.usage.kept
        if (self.kept & ~kept).any() or question.excess() != self.excess:
            return False
        if question.restraints.key != self.safeguards:
            return False
        gone = columns.since(before)
        if gone is None or not kept[columns.node[gone]].all():
            return False
        now = spared(question.ground, question.usage, question.leaf, question.ask)
        return _alike(question, self.spared, now)


def _alike(question: Question, before: Spared, now: Spared) -> bool:
    """Whether what queues may give differs only where no node could ever ask for so much."""
    for resource, spare in now.items():
        scarce = np.minimum(spare, before[resource]) < question.ground.densest[resource]
        if np.any(scarce & np.asarray(spare != before[resource], np.bool_)):
            return False
    return True


def survey_of(question: Question, claim: Claim) -> Survey:
    """The survey for an ask; that of one of the same shape a little earlier where it still holds."""
    kept, of = question.shape.surveys, (claim.opted_out, question.restraints.restrains)
    found = kept.get(of)
    if found is None or not found.holds_for(question):
        found = kept[of] = Survey(question, claim)
    return found


def _reserved(_survey: Survey, question: Question) -> Flags:
    return question.usage.kept


def _not_ready(_survey: Survey, question: Question) -> Flags:
    return question.columns.not_ready


def _refused(survey: Survey, _question: Question) -> Flags:
    """The ask can't run there whichever candidates are gone."""
    return np.asarray(survey.refusing != FITS, np.bool_)


GUARDS: dict[str, Callable[[Survey, Question], Flags]] = {
    "reserved": _reserved,
    "not-ready": _not_ready,
    "refused": _refused,
}
"""Place -> why nobody is evicted there, whatever it would give."""
