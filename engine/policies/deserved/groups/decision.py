"""The stages in which policy ``deserved`` decides a gang: as a whole or not at all.

That a gang is decided whole, with its members on any nodes, is this product's own; the rules are those of
``deserved.decision``, and hold for the sum of all victims, and for each member with those before it.
"""

from collections.abc import Sequence

import msgspec

from engine.model.decision import Decision, Outcome, Reason, ReclaimNotice, Trace
from engine.model.objects import Pod
from engine.model.quantities import Amounts, add, total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.eligibility import WAITS
from engine.policies.common.groups.answers import undecided
from engine.policies.common.groups.members_in_place import Placed
from engine.policies.common.groups.pending_gang import PendingGang, find_gang
from engine.policies.common.groups.stages import DecisionStages
from engine.policies.common.safeguards import within_safeguards
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.decision import DIALECT, POLICY, decide
from engine.policies.deserved.groups.search import ReclaimPlan
from engine.policies.deserved.groups.stage_search import search_stages
from engine.policies.deserved.groups.terms import MemberAttempt, MemberTerms, Terms
from engine.policies.deserved.groups.trace import spared_rows, trace_of, verdicts
from engine.policies.deserved.parameters import Parameters
from engine.policies.deserved.trace import figures, last_due, notices_of


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
    stages = ReclaimStages(PendingGang(snapshot, tree, *gang), parameters)
    return stages.undecidable() or stages.fits_already() or stages.not_eligible() or stages.reclaim_within_safeguards()


class ReclaimStages(DecisionStages):
    """The stages of one decision about a gang; each returns a decision if it ends there."""

    def __init__(self, gang: PendingGang, parameters: Parameters) -> None:
        super().__init__(gang, POLICY, DIALECT)
        self._parameters = parameters
        self._first = ReclaimAttempt(gang.snapshot, gang.tree, gang.members[0], parameters)

    def own(self, pod: Pod) -> tuple[str | None, ...]:
        return (pod.queue,)

    def _figures(self) -> Trace:
        trace = super()._figures()
        return msgspec.structs.replace(trace, deserved=figures(self._first, (), coming=False))

    def reclaim_within_safeguards(self) -> Decision:
        """Choose victims that the safeguards allow; disruption budgets count as for a single pod."""
        gang = self._gang

        def choose(snapshot: Snapshot) -> Decision:
            if snapshot is gang.snapshot:
                return self.first_of_choices()
            considered = snapshot if snapshot.safeguards is not None else snapshot.with_budgets(())
            at = PendingGang(considered, gang.tree, gang.group, gang.members, gang.placed)
            return ReclaimStages(at, self._parameters).first_of_choices()

        return within_safeguards(gang.snapshot, gang.tree, gang.members[0], choose)

    def refused(self, chosen: tuple[Pod, ...]) -> Decision | None:
        """Return a decision if one of the members may not preempt with those before it in its queue."""
        first = self._first
        _, placed = self._gang.free
        before = total(pod.requests for pod, _place in placed)
        too_large = {pod.uid for pod in first.share_index.too_large}
        for pod in chosen:
            if pod.uid in too_large:
                return self._answer(Outcome.NO_CANDIDATE, Reason.NO_ROOM)
            beyond = first.beyond_deserved(pod, before)
            if beyond and not self._urgent(pod):
                return self._refused(Reason.BEYOND_DESERVED, beyond)
            if over_hard := first.beyond_hard(pod, before):
                return self._refused(Reason.OVER_MAX, over_hard)
            before = add(before, pod.requests)
        for pod in (*(pod for pod, _place in placed), *chosen):
            if WAITS[Reason.NOT_TRIED](self._gang.of(pod)) is not None:
                return self._refused(Reason.NOT_TRIED)
        return None

    def _urgent(self, pod: Pod) -> bool:
        """Return whether a pod may take its queue beyond what that deserves.

        Source: the proposal of k8s-arbitrator, by which pods of high priority may exceed what is deserved.
        """
        return pod.priority_class in self._parameters.high_priority

    def victims_for(self, chosen: tuple[Pod, ...]) -> Decision:
        gang = self._gang
        state, placed = gang.free
        terms = self._terms(placed, chosen)
        found = search_stages(terms, gang.shapes, state.checks, placed, chosen)
        each = list({id(one): one for one in found.terms.values()}.values())
        if found.plan is not None:
            return (self._preempting if found.in_time else self._waiting)(each, found.plan)
        trace = trace_of(each, coming=False)
        if found.gave_up:
            return self._answer(Outcome.SEARCH_LIMIT, Reason.SEARCH_LIMIT, trace=trace)
        reason = Reason.NO_ROOM if trace.candidates else Reason.NO_CANDIDATES
        return self._answer(Outcome.NO_CANDIDATE, reason, trace=trace)

    def _terms(self, placed: Placed, chosen: Sequence[Pod]) -> Terms:
        """Return the terms of each of the chosen members. No victim of an urgent one outranks any member."""
        gang = self._gang
        before = total(pod.requests for pod, _place in placed)
        together = add(before, total(pod.requests for pod in chosen))
        lowest = min(gang.group.priority, *(pod.priority for pod in gang.members))
        known: dict[tuple[bytes, bool], MemberTerms] = {}
        found = {}
        for pod in chosen:
            outranks = bool(self._first.beyond_deserved(pod, before))
            key = gang.shapes.shape_of(pod), outranks
            if key not in known:
                known[key] = self._new_terms(pod, together, lowest, outranks=outranks)
            found[pod.uid] = known[key]
            before = add(before, pod.requests)
        return found

    def _new_terms(self, pod: Pod, together: Amounts, lowest: int, *, outranks: bool) -> MemberTerms:
        asking = msgspec.structs.replace(pod, priority=lowest) if outranks else pod
        attempt = MemberAttempt(
            self._gang.snapshot, self._gang.tree, asking, self._parameters, together=together, outranks=outranks
        )
        return MemberTerms(attempt, self._gang.group)

    def _preempting(self, each: Sequence[MemberTerms], plan: ReclaimPlan) -> Decision:
        """Return the decision for a plan; without victims, the members have room if they are placed in this way."""
        if not plan.units:
            return self._answer(Outcome.FITS, Reason.FITS_SOON, placed=plan.placed)
        victims, trace = verdicts(plan), trace_of(each, plan, coming=True)
        urgent = any(terms.attempt.outranks for terms in each)
        return self._answer(
            Outcome.PREEMPT,
            Reason.HIGH_PRIORITY if urgent else Reason.BELOW_DESERVED,
            placed=plan.placed,
            victims=victims,
            notices=_notices(each, plan),
            spared=len(spared_rows(each, plan)),
            trace=trace,
        )

    def _waiting(self, each: Sequence[MemberTerms], plan: ReclaimPlan) -> Decision:
        """Return that the gang waits until the grace periods of the victims' queues are over."""
        attempt = next(terms.attempt for terms in each if not terms.attempt.outranks)
        queue = last_due(attempt, _reclaimed(plan))
        return self._answer(
            Outcome.NOT_ELIGIBLE,
            Reason.GRACE,
            detail=queue,
            due=attempt.due_ms(queue),
            notices=_notices(each, plan),
            trace=trace_of(each, plan, coming=False),
        )


def _reclaimed(plan: ReclaimPlan) -> list[Pod]:
    """Return the victims whose queues have to give back."""
    return [pod for unit in plan.units if unit.lead not in plan.outranked for pod in unit.victims]


def _notices(each: Sequence[MemberTerms], plan: ReclaimPlan) -> tuple[ReclaimNotice, ...]:
    """Return the reclaim notices of a decision; none where all members outrank what their queue deserves."""
    giving = next((terms for terms in each if not terms.attempt.outranks), None)
    return () if giving is None else notices_of(giving.candidates, _reclaimed(plan))
