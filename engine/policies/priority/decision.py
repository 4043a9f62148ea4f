"""Policy ``priority``: kube-scheduler's default preemption.

Source: the plugin DefaultPreemption of kube-scheduler 1.36 and its package preemption, looking at all nodes.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from engine.feasibility import unsupported_rules
from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason, Trace
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import Units, units_of
from engine.policies.common.safeguards import within_safeguards
from engine.policies.priority.attempt import PriorityAttempt
from engine.policies.priority.node_candidates import NodeCandidates, find_node_candidates
from engine.policies.priority.parameters import Parameters
from engine.policies.priority.trace import trace_of

POLICY = "priority"
DIALECT = "kube-scheduler"
BESIDE_GROUPS = "kube-scheduler-1.37"
"""The dialect in which groups of pods are scheduled and preempted together."""


def decide(snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters = Parameters()) -> Decision:  # noqa: B008 - frozen
    """Return which pods are evicted, on which node, for ``ask`` (a pending pod of the snapshot), or why none are.

    As kube-scheduler decides, unless the snapshot has safeguards: then among the victims that these let go.
    """
    snapshot = snapshot.without_reservation(ask.uid)
    regardless = parameters.budgets == "counted"
    return within_safeguards(snapshot, tree, ask, lambda at: _decide(at, ask), regardless=regardless)


def decide_beside_groups(snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters) -> Decision:
    """Return the same as kube-scheduler 1.37 decides with feature gate GenericWorkload: pods are evicted by units."""
    snapshot = snapshot.without_reservation(ask.uid)
    regardless = parameters.budgets == "counted"
    decision = within_safeguards(snapshot, tree, ask, lambda at: _decide(at, ask, units_of(at)), regardless=regardless)
    return msgspec.structs.replace(decision, dialect=BESIDE_GROUPS)


def _decide(snapshot: Snapshot, ask: Pod, units: Units | None = None) -> Decision:
    undecidable = _undecidable(snapshot, ask)
    if undecidable is not None:
        return undecidable
    attempt = PriorityAttempt(snapshot, ask, units)
    return _rejected(attempt) or _fits_already(attempt) or _not_eligible(attempt) or _preempt(attempt)


def _undecidable(snapshot: Snapshot, ask: Pod) -> Decision | None:
    """Return a decision with the reason why nothing can be decided for the pending pod, None if it can."""
    if rules := unsupported_rules(snapshot, ask):
        return _answer(ask, Outcome.NOT_ELIGIBLE, Reason.UNREAD_RULES, detail=", ".join(rules))
    if ask.unread:
        return _answer(ask, Outcome.NOT_ELIGIBLE, Reason.UNREAD)
    return None


def _rejected(attempt: PriorityAttempt) -> Decision | None:
    """Return a decision if the pending pod is rejected before any node is examined, None if it is not.

    Source: PreFilter of kube-scheduler's plugins VolumeBinding and NodeAffinity.
    """
    if not attempt.nowhere:
        return None
    trace = trace_of(find_node_candidates(attempt))
    return _answer(attempt.ask, Outcome.NO_CANDIDATE, Reason.NO_ROOM, trace=trace)


def _fits_already(attempt: PriorityAttempt) -> Decision | None:
    """Return a decision with the node on which the pending pod fits, None if there is none.

    It is the node to which the pod is nominated if it fits there, else the first one.

    Source: Scheduler.evaluateNominatedNode of kube-scheduler (schedule_one.go).
    """
    if not attempt.fits.any():
        return None
    place = attempt.columns.place.get(attempt.ask.nominated_node)
    if place is None or not attempt.fits[place]:
        place = int(np.argmax(attempt.fits))
    return _answer(attempt.ask, Outcome.FITS, Reason.FITS, node=attempt.columns.nodes[place].name)


def _not_eligible(attempt: PriorityAttempt) -> Decision | None:
    """Return a decision with the reason why the pending pod may not preempt, None if it may.

    Source: DefaultPreemption.PodEligibleToPreemptOthers of kube-scheduler.
    """
    ask = attempt.ask
    if ask.never_preempts:
        reason, detail = Reason.NEVER, ask.priority_class
    elif attempt.waits_for_victims():
        reason, detail = Reason.WAITING_FOR_VICTIMS, ask.nominated_node
    else:
        return None
    trace = trace_of(find_node_candidates(attempt))
    return _answer(ask, Outcome.NOT_ELIGIBLE, reason, detail=detail, trace=trace)


def _preempt(attempt: PriorityAttempt) -> Decision:
    """Find the victims on each node, then choose the node.

    Source: Evaluator.Preempt of kube-scheduler (framework/preemption/preemption.go).
    """
    ask, node_candidates = attempt.ask, find_node_candidates(attempt)
    trace, best = trace_of(node_candidates), node_candidates.best
    if best is not None:
        node, victims = attempt.columns.nodes[best].name, tuple(_victims(node_candidates, best))
        return _answer(ask, Outcome.PREEMPT, Reason.LOWER_PRIORITY, node=node, victims=victims, trace=trace)
    if node_candidates.gave_up:
        return _answer(ask, Outcome.SEARCH_LIMIT, Reason.SEARCH_LIMIT, trace=trace)
    reason = Reason.NO_ROOM if attempt.candidates.any() else Reason.NO_CANDIDATES
    return _answer(ask, Outcome.NO_CANDIDATE, reason, trace=trace)


def _victims(node_candidates: NodeCandidates, place: int) -> Iterator[PodVerdict]:
    """Yield the victims on the chosen node, each with the budgets that its eviction violates."""
    attempt = node_candidates.attempt
    overdrawn = node_candidates.overdrawn(place)
    for row in node_candidates.victims_on(place):
        pod = attempt.columns.pods[row]
        over = ", ".join(overdrawn.get(row, ()))
        reason = PodReason.OVER_BUDGET if over else PodReason.LOWER_PRIORITY
        yield PodVerdict(pod=PodFacts.of(pod), reason=PodReason.TERMINATING if pod.terminating else reason, detail=over)


def _answer(
    ask: Pod,
    outcome: Outcome,
    reason: Reason,
    *,
    detail: str = "",
    node: str | None = None,
    victims: tuple[PodVerdict, ...] = (),
    trace: Trace = Trace(),  # noqa: B008 - frozen
) -> Decision:
    return Decision(
        policy=POLICY,
        dialect=DIALECT,
        ask=PodFacts.of(ask),
        outcome=outcome,
        reason=reason,
        detail=detail,
        node=node,
        victims=victims,
        trace=trace,
    )


def figures(snapshot: Snapshot, ask: Pod, outcome: Outcome, units: Units | None = None) -> dict[str, Any]:
    """Return where the pod fits and, where it needs victims, those of every node with the budgets they violate.

    ``units``: what is evicted together; None: every pod is evicted alone.
    """
    attempt = PriorityAttempt(snapshot, ask, units)
    names = [node.name for node in snapshot.nodes]
    candidates: dict[str, Any] = {}
    if outcome in (Outcome.PREEMPT, Outcome.NO_CANDIDATE):
        node_candidates = find_node_candidates(attempt)
        costs = node_candidates.costs
        for place, violations in zip(costs.places, costs.violations, strict=True):
            victims = [attempt.columns.pods[row].key for row in node_candidates.victims_on(int(place))]
            candidates[names[place]] = {"victims": victims, "pdb_violations": int(violations)}
    return {"fits_on": [names[place] for place in np.flatnonzero(attempt.fits)], "candidates": candidates}
