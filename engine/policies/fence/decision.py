"""Policy ``fence``, dialect ``design``: guarantees and fences as YuniKorn's design document promises them.

The numbered invariants are those of the design document "Preemption" of Apache YuniKorn, read for several resources and
levels as docs/policies/fence.md says. Whatever keeps a pending pod, a victim, a node or a set from being chosen is a
named guard: ``common.eligibility`` (which pods may preempt), ``candidates`` (which may be victims), ``node_candidates``
(where), ``preemptable_amounts``, ``constraints`` and ``victim_selection`` (how many together). ``selection`` takes the
cheapest node with its victims, and ``trace`` records what that rests on.

Source: YuniKorn's design document "Preemption", its rules and its section on the preemption logic.
"""

from collections.abc import Mapping

from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason, Trace
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.eligibility import GUARDS, UNDECIDABLE, WAITS, Guard, due_ms
from engine.policies.common.safeguards import within_safeguards
from engine.policies.fence.candidates import claim_of
from engine.policies.fence.groups.search import GangPlan, search_for
from engine.policies.fence.groups.trace import spared_rows, verdicts
from engine.policies.fence.groups.trace import trace_of as trace_of_plan
from engine.policies.fence.groups.units import CandidateUnits
from engine.policies.fence.node_candidates import node_candidates_of
from engine.policies.fence.parameters import Parameters
from engine.policies.fence.selection import Selection, select, why_none
from engine.policies.fence.trace import trace_of

POLICY = "fence"
DIALECT = "design"


def decide(snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters = Parameters()) -> Decision:  # noqa: B008 - frozen
    """Return which pods are evicted, on which node, for ``ask`` (a pending pod of the snapshot), or why none are."""
    attempt = PreemptionAttempt(snapshot.without_reservation(ask.uid), tree, ask)
    may_wait = WAITS if parameters.check_delay else {}
    return (
        _not_eligible(attempt, UNDECIDABLE)
        or _fits_already(attempt)
        or _not_eligible(attempt, {**GUARDS, **may_wait})
        or _preempt_within_safeguards(attempt, parameters)
    )


def _not_eligible(attempt: PreemptionAttempt, guards: Mapping[Reason, Guard]) -> Decision | None:
    """Return a decision with the reason why the pending pod may not preempt, None if it may."""
    for reason, guard in guards.items():
        detail = guard(attempt)
        if detail is not None:
            due = due_ms(attempt) if reason is Reason.DELAY else None
            return _answer(attempt, Outcome.NOT_ELIGIBLE, reason, detail=detail, due=due)
    return None


def _fits_already(attempt: PreemptionAttempt) -> Decision | None:
    """Return a decision with the node that has room, now or once terminating pods are gone, None if none has."""
    for leaving_counted, reason in ((False, Reason.FITS), (True, Reason.FITS_SOON)):
        node = attempt.node_with_room(leaving_counted=leaving_counted)
        if node is not None:
            return _answer(attempt, Outcome.FITS, reason, node=node)
    return None


def _preempt_within_safeguards(attempt: PreemptionAttempt, parameters: Parameters) -> Decision:
    """Choose victims that the safeguards allow."""

    def choose(snapshot: Snapshot) -> Decision:
        same = snapshot is attempt.snapshot
        return _preempt(attempt if same else PreemptionAttempt(snapshot, attempt.tree, attempt.ask), parameters)

    return within_safeguards(attempt.snapshot, attempt.tree, attempt.ask, choose)


def _preempt(attempt: PreemptionAttempt, parameters: Parameters) -> Decision:
    """Choose victims; pods that opted out only if nothing else makes room, and the parameters allow it."""
    decision = _choose_victims(attempt, opted_out=False)
    if decision.outcome is not Outcome.PREEMPT and may_resort(attempt.ask, parameters):
        last_resort = _choose_victims(attempt, opted_out=True)
        if last_resort.outcome is not Outcome.NO_CANDIDATE:  # not all sets may have been tried
            return last_resort
    return decision


def may_resort(ask: Pod, parameters: Parameters) -> bool:
    """Return whether a pod may evict pods that opted out when nothing else makes room.

    Source: rule 1 of YuniKorn's design document "Preemption"; the parameter is this product's own.
    """
    allowed = parameters.last_resort
    return allowed == "any" or (allowed == "daemonset" and ask.required_node is not None)


def _choose_victims(attempt: PreemptionAttempt, *, opted_out: bool) -> Decision:
    """Choose the victims on each node, then the node. ``opted_out``: whether pods that opted out are candidates."""
    claim = claim_of(attempt, opted_out=opted_out)
    node_candidates = node_candidates_of(attempt, claim)
    selection = select(attempt, claim, node_candidates)
    gave_up = node_candidates.victims.gave_up
    if attempt.snapshot.groups:
        candidates = CandidateUnits(attempt, claim, node_candidates.preemptable_amounts)
        if candidates.some_whole:
            found = search_for(candidates, node_candidates)
            if found.plan is not None:
                return _preempting_units(candidates, found.plan)
            gave_up = found.gave_up
    if selection.best is not None:
        return _preempting(selection, selection.best)
    if gave_up:
        return _answer(attempt, Outcome.SEARCH_LIMIT, Reason.SEARCH_LIMIT, trace=trace_of(selection))
    reason, detail = why_none(selection.candidates, claim.fence, selection.excluded)
    return _answer(attempt, Outcome.NO_CANDIDATE, reason, detail=detail, trace=trace_of(selection))


def _preempting(selection: Selection, place: int) -> Decision:
    """Return the decision to evict the selected victims. ``place``: that of the chosen node."""
    attempt, victims = selection.attempt, selection.pods(selection.victims)
    reason = Reason.DAEMONSET if attempt.ask.required_node is not None else Reason.BELOW_GUARANTEE
    if any(pod.opted_out for pod in victims):
        reason = Reason.LAST_RESORT
    node = attempt.columns.nodes[place].name
    verdicts = tuple(map(_victim, victims))
    return _answer(attempt, Outcome.PREEMPT, reason, node=node, victims=verdicts, trace=trace_of(selection))


def _preempting_units(candidates: CandidateUnits, plan: GangPlan) -> Decision:
    """Return the decision to evict units, among them perhaps whole groups with pods on other nodes."""
    attempt, ((_, place),) = candidates.attempt, plan.placed
    victims = verdicts(candidates, plan)
    reason = Reason.DAEMONSET if attempt.ask.required_node is not None else Reason.BELOW_GUARANTEE
    if any(victim.reason is PodReason.LAST_RESORT for victim in victims):
        reason = Reason.LAST_RESORT
    trace = trace_of_plan(candidates, attempt.ask.requests, plan, spared_rows(candidates, plan))
    node = attempt.columns.nodes[place].name
    return _answer(attempt, Outcome.PREEMPT, reason, node=node, victims=victims, trace=trace)


def _victim(pod: Pod) -> PodVerdict:
    reason = PodReason.LAST_RESORT if pod.opted_out else PodReason.OVER_GUARANTEE
    return PodVerdict(pod=PodFacts.of(pod), reason=reason, detail=pod.queue or "")


def _answer(
    attempt: PreemptionAttempt,
    outcome: Outcome,
    reason: Reason,
    *,
    detail: str = "",
    due: int | None = None,
    node: str | None = None,
    victims: tuple[PodVerdict, ...] = (),
    trace: Trace | None = None,
) -> Decision:
    if trace is None:
        trace = Trace(queues=attempt.usage.figures(attempt.ask.queue, attempt.ask.requests, ()))
    return Decision(
        policy=POLICY,
        dialect=DIALECT,
        ask=PodFacts.of(attempt.ask),
        outcome=outcome,
        reason=reason,
        detail=detail,
        due_ms=due,
        node=node,
        victims=victims,
        trace=trace,
    )
