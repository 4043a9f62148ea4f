"""The trace of a decision of policy ``fence``.

It has full details of the chosen node and the next best nodes. The remaining nodes are only counted.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
from msgspec import UNSET

from engine.feasibility import FITS
from engine.model.columns.node_columns import Rows
from engine.model.columns.pod_fields import sort_key
from engine.model.decision import JointLimit, NodeReason, NodeVerdict, PodFacts, PodReason, PodVerdict, Trace
from engine.model.objects import Pod
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.fence.candidates import ROW_GUARDS, BoundPodKinds, candidate_flags, exclusion_guards
from engine.policies.fence.joint_limits import limit_on
from engine.policies.fence.node_candidates import WHY
from engine.policies.fence.selection import NODES_IN_FULL, Selection

_MAX_NODES_WITH_LIMIT = 3
"""The number of nodes for which the joint limit is computed. It is slow, and explanations name only the first nodes."""


def trace_of(selection: Selection) -> Trace:
    """Return the trace of a decision, whether a node was chosen or not."""
    attempt = selection.attempt
    nodes = _node_counts(selection)
    return Trace(
        fence=selection.claim.fence or "",
        entitling=selection.claim.entitling,
        queues=attempt.usage.figures(attempt.leaf, attempt.ask.requests, selection.pods(selection.victims)),
        reprieved=tuple(_reprieved(selection)),
        excluded=tuple(_excluded(selection, selection.best)) if selection.best is not None else (),
        nodes=tuple(_nodes_not_chosen(selection)),
        candidates=selection.candidates,
        excluded_counts={str(reason): count for reason, count in sorted(selection.excluded.items())},
        node_counts={str(reason): count for reason, count in sorted(nodes.items()) if count},
    )


def _reprieved(selection: Selection) -> Iterator[PodVerdict]:
    """Yield the candidates of the chosen node that are kept."""
    pods = selection.pods(row for row, _ in selection.reprieved)
    for pod, (row, reason) in zip(pods, selection.reprieved, strict=True):
        yield PodVerdict(
            pod=PodFacts.of(pod), reason=reason, detail=_reprieve_detail(selection.attempt, pod, row, reason)
        )


def _reprieve_detail(attempt: PreemptionAttempt, pod: Pod, row: int, reason: PodReason) -> str:
    return attempt.restraints.budgets_of(row) if reason is PodReason.OVER_BUDGET else pod.queue or ""


def _excluded(selection: Selection, place: int) -> Iterator[PodVerdict]:
    """Yield the pods of the chosen node that are no candidates, in the order of their names."""
    attempt, node_candidates = selection.attempt, selection.node_candidates
    pod_kinds = BoundPodKinds(attempt.pod_index, selection.claim, node_candidates.preemptable_amounts)
    columns, guards = attempt.columns, tuple(exclusion_guards().items())
    on_node = columns.rows(place)
    of_row = {row: why for why, guard in reversed(ROW_GUARDS.items()) for row in _within(guard(attempt), on_node)}
    by_name = sorted(range(len(on_node)), key=lambda within: sort_key(columns.on(place)[within]))
    rows = on_node.start + np.array(by_name, np.intp)
    numbers = node_candidates.reasons[attempt.pod_index.kinds.of[rows]]
    for row, number, pod in zip(rows.tolist(), numbers.tolist(), selection.pods(rows.tolist()), strict=True):
        if row in of_row:
            whole = of_row[row] is PodReason.WHOLE_GROUP
            detail = pod.scheduling_group if whole else attempt.restraints.detail(row)
            yield PodVerdict(pod=PodFacts.of(pod), reason=of_row[row], detail=detail)
        elif number >= 0:
            reason, guard = guards[number]
            yield PodVerdict(pod=PodFacts.of(pod), reason=reason, detail=guard.detail(pod_kinds, pod))


def _within(rows: Rows, bounds: range) -> list[int]:
    within: list[int] = rows[(rows >= bounds.start) & (rows < bounds.stop)].tolist()
    return within


def _nodes_not_chosen(selection: Selection) -> Iterator[NodeVerdict]:
    """Yield the nodes that were not chosen: the next best ones, cheapest first, then those without victims.

    Of the nodes without victims, those come first whose pods may not be evicted together.
    """
    costs, nodes = selection.node_candidates.victims.costs, selection.attempt.columns.nodes
    dearer = selection.cheapest[1:]
    lost = costs.loses(dearer, int(selection.cheapest[0])) if len(dearer) else []
    for place, victims, criterion in zip(
        costs.places[dearer].tolist(), costs.counts[dearer].tolist(), lost, strict=True
    ):
        yield NodeVerdict(node=nodes[place].name, reason=NodeReason.DEARER, detail=criterion, victims=victims)
    if len(dearer) < NODES_IN_FULL:
        limited, others = _nodes_with_limit(selection), np.flatnonzero(selection.without_victims)
        listed = np.concatenate([limited, others[~np.isin(others, limited)]])[: NODES_IN_FULL - len(dearer)]
        limits = _joint_limits(selection, limited[: min(_MAX_NODES_WITH_LIMIT, len(listed))])
        for place in listed.tolist():
            yield _verdict(selection, place, limits)


def _nodes_with_limit(selection: Selection) -> Rows:
    """Return the places of nodes that have no victims although the evictable pods would make enough room.

    Each of these pods may be evicted alone, but not all of them together.
    """
    node_candidates = selection.node_candidates
    enough = (node_candidates.why == WHY.index(NodeReason.NOT_ENOUGH)) & (node_candidates.refusing == FITS)
    return np.flatnonzero(selection.without_victims & ~selection.attempt.usage.reserved & enough)


def _joint_limits(selection: Selection, places: Rows) -> dict[int, JointLimit]:
    """Return for some nodes (by place) what forbids the eviction of their candidates together."""
    if not len(places):
        return {}
    attempt, node_candidates = selection.attempt, selection.node_candidates
    may_go = candidate_flags(attempt, node_candidates.reasons)
    limits = {place: limit_on(attempt, node_candidates, may_go, place) for place in places.tolist()}
    return {place: limit for place, limit in limits.items() if limit}


def _verdict(selection: Selection, place: int, limits: Mapping[int, JointLimit]) -> NodeVerdict:
    """Return why a node has no victims."""
    attempt, node_candidates = selection.attempt, selection.node_candidates
    name, reason = attempt.columns.nodes[place].name, node_candidates.reason(place)
    if attempt.usage.reserved[place]:
        return NodeVerdict(node=name, reason=NodeReason.RESERVED)
    if reason is NodeReason.NOT_ENOUGH:
        victims = int(node_candidates.counts[place])
        return NodeVerdict(node=name, reason=reason, victims=victims, limit=limits.get(place, UNSET))
    if reason in (NodeReason.NOT_READY, NodeReason.NO_CANDIDATES):
        return NodeVerdict(node=name, reason=reason)
    refusal = attempt.feasibility.refusal(int(node_candidates.refusing[place]), place)
    return NodeVerdict(node=name, reason=reason, detail=refusal.detail)


def _node_counts(selection: Selection) -> Counter[NodeReason]:
    """Count the reasons why nodes were not chosen, as if every node had its own verdict."""
    reserved = selection.attempt.usage.reserved
    counts = Counter({NodeReason.DEARER: max(0, selection.useful - 1)})
    counts[NodeReason.RESERVED] += int(np.count_nonzero(selection.without_victims & reserved))
    for reason, count in zip(WHY, selection.node_candidates.count_reasons(reserved).tolist(), strict=True):
        counts[reason] += count
    return counts
