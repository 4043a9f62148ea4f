"""The stages in which policy ``fence`` decides a gang: as a whole or not at all.

That a gang is decided whole, with its members on any nodes, is this product's own; the invariants are those of
``fence.decision``, and hold for the sum of all victims and all members.
"""

import msgspec

from engine.feasibility import unsupported_rules
from engine.model.decision import Decision, GroupFacts, Outcome, PodFacts, PodReason, PodVerdict, Reason, Trace
from engine.model.objects import Pod, SchedulingGroup
from engine.model.quantities import total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import group_of
from engine.policies.common.eligibility import GUARDS
from engine.policies.common.groups.members_in_place import Placed
from engine.policies.common.safeguards import within_safeguards
from engine.policies.fence.decision import DIALECT, POLICY, decide
from engine.policies.fence.groups.attempt import GangAttempt, Refusal, placed_members, waiting_members
from engine.policies.fence.groups.search import GangPlan, GangSearch
from engine.policies.fence.groups.trace import spared_rows, trace_of, verdicts
from engine.policies.fence.groups.units import CandidateUnits
from engine.policies.fence.parameters import Parameters
from engine.policies.fence.selection import why_none

_CHOICES = 100
"""How many choices of members are tried, at most."""
_OF_EACH = (Reason.NEVER, Reason.DISABLED, Reason.UNREAD)
"""What forbids a gang to preempt if it holds for any of its members."""


def decide_with_groups(
    snapshot: Snapshot,
    tree: QueueTree,
    ask: Pod,
    parameters: Parameters = Parameters(),  # noqa: B008 - frozen
) -> Decision:
    """Return the decision about a pending pod: with its whole gang if it is in one, else about the pod alone.

    A gang is decided with the first of its waiting members. A pod beyond the number that a gang needs at once is
    decided alone, as is one whose group does not exist or needs no number: other schedulers may start it alone.
    """
    group = group_of(snapshot, ask)
    if group is None or group.min_count is None:
        return decide(snapshot, tree, ask, parameters)
    waiting, kept = waiting_members(snapshot, group), snapshot.kept_for
    members = tuple(pod for pod in waiting if (pod.uid in kept) == (ask.uid in kept))
    for pod in members:
        snapshot = snapshot.without_reservation(pod.uid)
    placed = placed_members(snapshot, group)
    if placed >= group.needed or all(pod.uid != ask.uid for pod in members):  # it may not be in the snapshot yet
        return decide(snapshot, tree, ask, parameters)
    if members[0].uid != ask.uid:
        return _decided_with(ask, members[0])
    return decide_gang(GangAttempt(snapshot, tree, group, members, placed), parameters)


def _decided_with(ask: Pod, first: Pod) -> Decision:
    return Decision(
        policy=POLICY,
        dialect=DIALECT,
        ask=PodFacts.of(ask),
        outcome=Outcome.NOT_ELIGIBLE,
        reason=Reason.DECIDED_WITH,
        detail=first.key,
    )


def decide_gang(attempt: GangAttempt, parameters: Parameters) -> Decision:
    """Return where the wanted members of a gang get a node, and what is evicted for them, or why nothing is."""
    stages = GangStages(attempt, parameters)
    return stages.undecidable() or stages.fits_already() or stages.not_eligible() or stages.preempt_within_safeguards()


class GangStages:
    """The stages of one decision about a gang; each returns a decision if it ends there."""

    def __init__(self, attempt: GangAttempt, parameters: Parameters) -> None:
        self.attempt, self._parameters = attempt, parameters
        self._fitting = 0
        """How many members are known to have room without any eviction."""

    def undecidable(self) -> Decision | None:
        """Return a decision with the reason why nothing can be decided for the gang, None if it can."""
        attempt, members = self.attempt, self.attempt.members
        if any(pod.queue is None for pod in members):
            return self._refused(Reason.NO_QUEUE)
        rules = {rule for pod in members for rule in unsupported_rules(attempt.snapshot, pod)}
        rules.update(attempt.group.unread_rules)
        if rules:
            return self._refused(Reason.UNREAD_RULES, ", ".join(sorted(rules)))
        if len(members) < attempt.wanted:
            return self._refused(Reason.TOO_FEW_MEMBERS, str(attempt.placed + len(members)))
        return None

    def fits_already(self) -> Decision | None:
        """Return a decision with the nodes if enough members have room, now or once terminating pods are gone."""
        attempt = self.attempt
        _, placed = attempt.place_free(leaving_counted=False)
        if len(placed) >= attempt.wanted:
            return self._answer(Outcome.FITS, Reason.FITS, placed=placed)
        _, placed = attempt.free
        self._fitting = len(placed)
        return self._answer(Outcome.FITS, Reason.FITS_SOON, placed=placed) if len(placed) >= attempt.wanted else None

    def not_eligible(self) -> Decision | None:
        """Return a decision with the reason why the gang may not preempt, None if it may.

        All of its pending members must be alike in this, also those that are not needed.
        """
        first, *others = self.attempt.members
        own = (first.queue, first.application)
        if odd := next((pod for pod in others if (pod.queue, pod.application) != own), None):
            return self._refused(Reason.QUEUES_DIFFER, odd.key)
        if bound := next((pod for pod in (first, *others) if pod.required_node is not None), None):
            return self._refused(Reason.ONE_NODE_ONLY, bound.key)
        for pod in self.attempt.members:
            attempt = self.attempt.of(pod)
            for reason in _OF_EACH:
                if (detail := GUARDS[reason](attempt)) is not None:
                    return self._refused(reason, detail)
        return None

    def preempt_within_safeguards(self) -> Decision:
        """Choose victims that the safeguards allow."""
        attempt = self.attempt

        def choose(snapshot: Snapshot) -> Decision:
            at = GangAttempt(snapshot, attempt.tree, attempt.group, attempt.members, attempt.placed)
            return GangStages(attempt if snapshot is attempt.snapshot else at, self._parameters).preempt()

        return within_safeguards(attempt.snapshot, attempt.tree, attempt.members[0], choose)

    def preempt(self) -> Decision:
        """Choose nodes and victims; pods that opted out only if nothing else makes room and the parameters allow it."""
        decision = self._choose(opted_out=False)
        if decision.outcome in (Outcome.NO_CANDIDATE, Outcome.SEARCH_LIMIT) and self._parameters.last_resort == "any":
            last_resort = self._choose(opted_out=True)
            if last_resort.outcome is not Outcome.NO_CANDIDATE:
                return last_resort
        return decision

    def _choose(self, *, opted_out: bool) -> Decision:
        """Try the choices of members that may preempt, and take the first for which victims are found."""
        _, placed = self.attempt.free
        refused, failed = list[Refusal](), list[Decision]()
        for number, chosen in enumerate(self.attempt.choices(placed)):
            if number == _CHOICES:
                failed.append(self._answer(Outcome.SEARCH_LIMIT, Reason.SEARCH_LIMIT))
                break
            why = self.attempt.refusal(placed, chosen, check_delay=self._parameters.check_delay)
            if why is not None:
                refused.append(why)
                continue
            decision = self._victims_for(chosen, opted_out=opted_out)
            if decision.outcome not in (Outcome.NO_CANDIDATE, Outcome.SEARCH_LIMIT):
                return decision
            failed.append(decision)
        if not failed:
            reason, detail, due = refused[0]
            return self._refused(reason, detail, due=due)
        return next((one for one in failed if one.outcome is Outcome.SEARCH_LIMIT), failed[0])

    def _victims_for(self, chosen: tuple[Pod, ...], *, opted_out: bool) -> Decision:
        attempt = self.attempt
        state, placed = attempt.free
        requests = total(pod.requests for pod in (*(pod for pod, _place in placed), *chosen))
        claim = attempt.claim(chosen, opted_out=opted_out)
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

    def _refused(self, reason: Reason, detail: str = "", *, due: int | None = None) -> Decision:
        decision = self._answer(Outcome.NOT_ELIGIBLE, reason, detail=detail)
        return decision if due is None else msgspec.structs.replace(decision, due_ms=due)

    def _answer(
        self,
        outcome: Outcome,
        reason: Reason,
        *,
        detail: str = "",
        placed: Placed = (),
        victims: tuple[PodVerdict, ...] = (),
        spared: int = 0,
        trace: Trace | None = None,
    ) -> Decision:
        attempt, (first, *others) = self.attempt, self.attempt.members
        if trace is None:
            trace = Trace(queues=attempt.first.usage.figures(first.queue, first.requests, ()))
        return Decision(
            policy=POLICY,
            dialect=DIALECT,
            ask=PodFacts.of(first),
            together=tuple(map(PodFacts.of, others)),
            outcome=outcome,
            reason=reason,
            detail=detail,
            victims=victims,
            group=self._facts(attempt.group, placed, spared),
            trace=trace,
        )

    def _facts(self, group: SchedulingGroup, placed: Placed, spared: int) -> GroupFacts:
        nodes = self.attempt.first.columns.nodes
        return GroupFacts.of(
            group,
            bound=self.attempt.placed,
            nodes={pod.uid: nodes[place].name for pod, place in placed},
            scheduled=self.attempt.placed + (len(placed) or self._fitting),
            spared=spared,
        )
