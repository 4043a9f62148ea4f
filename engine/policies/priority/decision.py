"""Policy ``priority``: kube-scheduler's default preemption.

Source: the plugin DefaultPreemption of kube-scheduler 1.36 and its package preemption, looking at all nodes.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.feasibility import unsupported_rules
from engine.model.decision import (
    Decision,
    NodeReason,
    NodeVerdict,
    Outcome,
    PodFacts,
    PodReason,
    PodVerdict,
    Reason,
    Trace,
)
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.safeguards import within_safeguards
from engine.policies.priority.node_candidates import NodeCandidates
from engine.policies.priority.parameters import Parameters
from engine.policies.priority.victims import CRITERIA, RANKED

POLICY = "priority"
DIALECT = "kube-scheduler"
_NODES_IN_FULL = RANKED - 1
"""The number of nodes not chosen, the best ones, that a trace names one by one; the rest are counted."""


def decide(snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters = Parameters()) -> Decision:  # noqa: B008 - frozen
    """Return which pods are evicted, on which node, for ``ask`` (a pending pod of the snapshot), or why none are.

    As kube-scheduler decides, unless the snapshot has safeguards: then among the victims that these let go.
    """
    snapshot = snapshot.without_reservation(ask.uid)
    regardless = parameters.budgets == "counted"
    return within_safeguards(snapshot, tree, ask, lambda at: _decide(at, ask), regardless=regardless)


def _decide(snapshot: Snapshot, ask: Pod) -> Decision:
    if rules := unsupported_rules(snapshot, ask):
        return _answer(ask, Outcome.NOT_ELIGIBLE, Reason.UNREAD_RULES, detail=", ".join(rules))
    if ask.unread:
        return _answer(ask, Outcome.NOT_ELIGIBLE, Reason.UNREAD)
    found = NodeCandidates(snapshot, ask)
    if found.nowhere:
        return _answer(ask, Outcome.NO_CANDIDATE, Reason.NO_ROOM, trace=_trace(found))
    if found.fits.any():
        return _answer(ask, Outcome.FITS, Reason.FITS, node=_fitting(found))
    if ask.never_preempts:
        return _answer(ask, Outcome.NOT_ELIGIBLE, Reason.NEVER, detail=ask.priority_class, trace=_trace(found))
    if found.waits_for_victims():
        return _answer(
            ask, Outcome.NOT_ELIGIBLE, Reason.WAITING_FOR_VICTIMS, detail=ask.nominated_node, trace=_trace(found)
        )
    if found.best is None and found.gave_up:
        return _answer(ask, Outcome.SEARCH_LIMIT, Reason.SEARCH_LIMIT, trace=_trace(found))
    if found.best is None:
        reason = Reason.NO_ROOM if found.candidates.any() else Reason.NO_CANDIDATES
        return _answer(ask, Outcome.NO_CANDIDATE, reason, trace=_trace(found))
    return _answer(
        ask,
        Outcome.PREEMPT,
        Reason.LOWER_PRIORITY,
        node=found.columns.nodes[found.best].name,
        victims=tuple(_victims(found, found.best)),
        trace=_trace(found),
    )


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


def _fitting(found: NodeCandidates) -> str:
    """Return the node that the pod is nominated to if it fits there, else the first on which it fits."""
    place = found.columns.place.get(found.ask.nominated_node)
    if place is None or not found.fits[place]:
        place = int(np.argmax(found.fits))
    return found.columns.nodes[place].name


def _victims(found: NodeCandidates, place: int) -> Iterator[PodVerdict]:
    overdrawn = found.budgets.overdrawn(place)
    for row in found.victims_on(place):
        pod = found.columns.pods[row]
        over = ", ".join(overdrawn.get(row, ()))
        reason = PodReason.OVER_BUDGET if over else PodReason.LOWER_PRIORITY
        yield PodVerdict(pod=PodFacts.of(pod), reason=PodReason.TERMINATING if pod.terminating else reason, detail=over)


def _trace(found: NodeCandidates) -> Trace:
    best = found.best
    candidates = int(np.count_nonzero(found.candidates))
    shielded = int(np.count_nonzero(found.lower & found.columns.shielded))
    kept = (PodReason.PAUSED, PodReason.OUTSIDE_SCOPE, PodReason.OVER_BUDGET)
    refused = {reason: _count(found, reason) for reason in kept}
    higher = len(found.columns.pods) - candidates - shielded - sum(refused.values())
    counts = {PodReason.HIGHER_PRIORITY: higher, PodReason.SHIELDED: shielded, **refused}
    return Trace(
        reprieved=tuple(_reprieved(found, best)) if best is not None else (),
        excluded=tuple(_excluded(found, best)) if best is not None else (),
        nodes=tuple(_passed_over(found)),
        candidates=candidates,
        excluded_counts={str(reason): count for reason, count in sorted(counts.items()) if count},
        node_counts=_node_counts(found),
    )


def _count(found: NodeCandidates, reason: PodReason) -> int:
    """Return how many pods could be evicted if it were not for one kind of safeguard."""
    return int(np.count_nonzero(found.refused[found.restraints.rows(reason)]))


def _reprieved(found: NodeCandidates, place: int) -> Iterator[PodVerdict]:
    """Yield the pods that were reprieved, in the order in which they were put back."""
    victims, overdrawn = set(found.victims_on(place)), found.budgets.overdrawn(place)
    for row in found.order_on(place):
        if row not in victims:
            pod = found.columns.pods[row]
            over = ", ".join(overdrawn.get(row, ()))
            yield PodVerdict(pod=PodFacts.of(pod), reason=PodReason.NOT_NEEDED, detail=over)


def _excluded(found: NodeCandidates, place: int) -> Iterator[PodVerdict]:
    for row in found.columns.rows(place):
        if not found.candidates[row]:
            yield _kept_out(found, row)


def _kept_out(found: NodeCandidates, row: int) -> PodVerdict:
    pod = PodFacts.of(found.columns.pods[row])
    if found.refused[row]:
        reason, detail = found.restraints.why(row)
        return PodVerdict(pod=pod, reason=reason, detail=detail)
    if found.lower[row]:
        return PodVerdict(pod=pod, reason=PodReason.SHIELDED, detail=str(found.columns.pods[row].shield))
    return PodVerdict(pod=pod, reason=PodReason.HIGHER_PRIORITY)


def _passed_over(found: NodeCandidates) -> Iterator[NodeVerdict]:
    """Yield the next best nodes, cheapest first, then those on which evictions do not help."""
    dearer = found.costs.ranked[1:]
    for place, criterion, victims in dearer:
        yield NodeVerdict(
            node=found.columns.nodes[place].name,
            reason=NodeReason.DEARER,
            detail=CRITERIA[criterion],
            victims=victims,
        )
    for place in np.flatnonzero(~found.useful & ~found.fits)[: _NODES_IN_FULL - len(dearer)]:
        yield found.verdict(int(place))


def _node_counts(found: NodeCandidates) -> dict[str, int]:
    counts: Counter[str] = Counter()
    counts.update(found.reasons())
    dearer = len(found.costs.places) - 1
    if dearer > 0:
        counts[NodeReason.DEARER] += dearer
    return {str(reason): count for reason, count in sorted(counts.items()) if count}


def figures(snapshot: Snapshot, ask: Pod, outcome: Outcome) -> dict[str, Any]:
    """Return where the pod fits and, where it needs victims, those of every node with the budgets they violate."""
    found = NodeCandidates(snapshot, ask)
    names = [node.name for node in snapshot.nodes]
    candidates: dict[str, Any] = {}
    if outcome in (Outcome.PREEMPT, Outcome.NO_CANDIDATE):
        for place, violations in zip(found.costs.places, found.costs.violations, strict=True):
            victims = [found.columns.pods[row].key for row in found.victims_on(int(place))]
            candidates[names[place]] = {"victims": victims, "pdb_violations": int(violations)}
    return {"fits_on": [names[place] for place in np.flatnonzero(found.fits)], "candidates": candidates}
