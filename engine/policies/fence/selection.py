"""The node and the victims that policy ``fence`` takes, and the trace of that.

The trace is in full for the chosen node and the best others; the rest are counted.
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
from engine.policies.fence.candidates import ROW_GUARDS, BoundPodKinds, GuaranteeClaim, excluding
from engine.policies.fence.joint_limits import limit_on
from engine.policies.fence.node_candidates import WHY, NodeCandidates

_NODES_IN_FULL = 20
"""So many of the best nodes that were passed over are kept one by one; the rest are counted."""
_LIMITS_TOLD = 3
"""The limit is worked out for so many nodes: it takes its time, and sentences name the first."""


class Selection:
    """The cheapest node for an ask with its victims, among the candidates of all nodes."""

    def __init__(self, attempt: PreemptionAttempt, claim: GuaranteeClaim, node_candidates: NodeCandidates) -> None:
        self.attempt, self.claim, self.node_candidates = attempt, claim, node_candidates
        self.ranked = node_candidates.costs.ranked(node_candidates.blocked(attempt))
        """The nodes with victims, cheapest first, by their number among the costs."""
        self.places = node_candidates.costs.places[self.ranked]
        """The same by their places."""
        self.best = int(self.places[0]) if len(self.places) else None
        """The place of the node to take; None where there is none."""
        self.victims, self.passed = node_candidates.became.on(self.best) if self.best is not None else ([], [])
        """There: the victims (rows), and who may stay and why."""
        self.counts = self._counts()
        """PodReason -> number of bound pods that are no candidates."""
        self.candidates = len(attempt.columns.pods) - sum(self.counts.values())

    def _counts(self) -> dict[PodReason, int]:
        attempt, reasons = self.attempt, (None, *excluding())
        counts: dict[PodReason, int] = {}
        out = np.zeros(0, np.intp)
        for reason, guard in ROW_GUARDS.items():
            rows = guard(attempt)
            if not len(rows):
                continue
            rows = rows[~np.isin(rows, out)] if len(out) else rows
            counts[reason] = len(rows)
            out = np.concatenate([out, rows]) if len(out) else rows
        others = self.node_candidates.reasons[attempt.ground.kinds.of[out]]
        left = self.node_candidates.excluded - np.bincount(others + 1, minlength=len(reasons))
        counts |= {reason: count for reason, count in zip(reasons, left.tolist(), strict=True) if reason is not None}
        return {reason: count for reason, count in counts.items() if count}

    def pods(self, rows: Iterable[int]) -> list[Pod]:
        """Pods of the best node by their rows; none where there is no such node."""
        if self.best is None:
            return []
        columns = self.attempt.columns
        here, first = columns.on(self.best), columns.rows(self.best).start
        return [here[row - first] for row in rows]

    @cached_property
    def useless(self) -> Flags:
        """Place -> whether nobody would go there."""
        useless = self.attempt.scope.copy()
        useless[self.places] = False
        return useless

    @cached_property
    def rows(self) -> Rows:
        """The candidates, node by node."""
        return self.node_candidates.candidates(self.attempt)

    @cached_property
    def limited(self) -> Rows:
        """The places where nobody would go, though the ask could run there with all gone who may go one by one."""
        node_candidates = self.node_candidates
        together = (node_candidates.why == WHY.index(NodeReason.NOT_ENOUGH)) & (node_candidates.refusing == FITS)
        return np.flatnonzero(self.useless & ~self.attempt.usage.kept & together)

    def trace(self) -> Trace:
        """The trace of the decision for the best node, or for none."""
        attempt = self.attempt
        stay = self.pods(row for row, _ in self.passed)
        nodes = _node_counts(self)
        return Trace(
            fence=self.claim.fence or "",
            entitling=self.claim.entitling,
            queues=attempt.usage.figures(attempt.leaf, attempt.ask.requests, self.pods(self.victims)),
            reprieved=tuple([_stays(attempt, pod, *one) for pod, one in zip(stay, self.passed, strict=True)]),
            excluded=tuple(_excluded(self)) if self.best is not None else (),
            nodes=tuple(_passed_over(self)),
            candidates=self.candidates,
            excluded_counts={str(reason): count for reason, count in sorted(self.counts.items())},
            node_counts={str(reason): count for reason, count in sorted(nodes.items()) if count},
        )

    def why_none(self) -> tuple[Reason, str]:
        """Why nobody goes."""
        if self.candidates:
            return Reason.NO_ROOM, ""
        beyond = {PodReason.OUTSIDE_FENCE, PodReason.SAME_QUEUE}
        if self.claim.fence and beyond.issuperset(self.counts):
            return Reason.FENCE, self.claim.fence
        told = [reason for reason in self.counts if reason is not PodReason.SAME_QUEUE]
        return Reason.NO_CANDIDATES, str(max(told, key=self.counts.__getitem__)) if told else ""


def _stays(attempt: PreemptionAttempt, pod: Pod, row: int, reason: PodReason) -> PodVerdict:
    detail = attempt.restraints.budgets_of(row) if reason is PodReason.OVER_BUDGET else pod.queue or ""
    return PodVerdict(pod=PodFacts.of(pod), reason=reason, detail=detail)


def _excluded(told: Selection) -> Iterator[PodVerdict]:
    """The pods of the chosen node that never were candidates, in the order of names."""
    attempt, node_candidates = told.attempt, told.node_candidates
    field = BoundPodKinds(attempt.ground, told.claim, node_candidates.spared)
    columns, guards = attempt.columns, tuple(excluding().items())
    rows = columns.rows(told.best or 0)
    of_row = {row: reason for reason, guard in reversed(ROW_GUARDS.items()) for row in _among(guard(attempt), rows)}
    here = rows.start + np.argsort(columns.told[rows.start : rows.stop])
    numbers = node_candidates.reasons[attempt.ground.kinds.of[here]]
    for row, number, pod in zip(here.tolist(), numbers.tolist(), told.pods(here.tolist()), strict=True):
        if row in of_row:
            yield PodVerdict(pod=PodFacts.of(pod), reason=of_row[row], detail=attempt.restraints.detail(row))
        elif number >= 0:
            reason, guard = guards[number]
            yield PodVerdict(pod=PodFacts.of(pod), reason=reason, detail=guard.detail(field, pod))


def _among(rows: Rows, these: range) -> list[int]:
    among: list[int] = rows[(rows >= these.start) & (rows < these.stop)].tolist()
    return among


def _passed_over(told: Selection) -> Iterator[NodeVerdict]:
    """The next best nodes, cheapest first, then those of no use; of these first where pods may not go together."""
    costs, nodes = told.node_candidates.costs, told.attempt.columns.nodes
    dearer = told.ranked[1 : _NODES_IN_FULL + 1]
    lost = costs.loses(dearer, int(told.ranked[0])) if len(dearer) else []
    known = zip(costs.places[dearer].tolist(), costs.counts[dearer].tolist(), lost, strict=True)
    for place, victims, criterion in known:
        yield NodeVerdict(node=nodes[place].name, reason=NodeReason.DEARER, detail=criterion, victims=victims)
    others = np.flatnonzero(told.useless)
    others = np.concatenate([told.limited, others[~np.isin(others, told.limited)]])
    for place in others[: _NODES_IN_FULL - len(dearer)]:
        yield _verdict(told, int(place))


def _verdict(told: Selection, place: int) -> NodeVerdict:
    attempt, node_candidates = told.attempt, told.node_candidates
    name, reason = attempt.columns.nodes[place].name, node_candidates.reason(place)
    if attempt.usage.kept[place]:
        return NodeVerdict(node=name, reason=NodeReason.RESERVED)
    if reason is NodeReason.NOT_ENOUGH:
        limited = place in told.limited[:_LIMITS_TOLD]
        limit = (limit_on(attempt, node_candidates, told.rows, place) if limited else None) or UNSET
        return NodeVerdict(node=name, reason=reason, victims=int(node_candidates.counts[place]), limit=limit)
    if reason in (NodeReason.NOT_READY, NodeReason.NO_CANDIDATES):
        return NodeVerdict(node=name, reason=reason)
    return NodeVerdict(
        node=name, reason=reason, detail=attempt.feasibility.refusal(int(node_candidates.refusing[place]), place).detail
    )


def _node_counts(told: Selection) -> Counter[NodeReason]:
    """Why nodes were passed over, counted: the same as every one's verdict."""
    node_candidates, kept = told.node_candidates, told.attempt.usage.kept
    counts = Counter({NodeReason.DEARER: max(0, len(told.ranked) - 1)})
    counts[NodeReason.RESERVED] += int(np.count_nonzero(told.useless & kept))
    times = np.bincount(node_candidates.why[told.useless & ~kept], minlength=len(WHY)).tolist()
    for reason, count in zip(WHY, times, strict=True):
        counts[reason] += count
    return counts
