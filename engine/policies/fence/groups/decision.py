"""The stages in which policy ``fence`` decides a gang: as a whole or not at all.

That a gang is decided whole, with its members on any nodes, is this product's own; the invariants are those of
``fence.decision``, and hold for the sum of all victims and all members.
"""

from engine.model.decision import Decision, Outcome, PodReason, Reason
from engine.model.objects import Pod
from engine.model.quantities import total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.groups.answers import undecided
from engine.policies.common.groups.pending_gang import find_gang
from engine.policies.common.groups.stages import DecisionStages
from engine.policies.common.safeguards import within_safeguards
from engine.policies.fence.decision import DIALECT, POLICY, decide
from engine.policies.fence.groups.attempt import GangAttempt
from engine.policies.fence.groups.search import GangPlan, GangSearch
from engine.policies.fence.groups.trace import spared_rows, trace_of, verdicts
from engine.policies.fence.groups.units import CandidateUnits
from engine.policies.fence.parameters import Parameters
from engine.policies.fence.selection import why_none


def decide_with_groups(
    snapshot: Snapshot,
    tree: QueueTree,
    ask: Pod,
    parameters: Parameters = Parameters(),  # noqa: B008 - frozen
) -> Decision:
    """Return the decision about a pending pod: with its whole gang if it is in one, else about the pod alone.

    A gang is decided with the first of its waiting members. A pod beyond the number that a gang needs at once is
    decided alone, once the gang runs. So is a pod whose group does not exist or needs no number: other schedulers may
    start it alone.
    """
    snapshot, gang, other = find_gang(snapshot, ask)
    if other is not None:
        return undecided(POLICY, DIALECT, ask, Reason.DECIDED_WITH, other.key)
    if gang is None:
        return decide(snapshot, tree, ask, parameters)
    return decide_gang(GangAttempt(snapshot, tree, *gang), parameters)


def decide_gang(attempt: GangAttempt, parameters: Parameters) -> Decision:
    """Return where the wanted members of a gang get a node, and what is evicted for them, or why nothing is."""
    stages = GangStages(attempt, parameters)
    return stages.undecidable() or stages.fits_already() or stages.not_eligible() or stages.preempt_within_safeguards()


class GangStages(DecisionStages):
    """The stages of one decision about a gang; each returns a decision if it ends there."""

    def __init__(self, attempt: GangAttempt, parameters: Parameters) -> None:
        super().__init__(attempt, POLICY, DIALECT)
        self.attempt, self._parameters = attempt, parameters
        self._opted_out = False
        """Whether pods that opted out are candidates."""

    def own(self, pod: Pod) -> tuple[str | None, ...]:
        return pod.queue, pod.application

    def preempt_within_safeguards(self) -> Decision:
        """Choose victims that the safeguards allow."""
        attempt = self.attempt

        def choose(snapshot: Snapshot) -> Decision:
            at = GangAttempt(snapshot, attempt.tree, attempt.group, attempt.members, attempt.placed)
            return GangStages(attempt if snapshot is attempt.snapshot else at, self._parameters).preempt()

        return within_safeguards(attempt.snapshot, attempt.tree, attempt.members[0], choose)

    def preempt(self) -> Decision:
        """Choose nodes and victims; pods that opted out only if nothing else makes room and the parameters allow it."""
        decision = self.first_of_choices()
        if decision.outcome in (Outcome.NO_CANDIDATE, Outcome.SEARCH_LIMIT) and self._parameters.last_resort == "any":
            self._opted_out = True
            last_resort = self.first_of_choices()
            if last_resort.outcome is not Outcome.NO_CANDIDATE:
                return last_resort
        return decision

    def refused(self, chosen: tuple[Pod, ...]) -> Decision | None:
        _, placed = self.attempt.free
        why = self.attempt.refusal(placed, chosen, check_delay=self._parameters.check_delay)
        return None if why is None else self._refused(why[0], why[1], due=why[2])

    def victims_for(self, chosen: tuple[Pod, ...]) -> Decision:
        attempt = self.attempt
        state, placed = attempt.free
        requests = total(pod.requests for pod in (*(pod for pod, _place in placed), *chosen))
        claim = attempt.claim(chosen, opted_out=self._opted_out)
        candidates = CandidateUnits(attempt.first, claim, attempt.amounts(requests), attempt.group)
        search = GangSearch(candidates, attempt.shapes, state.checks, placed)
        plan = search.find(chosen)
        if plan is not None:
            return self._preempting(candidates, plan)
        trace = trace_of(candidates, requests)
        if search.gave_up:
            return self._answer(Outcome.SEARCH_LIMIT, Reason.SEARCH_LIMIT, trace=trace)
        reason, detail = why_none(trace.candidates, claim.fence, candidates.excluded())
        return self._answer(Outcome.NO_CANDIDATE, reason, detail=detail, trace=trace)

    def _preempting(self, candidates: CandidateUnits, plan: GangPlan) -> Decision:
        """Return the decision for a plan; without victims, the members have room if they are placed in this way."""
        if not plan.units:
            return self._answer(Outcome.FITS, Reason.FITS_SOON, placed=plan.placed)
        victims = verdicts(candidates, plan)
        resort = any(victim.reason is PodReason.LAST_RESORT for victim in victims)
        return self._answer(
            Outcome.PREEMPT,
            Reason.LAST_RESORT if resort else Reason.BELOW_GUARANTEE,
            placed=plan.placed,
            victims=victims,
            spared=len(spared_rows(candidates, plan)),
            trace=trace_of(candidates, total(pod.requests for pod, _place in plan.placed), plan),
        )
