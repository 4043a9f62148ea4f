"""The trace of a decision of policy ``priority``.

It has full details of the chosen node and the next best nodes. The remaining nodes are only counted.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from engine.model.decision import NodeReason, NodeVerdict, PodFacts, PodReason, PodVerdict, Trace
from engine.policies.priority.attempt import PriorityAttempt
from engine.policies.priority.node_candidates import NodeCandidates
from engine.policies.priority.victims import CRITERIA, RANKED

_NODES_IN_FULL = RANKED - 1
"""The number of nodes not chosen, the best ones, that a trace names one by one; the rest are counted."""


def trace_of(node_candidates: NodeCandidates) -> Trace:
    """Return the trace of a decision, whether a node was chosen or not."""
    attempt, best = node_candidates.attempt, node_candidates.best
    nodes = count_reasons(node_candidates)
    nodes[NodeReason.DEARER] = max(0, len(node_candidates.costs.places) - 1)
    return Trace(
        reprieved=tuple(_reprieved(node_candidates, best)) if best is not None else (),
        excluded=tuple(_excluded(attempt, best)) if best is not None else (),
        nodes=tuple(_nodes_not_chosen(node_candidates)),
        candidates=int(np.count_nonzero(attempt.candidates)),
        excluded_counts={str(reason): count for reason, count in sorted(_excluded_counts(attempt).items()) if count},
        node_counts={str(reason): count for reason, count in sorted(nodes.items()) if count},
    )


def _reprieved(node_candidates: NodeCandidates, place: int) -> Iterator[PodVerdict]:
    """Yield the pods that were reprieved, in the order in which they were put back."""
    attempt = node_candidates.attempt
    victims, overdrawn = set(node_candidates.victims_on(place)), node_candidates.overdrawn(place)
    for row in node_candidates.order_on(place):
        if row not in victims:
            over = ", ".join(overdrawn.get(row, ()))
            yield PodVerdict(pod=PodFacts.of(attempt.columns.pods[row]), reason=PodReason.NOT_NEEDED, detail=over)


def _excluded(attempt: PriorityAttempt, place: int) -> Iterator[PodVerdict]:
    """Yield the pods of the chosen node that are no candidates."""
    for row in attempt.columns.rows(place):
        if not attempt.candidates[row]:
            yield _exclusion(attempt, row)


def _exclusion(attempt: PriorityAttempt, row: int) -> PodVerdict:
    """Return why a pod is no candidate."""
    pod = PodFacts.of(attempt.columns.pods[row])
    if attempt.refused[row]:
        reason, detail = attempt.restraints.why(row)
        return PodVerdict(pod=pod, reason=reason, detail=detail)
    if attempt.lower[row]:
        return PodVerdict(pod=pod, reason=PodReason.SHIELDED, detail=str(attempt.columns.pods[row].shield))
    return PodVerdict(pod=pod, reason=PodReason.HIGHER_PRIORITY)


def _excluded_counts(attempt: PriorityAttempt) -> dict[PodReason, int]:
    """Count the pods that are no candidates by reason."""
    candidates = int(np.count_nonzero(attempt.candidates))
    shielded = int(np.count_nonzero(attempt.lower & attempt.columns.shielded))
    refused = {
        reason: int(np.count_nonzero(attempt.refused[attempt.restraints.rows(reason)]))
        for reason in (PodReason.PAUSED, PodReason.OUTSIDE_SCOPE, PodReason.OVER_BUDGET)
    }
    higher = len(attempt.columns.pods) - candidates - shielded - sum(refused.values())
    return {PodReason.HIGHER_PRIORITY: higher, PodReason.SHIELDED: shielded, **refused}


def _nodes_not_chosen(node_candidates: NodeCandidates) -> Iterator[NodeVerdict]:
    """Yield the next best nodes, cheapest first, then those on which evictions do not help."""
    attempt, dearer = node_candidates.attempt, node_candidates.costs.ranked[1:]
    for place, criterion, victims in dearer:
        name = attempt.columns.nodes[place].name
        yield NodeVerdict(node=name, reason=NodeReason.DEARER, detail=CRITERIA[criterion], victims=victims)
    for place in np.flatnonzero(~node_candidates.useful & ~attempt.fits)[: _NODES_IN_FULL - len(dearer)].tolist():
        yield node_verdict(attempt, place)


def node_verdict(attempt: PriorityAttempt, place: int) -> NodeVerdict:
    """Return why a node has no victims."""
    node, candidates = attempt.columns.nodes[place].name, int(attempt.departing.counts[place])
    if attempt.reserved[place]:
        return NodeVerdict(node=node, reason=NodeReason.RESERVED)
    if not attempt.curable[place]:
        refusal = attempt.feasibility.refusal(int(attempt.refusing[place]), place)
        return NodeVerdict(node=node, reason=refusal.reason, detail=refusal.detail)
    if not candidates:
        return NodeVerdict(node=node, reason=NodeReason.NO_CANDIDATES)
    if attempt.can_make_room[place]:
        return NodeVerdict(node=node, reason=NodeReason.NOT_ENOUGH, victims=candidates)
    refusal = attempt.feasibility.refusal(int(attempt.refusing_without[place]), place)
    return NodeVerdict(node=node, reason=refusal.reason, detail=refusal.detail, victims=candidates)


def count_reasons(node_candidates: NodeCandidates) -> Counter[NodeReason]:
    """Count the nodes without victims by reason, as if every node had its own verdict."""
    attempt = node_candidates.attempt
    left = ~node_candidates.useful & ~attempt.fits
    counts = Counter[NodeReason]()
    no_candidates = attempt.curable & (attempt.departing.counts == 0)
    for reason, places in (
        (NodeReason.RESERVED, attempt.reserved),
        (NodeReason.NO_CANDIDATES, no_candidates),
        (NodeReason.NOT_ENOUGH, attempt.can_make_room),
    ):
        counts[reason] = int(np.count_nonzero(left & places))
        left = left & ~places
    refusing = attempt.refusing
    if left.any():
        refusing = np.where(attempt.curable, attempt.refusing_without, refusing)
    for number, count in enumerate(np.bincount(refusing[left] + 1)[1:].tolist()):
        if count:
            counts[attempt.feasibility.checks[number].reason] += count
    return counts
