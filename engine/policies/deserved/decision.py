"""Policy ``deserved``, dialect ``arbitrator``: reclaims from queues that use more than they deserve.

The rules are in docs/policies/deserved.md.
"""

from collections.abc import Iterator

import numpy as np

from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason, ReclaimNotice, Trace
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.eligibility import GUARDS, UNDECIDABLE, WAITS
from engine.policies.common.safeguards import within_safeguards
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.node_candidates import NodeCandidates, NodeVictims
from engine.policies.deserved.parameters import Parameters
from engine.policies.deserved.trace import notices_of, trace_of

POLICY = "deserved"
DIALECT = "arbitrator"
_GUARDS = {reason: GUARDS[reason] for reason in (Reason.NEVER, Reason.DISABLED, Reason.UNREAD)}
_WAITS = {Reason.NOT_TRIED: WAITS[Reason.NOT_TRIED]}


def decide(snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters = Parameters()) -> Decision:  # noqa: B008 - frozen
    """Decide which pods to preempt for ``ask``, a pending pod of the snapshot, or why none are preempted.

    The decision also says which queues are given a reclaim notice.
    """
    question = ReclaimAttempt(snapshot.without_reservation(ask.uid), tree, ask, parameters)
    for reason, guard in UNDECIDABLE.items():
        if (detail := guard(question.nodes)) is not None:
            return _build_decision(question, Outcome.NOT_ELIGIBLE, reason, detail=detail, trace=Trace())
    for leaving_counted, reason in ((False, Reason.FITS), (True, Reason.FITS_SOON)):
        node = question.nodes.node_with_room(leaving_counted=leaving_counted)
        if node is not None:
            return _build_decision(question, Outcome.FITS, reason, node=node)
    return _rejection(question) or _within_safeguards(question)


def _rejection(question: ReclaimAttempt) -> Decision | None:
    """Return a decision that rejects preemption for the pending pod, or None if it may preempt."""
    for reason, guard in _GUARDS.items():
        if (detail := guard(question.nodes)) is not None:
            return _build_decision(question, Outcome.NOT_ELIGIBLE, reason, detail=detail)
    if question.too_large:
        return _build_decision(question, Outcome.NO_CANDIDATE, Reason.NO_ROOM)
    if question.beyond and not question.outranks:
        return _build_decision(question, Outcome.NOT_ELIGIBLE, Reason.BEYOND_DESERVED, detail=question.beyond)
    if question.over_hard:
        return _build_decision(question, Outcome.NOT_ELIGIBLE, Reason.OVER_MAX, detail=question.over_hard)
    for reason, guard in _WAITS.items():
        if (detail := guard(question.nodes)) is not None:
            return _build_decision(question, Outcome.NOT_ELIGIBLE, reason, detail=detail)
    return None


def _within_safeguards(question: ReclaimAttempt) -> Decision:
    """Choose victims that the safeguards allow.

    Disruption budgets are considered in any case, as the proposal requires.
    """
    own = question.snapshot

    def choose(snapshot: Snapshot) -> Decision:
        if snapshot is own:
            return _reclaim(question)
        return _reclaim(ReclaimAttempt(snapshot.with_budgets(()), question.tree, question.ask, question.parameters))

    return within_safeguards(own, question.tree, question.ask, choose)


def _reclaim(question: ReclaimAttempt) -> Decision:
    """Preempt from queues whose grace periods are over, if that makes room.

    Otherwise give reclaim notices to the queues it could be made from, or wait for those that still have time.
    """
    survey, in_time = find_candidates(question)
    if survey.best is None:
        return _no_victims(question, survey)
    return (_preempt_now if in_time else _wait_for_grace)(question, survey, survey.best)


def find_candidates(question: ReclaimAttempt) -> tuple[NodeCandidates, bool]:
    """Return the node candidates of the first group of queues that makes room, and whether they may be preempted now.

    If no group makes room while every queue keeps what it deserves, queues may end below that. If the usual order of
    victims finds no allowed set even then, other sets are tried. If nothing helps, the last group is returned.
    """
    found: list[tuple[NodeCandidates, bool]] = []
    for candidates, in_time in _attempts(question):
        found.append((NodeCandidates(question, candidates), in_time))
        if found[-1][0].best is not None:
            return found[-1]
    last = found[-1] if found else (NodeCandidates(question, Candidates(question)), False)
    helps = next((one for one in found if one[0].end_below()), None)
    return helps or next((one for one in found if one[0].other_sets()), last)


def _attempts(question: ReclaimAttempt) -> Iterator[tuple[Candidates, bool]]:
    """Yield groups of candidates to try, each with whether they may be preempted now.

    The groups are the queues whose grace periods are over, the queues with a reclaim notice, and all queues.
    """
    every = Candidates(question)
    if question.outranks:
        yield every, True
        return
    past = every.queues & question.past_grace
    tried = np.zeros_like(past)
    for queues in (past, every.queues & question.notified, every.queues):
        if not np.array_equal(queues, tried):
            yield every.of(queues), queues is past
        tried = queues


def _preempt_now(question: ReclaimAttempt, survey: NodeCandidates, best: NodeVictims) -> Decision:
    found = () if question.outranks else notices_of(question, survey, best.victims)
    return _build_decision(
        question,
        Outcome.PREEMPT,
        Reason.HIGH_PRIORITY if question.outranks else Reason.BELOW_DESERVED,
        node=None if best.place is None else question.nodes.columns.nodes[best.place].name,
        victims=tuple(_victim(question, pod) for pod in best.victims),
        notices=found,
        trace=trace_of(question, survey, best, coming=True),
    )


def _victim(question: ReclaimAttempt, pod: Pod) -> PodVerdict:
    reason = PodReason.LOWER_PRIORITY if question.outranks else PodReason.OVER_DESERVED
    return PodVerdict(pod=PodFacts.of(pod), reason=reason, detail=pod.queue or "")


def _wait_for_grace(question: ReclaimAttempt, survey: NodeCandidates, best: NodeVictims) -> Decision:
    queue = max((pod.queue or "" for pod in best.victims), key=lambda one: (question.due_ms(one), one))
    return _build_decision(
        question,
        Outcome.NOT_ELIGIBLE,
        Reason.GRACE,
        detail=queue,
        due=question.due_ms(queue),
        notices=notices_of(question, survey, best.victims),
        trace=trace_of(question, survey, best, coming=False),
    )


def _no_victims(question: ReclaimAttempt, survey: NodeCandidates) -> Decision:
    trace = trace_of(question, survey, coming=False)
    if survey.gave_up:
        return _build_decision(question, Outcome.SEARCH_LIMIT, Reason.SEARCH_LIMIT, trace=trace)
    if survey.candidates.count:
        return _build_decision(question, Outcome.NO_CANDIDATE, Reason.NO_ROOM, trace=trace)
    return _build_decision(question, Outcome.NO_CANDIDATE, Reason.NO_CANDIDATES, trace=trace)


def _build_decision(
    question: ReclaimAttempt,
    outcome: Outcome,
    reason: Reason,
    *,
    detail: str = "",
    due: int | None = None,
    node: str | None = None,
    victims: tuple[PodVerdict, ...] = (),
    notices: tuple[ReclaimNotice, ...] = (),
    trace: Trace | None = None,
) -> Decision:
    return Decision(
        policy=POLICY,
        dialect=DIALECT,
        ask=PodFacts.of(question.ask),
        outcome=outcome,
        reason=reason,
        detail=detail,
        due_ms=due,
        node=node,
        victims=victims,
        notices=notices,
        trace=trace_of(question, coming=False) if trace is None else trace,
    )
