"""The node and the victims that policy ``fence`` chooses, and the trace that explains the choice.

The trace has full details of the chosen node and the next best nodes. The remaining nodes are only counted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np
from msgspec import UNSET

from engine.feasibility import FITS
from engine.model.columns.node_columns import Flags, Rows
from engine.model.decision import NodeReason, NodeVerdict, PodFacts, PodReason, PodVerdict, Reason, Trace
from engine.model.objects import Pod
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.fence.candidates import ROW_GUARDS, BoundPodKinds, GuaranteeClaim, exclusion_guards
from engine.policies.fence.joint_limits import limit_on
from engine.policies.fence.node_candidates import WHY, NodeCandidates

_NODES_IN_FULL = 20
"""The number of nodes that were not chosen which a trace lists individually. The rest are counted."""
_MAX_NODES_WITH_LIMIT = 3
"""The number of nodes for which the joint limit is computed. It is slow, and explanations name only the first nodes."""


class Selection:
    """The cheapest node for a pending pod, with its victims, among the candidates of all nodes."""

    def __init__(self, attempt: PreemptionAttempt, claim: GuaranteeClaim, node_candidates: NodeCandidates) -> None:
        self.attempt, self.claim, self.node_candidates = attempt, claim, node_candidates
        self.ranked = node_candidates.costs.ranked(node_candidates.blocked(attempt))
        """The nodes with victims, cheapest first, as indexes into the costs."""
        self.places = node_candidates.costs.places[self.ranked]
        """The places of the ranked nodes, cheapest first."""
        self.best = int(self.places[0]) if len(self.places) else None
        """The place of the chosen node, None if there is none."""
        self.victims, self.passed = node_candidates.became.on(self.best) if self.best is not None else ([], [])
        """The victims (rows) on the chosen node, and the candidates there that are kept, with reasons."""
        self.counts = self._counts()
        """PodReason -> the number of bound pods that it excludes from being candidates."""
        self.candidates = len(attempt.columns.pods) - sum(self.counts.values())

    def _counts(self) -> dict[PodReason, int]:
        attempt, reasons = self.attempt, (None, *exclusion_guards())
        counts: dict[PodReason, int] = {}
        out = np.zeros(0, np.intp)
        for reason, guard in ROW_GUARDS.items():
            rows = guard(attempt)
            if not len(rows):
                continue
            rows = rows[~np.isin(rows, out)] if len(out) else rows
            counts[reason] = len(rows)
            out = np.concatenate([out, rows]) if len(out) else rows
        others = self.node_candidates.reasons[attempt.pod_index.kinds.of[out]]
        left = self.node_candidates.excluded - np.bincount(others + 1, minlength=len(reasons))
        counts |= {reason: count for reason, count in zip(reasons, left.tolist(), strict=True) if reason is not None}
        return {reason: count for reason, count in counts.items() if count}

    def pods(self, rows: Iterable[int]) -> list[Pod]:
        """Return pods of the chosen node by their rows, an empty list if no node was chosen."""
        if self.best is None:
            return []
        columns = self.attempt.columns
        here, first = columns.on(self.best), columns.rows(self.best).start
        return [here[row - first] for row in rows]

    @cached_property
    def useless(self) -> Flags:
        """Return for each node (by place) whether it is in scope but has no victims."""
        useless = self.attempt.scope.copy()
        useless[self.places] = False
        return useless

    @cached_property
    def rows(self) -> Rows:
        """Return the rows of the candidates, node by node."""
        return self.node_candidates.candidates(self.attempt)

    @cached_property
    def limited(self) -> Rows:
        """Return the places of nodes that have no victims although the evictable pods would make enough room.

        Each of these pods may be evicted alone, but not all of them together.
        """
        node_candidates = self.node_candidates
        together = (node_candidates.why == WHY.index(NodeReason.NOT_ENOUGH)) & (node_candidates.refusing == FITS)
        return np.flatnonzero(self.useless & ~self.attempt.usage.kept & together)

    def trace(self) -> Trace:
        """Return the trace of the decision, whether a node was chosen or not."""
        attempt = self.attempt
        stay = self.pods(row for row, _ in self.passed)
        nodes = _node_counts(self)
        return Trace(
            fence=self.claim.fence or "",
            entitling=self.claim.entitling,
            queues=attempt.usage.figures(attempt.leaf, attempt.ask.requests, self.pods(self.victims)),
            reprieved=tuple([_reprieved(attempt, pod, *one) for pod, one in zip(stay, self.passed, strict=True)]),
            excluded=tuple(_excluded(self)) if self.best is not None else (),
            nodes=tuple(_nodes_not_chosen(self)),
            candidates=self.candidates,
            excluded_counts={str(reason): count for reason, count in sorted(self.counts.items())},
            node_counts={str(reason): count for reason, count in sorted(nodes.items()) if count},
        )

    def why_none(self) -> tuple[Reason, str]:
        """Return the reason, and its detail, why there are no victims."""
        if self.candidates:
            return Reason.NO_ROOM, ""
        beyond = {PodReason.OUTSIDE_FENCE, PodReason.SAME_QUEUE}
        if self.claim.fence and beyond.issuperset(self.counts):
            return Reason.FENCE, self.claim.fence
        reasons = [reason for reason in self.counts if reason is not PodReason.SAME_QUEUE]
        return Reason.NO_CANDIDATES, str(max(reasons, key=self.counts.__getitem__)) if reasons else ""


def _reprieved(attempt: PreemptionAttempt, pod: Pod, row: int, reason: PodReason) -> PodVerdict:
    detail = attempt.restraints.budgets_of(row) if reason is PodReason.OVER_BUDGET else pod.queue or ""
    return PodVerdict(pod=PodFacts.of(pod), reason=reason, detail=detail)


def _excluded(selection: Selection) -> Iterator[PodVerdict]:
    """Yield the pods of the chosen node that are no candidates, in the order of their names."""
    attempt, node_candidates = selection.attempt, selection.node_candidates
    pod_kinds = BoundPodKinds(attempt.pod_index, selection.claim, node_candidates.preemptable_amounts)
    columns, guards = attempt.columns, tuple(exclusion_guards().items())
    rows = columns.rows(selection.best or 0)
    of_row = {row: reason for reason, guard in reversed(ROW_GUARDS.items()) for row in _among(guard(attempt), rows)}
    here = rows.start + np.argsort(columns.pod_places[rows.start : rows.stop])
    numbers = node_candidates.reasons[attempt.pod_index.kinds.of[here]]
    for row, number, pod in zip(here.tolist(), numbers.tolist(), selection.pods(here.tolist()), strict=True):
        if row in of_row:
            yield PodVerdict(pod=PodFacts.of(pod), reason=of_row[row], detail=attempt.restraints.detail(row))
        elif number >= 0:
            reason, guard = guards[number]
            yield PodVerdict(pod=PodFacts.of(pod), reason=reason, detail=guard.detail(pod_kinds, pod))


def _among(rows: Rows, these: range) -> list[int]:
    among: list[int] = rows[(rows >= these.start) & (rows < these.stop)].tolist()
    return among


def _nodes_not_chosen(selection: Selection) -> Iterator[NodeVerdict]:
    """Yield the nodes that were not chosen: the next best ones, cheapest first, then those without victims.

    Of the nodes without victims, those come first whose pods may not be evicted together.
    """
    costs, nodes = selection.node_candidates.costs, selection.attempt.columns.nodes
    dearer = selection.ranked[1 : _NODES_IN_FULL + 1]
    lost = costs.loses(dearer, int(selection.ranked[0])) if len(dearer) else []
    known = zip(costs.places[dearer].tolist(), costs.counts[dearer].tolist(), lost, strict=True)
    for place, victims, criterion in known:
        yield NodeVerdict(node=nodes[place].name, reason=NodeReason.DEARER, detail=criterion, victims=victims)
    others = np.flatnonzero(selection.useless)
    others = np.concatenate([selection.limited, others[~np.isin(others, selection.limited)]])
    for place in others[: _NODES_IN_FULL - len(dearer)]:
        yield _verdict(selection, int(place))


def _verdict(selection: Selection, place: int) -> NodeVerdict:
    attempt, node_candidates = selection.attempt, selection.node_candidates
    name, reason = attempt.columns.nodes[place].name, node_candidates.reason(place)
    if attempt.usage.kept[place]:
        return NodeVerdict(node=name, reason=NodeReason.RESERVED)
    if reason is NodeReason.NOT_ENOUGH:
        limited = place in selection.limited[:_MAX_NODES_WITH_LIMIT]
        limit = (limit_on(attempt, node_candidates, selection.rows, place) if limited else None) or UNSET
        return NodeVerdict(node=name, reason=reason, victims=int(node_candidates.counts[place]), limit=limit)
    if reason in (NodeReason.NOT_READY, NodeReason.NO_CANDIDATES):
        return NodeVerdict(node=name, reason=reason)
    return NodeVerdict(
        node=name, reason=reason, detail=attempt.feasibility.refusal(int(node_candidates.refusing[place]), place).detail
    )


def _node_counts(selection: Selection) -> Counter[NodeReason]:
    """Count the reasons why nodes were not chosen, as if every node had its own verdict."""
    node_candidates, kept = selection.node_candidates, selection.attempt.usage.kept
    counts = Counter({NodeReason.DEARER: max(0, len(selection.ranked) - 1)})
    counts[NodeReason.RESERVED] += int(np.count_nonzero(selection.useless & kept))
    times = np.bincount(node_candidates.why[selection.useless & ~kept], minlength=len(WHY)).tolist()
    for reason, count in zip(WHY, times, strict=True):
        counts[reason] += count
    return counts
