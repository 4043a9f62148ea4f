"""Policy ``deserved``, dialect ``arbitrator``: reclaims from queues that use more than they deserve.

The rules are in docs/policies/deserved.md.

Source: the proposal of k8s-arbitrator (kubernetes/community, pull request 328), its section on preemption.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason, ReclaimNotice, Trace
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.eligibility import GUARDS, UNDECIDABLE, WAITS
from engine.policies.common.safeguards import within_safeguards
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.groups.search import ReclaimPlan
from engine.policies.deserved.groups.single_pod import search_with_groups
from engine.policies.deserved.groups.stage_search import FoundPlan
from engine.policies.deserved.groups.trace import trace_of as trace_of_units
from engine.policies.deserved.groups.trace import verdicts
from engine.policies.deserved.node_candidates import (
    NodeCandidates,
    search_below_deserved,
    search_nodes,
    search_other_sets,
)
from engine.policies.deserved.parameters import Parameters
from engine.policies.deserved.trace import last_due, notices_of, trace_of
from engine.policies.deserved.victim_selection import NodeVictims

POLICY = "deserved"
DIALECT = "arbitrator"
_GUARDS = {reason: GUARDS[reason] for reason in (Reason.NEVER, Reason.DISABLED, Reason.UNREAD)}
_WAITS = {Reason.NOT_TRIED: WAITS[Reason.NOT_TRIED]}


def decide(snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters = Parameters()) -> Decision:  # noqa: B008 - frozen
    """Decide which pods to preempt for ``ask``, a pending pod of the snapshot, or why none are preempted.

    The decision also says which queues are given a reclaim notice.
    """
    attempt = ReclaimAttempt(snapshot.without_reservation(ask.uid), tree, ask, parameters)
    return (
        _undecidable(attempt) or _fits_already(attempt) or _not_eligible(attempt) or _reclaim_within_safeguards(attempt)
    )


def _undecidable(attempt: ReclaimAttempt) -> Decision | None:
    """Return a decision with the reason why nothing can be decided for the pending pod, None if it can."""
    for reason, guard in UNDECIDABLE.items():
        if (detail := guard(attempt.nodes)) is not None:
            return _answer(attempt, Outcome.NOT_ELIGIBLE, reason, detail=detail, trace=Trace())
    return None


def _fits_already(attempt: ReclaimAttempt) -> Decision | None:
    """Return a decision with the node that has room, now or once terminating pods are gone, None if none has."""
    for leaving_counted, reason in ((False, Reason.FITS), (True, Reason.FITS_SOON)):
        node = attempt.nodes.node_with_room(leaving_counted=leaving_counted)
        if node is not None:
            return _answer(attempt, Outcome.FITS, reason, node=node)
    return None


def _not_eligible(attempt: ReclaimAttempt) -> Decision | None:
    """Return a decision with the reason why the pending pod may not preempt, None if it may."""
    for reason, guard in _GUARDS.items():
        if (detail := guard(attempt.nodes)) is not None:
            return _answer(attempt, Outcome.NOT_ELIGIBLE, reason, detail=detail)
    if attempt.too_large:
        return _answer(attempt, Outcome.NO_CANDIDATE, Reason.NO_ROOM)
    if attempt.beyond and not attempt.outranks:
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.BEYOND_DESERVED, detail=attempt.beyond)
    if attempt.over_hard:
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.OVER_MAX, detail=attempt.over_hard)
    for reason, guard in _WAITS.items():
        if (detail := guard(attempt.nodes)) is not None:
            return _answer(attempt, Outcome.NOT_ELIGIBLE, reason, detail=detail)
    return None


def _reclaim_within_safeguards(attempt: ReclaimAttempt) -> Decision:
    """Choose victims that the safeguards allow.

    Disruption budgets are considered also where there are no safeguards, as the proposal requires; but not for the set
    that is named, and held back, where the safeguards allow none.
    """

    def choose(snapshot: Snapshot) -> Decision:
        if snapshot is attempt.snapshot:
            return _reclaim(attempt)
        considered = snapshot if snapshot.safeguards is not None else snapshot.with_budgets(())
        return _reclaim(ReclaimAttempt(considered, attempt.tree, attempt.ask, attempt.parameters))

    return within_safeguards(attempt.snapshot, attempt.tree, attempt.ask, choose)


def _reclaim(attempt: ReclaimAttempt) -> Decision:
    """Preempt from queues whose grace periods are over, if that makes room.

    Otherwise give reclaim notices to the queues it could be made from, or wait for those that still have time.

    Source: the proposal of k8s-arbitrator: who uses too much is notified, and has a specified time to choose what ends.
    """
    with_groups = search_with_groups(attempt)
    if with_groups is not None and with_groups.plan is not None:
        return _reclaim_units(attempt, with_groups, with_groups.plan)
    node_candidates, in_time = find_node_candidates(attempt)
    if node_candidates.best is None:
        gave_up = node_candidates.gave_up or (with_groups is not None and with_groups.gave_up)
        return _no_victims(replace(node_candidates, gave_up=gave_up))
    return (_preempt_now if in_time else _wait_for_grace)(node_candidates, node_candidates.best)


def find_node_candidates(attempt: ReclaimAttempt) -> tuple[NodeCandidates, bool]:
    """Find victims in the first group of queues that makes room; return also whether they may be preempted now.

    If no group makes room while every queue keeps what it deserves, queues may end below that. If the usual order of
    victims finds no allowed set even then, other sets are tried. If nothing helps, the last group is returned.
    """
    tried: list[tuple[NodeCandidates, bool]] = []
    for candidates, in_time in _candidate_groups(attempt):
        tried.append((search_nodes(attempt, candidates), in_time))
        if tried[-1][0].best is not None:
            return tried[-1]
    for search_again in (search_below_deserved, search_other_sets):
        for number, (node_candidates, in_time) in enumerate(tried):
            tried[number] = search_again(node_candidates), in_time
            if tried[number][0].best is not None:
                return tried[number]
    return tried[-1] if tried else (search_nodes(attempt, Candidates(attempt)), False)


def _candidate_groups(attempt: ReclaimAttempt) -> Iterator[tuple[Candidates, bool]]:
    """Yield groups of candidates to try, each with whether they may be preempted now.

    The groups are the queues whose grace periods are over, the queues with a reclaim notice, and all queues.
    """
    every = Candidates(attempt)
    if attempt.outranks:
        yield every, True
        return
    past_grace = every.queues & attempt.past_grace
    tried = np.zeros_like(past_grace)
    for queues in (past_grace, every.queues & attempt.notified, every.queues):
        if not np.array_equal(queues, tried):
            yield every.of(queues), queues is past_grace
        tried = queues


def _preempt_now(node_candidates: NodeCandidates, best: NodeVictims) -> Decision:
    attempt = node_candidates.attempt
    return _answer(
        attempt,
        Outcome.PREEMPT,
        Reason.HIGH_PRIORITY if attempt.outranks else Reason.BELOW_DESERVED,
        node=None if best.place is None else attempt.nodes.columns.nodes[best.place].name,
        victims=tuple(_victim(attempt, pod) for pod in best.victims),
        notices=() if attempt.outranks else notices_of(node_candidates.candidates, best.victims),
        trace=trace_of(attempt, node_candidates, best, coming=True),
    )


def _reclaim_units(attempt: ReclaimAttempt, found: FoundPlan, plan: ReclaimPlan) -> Decision:
    """Return the decision to evict units, among them perhaps whole groups with pods on other nodes, now or later."""
    (terms,) = found.terms.values()
    victims = [pod for unit in plan.units for pod in unit.victims]
    notices = () if attempt.outranks else notices_of(terms.candidates, victims)
    if not found.in_time:
        queue = last_due(attempt, victims)
        trace = trace_of_units((terms,), plan, coming=False)
        return _answer(
            attempt,
            Outcome.NOT_ELIGIBLE,
            Reason.GRACE,
            detail=queue,
            due=attempt.due_ms(queue),
            notices=notices,
            trace=trace,
        )
    ((_pod, place),) = plan.placed
    return _answer(
        attempt,
        Outcome.PREEMPT,
        Reason.HIGH_PRIORITY if attempt.outranks else Reason.BELOW_DESERVED,
        node=attempt.nodes.columns.nodes[place].name,
        victims=verdicts(plan),
        notices=notices,
        trace=trace_of_units((terms,), plan, coming=True),
    )


def _victim(attempt: ReclaimAttempt, pod: Pod) -> PodVerdict:
    reason = PodReason.LOWER_PRIORITY if attempt.outranks else PodReason.OVER_DESERVED
    return PodVerdict(pod=PodFacts.of(pod), reason=reason, detail=pod.queue or "")


def _wait_for_grace(node_candidates: NodeCandidates, best: NodeVictims) -> Decision:
    attempt = node_candidates.attempt
    queue = last_due(attempt, best.victims)
    return _answer(
        attempt,
        Outcome.NOT_ELIGIBLE,
        Reason.GRACE,
        detail=queue,
        due=attempt.due_ms(queue),
        notices=notices_of(node_candidates.candidates, best.victims),
        trace=trace_of(attempt, node_candidates, best, coming=False),
    )


def _no_victims(node_candidates: NodeCandidates) -> Decision:
    attempt = node_candidates.attempt
    trace = trace_of(attempt, node_candidates, coming=False)
    if node_candidates.gave_up:
        return _answer(attempt, Outcome.SEARCH_LIMIT, Reason.SEARCH_LIMIT, trace=trace)
    reason = Reason.NO_ROOM if node_candidates.candidates.count else Reason.NO_CANDIDATES
    return _answer(attempt, Outcome.NO_CANDIDATE, reason, trace=trace)


def _answer(
    attempt: ReclaimAttempt,
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
        ask=PodFacts.of(attempt.ask),
        outcome=outcome,
        reason=reason,
        detail=detail,
        due_ms=due,
        node=node,
        victims=victims,
        notices=notices,
        trace=trace_of(attempt, coming=False) if trace is None else trace,
    )
