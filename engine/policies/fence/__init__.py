"""Policy ``fence``, dialect ``design``: guarantees and fences as YuniKorn's design document promises them.

The numbered laws are those of the design document "Preemption" of Apache YuniKorn, read for several resources and
levels as docs/policies/fence.md says. Whatever keeps an ask, a pod, a node or a set from being chosen is a named guard:
``asks`` (who may preempt), ``candidates`` (who may be a victim), ``survey`` (where), ``spare``, ``room`` and ``sets``
(how many together).
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from engine.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason, Trace
from engine.policies.fence.asks import GUARDS, UNDECIDABLE, WAITS, Guard, due_ms
from engine.policies.fence.candidates import claim_of
from engine.policies.fence.question import Question
from engine.policies.fence.survey import survey_of
from engine.policies.fence.telling import Told
from engine.policies.safeguards import within_safeguards
from engine.queues import QueueTree
from engine.snapshot import Pod, Snapshot

POLICY = "fence"
DIALECT = "design"


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a revision may set for this policy."""

    last_resort: Literal["daemonset", "any", "never"] = "daemonset"
    """Whose asks may take pods that opted out, when nothing else makes room (law 1)."""
    check_delay: bool = True
    """Whether asks wait for their queue's delay; off only to ask what would happen."""


def decide(snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters = Parameters()) -> Decision:  # noqa: B008 - frozen
    """Which pods are to go, on which node, for ``ask`` (a pending pod of the snapshot), or why none are."""
    question = Question(snapshot.without_reservation(ask.uid), tree, ask)
    refused = _refused(question, UNDECIDABLE)
    if refused is not None:
        return refused
    for leaving_counted, reason in ((False, Reason.FITS), (True, Reason.FITS_SOON)):
        node = question.node_with_room(leaving_counted=leaving_counted)
        if node is not None:
            return _answer(question, Outcome.FITS, reason, node=node)
    waits = WAITS if parameters.check_delay else {}
    return _refused(question, {**GUARDS, **waits}) or _preempt(question, parameters)


def _refused(question: Question, guards: Mapping[Reason, Guard]) -> Decision | None:
    """Why the ask may not preempt, None when it may."""
    for reason, guard in guards.items():
        detail = guard(question)
        if detail is not None:
            due = due_ms(question) if reason is Reason.DELAY else None
            return _answer(question, Outcome.NOT_ELIGIBLE, reason, detail=detail, due=due)
    return None


def _preempt(question: Question, parameters: Parameters) -> Decision:
    """Choose the victims, among those whom safeguards let go if there are any."""

    def choose(snapshot: Snapshot) -> Decision:
        same = snapshot is question.snapshot
        return _within(question if same else Question(snapshot, question.tree, question.ask), parameters)

    return within_safeguards(question.snapshot, question.tree, question.ask, choose)


def _within(question: Question, parameters: Parameters) -> Decision:
    """Choose the victims; pods that opted out only when nothing else makes room, and the parameters allow it."""
    attempt = _attempt(question, opted_out=False)
    if attempt.outcome is not Outcome.PREEMPT and may_resort(question.ask, parameters):
        resort = _attempt(question, opted_out=True)
        if resort.outcome is Outcome.PREEMPT:
            return resort
    return attempt


def may_resort(ask: Pod, parameters: Parameters) -> bool:
    """Whether an ask may take pods that opted out when nothing else makes room."""
    allowed = parameters.last_resort
    return allowed == "any" or (allowed == "daemonset" and ask.required_node is not None)


def _attempt(question: Question, *, opted_out: bool) -> Decision:
    ask, claim = question.ask, claim_of(question, opted_out=opted_out)
    survey = survey_of(question, claim)
    told = Told(question, claim, survey)
    if told.best is None:
        if survey.gave_up:
            return _answer(question, Outcome.SEARCH_LIMIT, Reason.SEARCH_LIMIT, trace=told.trace())
        reason, detail = told.why_none()
        return _answer(question, Outcome.NO_CANDIDATE, reason, detail=detail, trace=told.trace())
    victims = told.pods(told.victims)
    reason = Reason.DAEMONSET if ask.required_node is not None else Reason.BELOW_GUARANTEE
    if any(pod.opted_out for pod in victims):
        reason = Reason.LAST_RESORT
    node = question.columns.nodes[told.best].name
    verdicts = tuple(map(_victim, victims))
    return _answer(question, Outcome.PREEMPT, reason, node=node, victims=verdicts, trace=told.trace())


def _victim(pod: Pod) -> PodVerdict:
    reason = PodReason.LAST_RESORT if pod.opted_out else PodReason.OVER_GUARANTEE
    return PodVerdict(pod=PodFacts.of(pod), reason=reason, detail=pod.queue or "")


def _answer(
    question: Question,
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
        trace = Trace(queues=question.usage.figures(question.ask.queue, question.ask.requests, ()))
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
        trace=trace,
    )
