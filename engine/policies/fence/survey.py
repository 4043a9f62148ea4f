"""What policy ``fence`` would do on every node, all nodes at once."""

from collections.abc import Callable

import numpy as np

from engine.decision import NodeReason
from engine.feasibility import FITS
from engine.policies.fence.candidates import ROW_GUARDS, Claim, Field
from engine.policies.fence.costs import Costs
from engine.policies.fence.question import Question
from engine.policies.fence.sets import Sets, Turns
from engine.policies.fence.spare import Spared, spared
from engine.snapshot.columns import Flags, Leaving, Numbers, Rows


class Survey:
    """All nodes as asks of one shape find them."""

    def __init__(self, question: Question, claim: Claim) -> None:
        columns, ground = question.columns, question.ground
        self.columns, self.kept, self.excess = columns, question.usage.kept, question.excess()
        self.spared = spared(ground, question.usage, question.leaf, question.ask)
        self.reasons: Numbers = Field(ground, claim, self.spared).reasons
        """Kind -> the number of the reason why its pods are no candidates, -1 for candidates."""
        candidates = self.candidates(question)
        self.refusing: Rows = question.feasibility.refusing(Leaving(columns, candidates | columns.terminating))
        """Place -> the number of the check that refuses the ask when all candidates are gone."""
        self.counts: Numbers = columns.sums(candidates)
        """Place -> how many candidates there are."""
        useful = question.scope & (self.refusing == FITS) & (self.counts > 0)
        for guard in GUARDS.values():
            useful &= ~guard(self, question)
        sets = self._sets(question, candidates, np.flatnonzero(useful))
        self.costs = Costs(ground, question.leaf, sets.turns.rows[sets.victims])

    def candidates(self, question: Question) -> Flags:
        """Row -> whether the pod may be evicted for the ask."""
        candidates: Flags = (self.reasons < 0)[question.ground.kinds.of]
        for guard in ROW_GUARDS.values():
            candidates &= ~guard(question.columns)
        return candidates

    def on(self, question: Question, place: int) -> Sets:
        """The set on one node, to be told of."""
        return self._sets(question, self.candidates(question), np.array([place], np.intp))

    def _sets(self, question: Question, candidates: Flags, places: Rows) -> Sets:
        ground = question.ground
        wanted = np.zeros(len(question.columns.nodes), np.bool_)
        wanted[places] = True
        rows = ground.order.rows
        rows = rows[(candidates & wanted[question.columns.node])[rows]]
        return Sets(question, Turns(ground, question.leaf, places, rows), self.spared)

    def holds_for(self, question: Question) -> bool:
        """Whether another moment differs only in nodes that were reserved since, and pods there that began to leave."""
        before, columns, kept = self.columns, question.columns, question.usage.kept
        if (self.kept & ~kept).any() or question.excess() != self.excess:
            return False
        changed = np.flatnonzero(columns.terminating != before.terminating)
        if not kept[columns.node[changed]].all():
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
    kept = question.shape.surveys
    found = kept.get(claim.opted_out)
    if found is None or not found.holds_for(question):
        found = kept[claim.opted_out] = Survey(question, claim)
    return found


def _reserved(_survey: Survey, question: Question) -> Flags:
    return question.usage.kept


def _not_ready(_survey: Survey, question: Question) -> Flags:
    return question.columns.not_ready


def _refused(survey: Survey, question: Question) -> Flags:
    """Something other than resources keeps the ask out, whoever goes."""
    checks = question.feasibility.checks
    told = [check.reason is not NodeReason.INSUFFICIENT for check in checks]
    return np.array([*told, False], np.bool_)[survey.refusing]  # FITS is the last


GUARDS: dict[str, Callable[[Survey, Question], Flags]] = {
    "reserved": _reserved,
    "not-ready": _not_ready,
    "refused": _refused,
}
"""Place -> why nobody is evicted there, whatever it would give."""
