"""The trace of a decision of the dialect ``yunikorn``."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from engine.model.columns.node_columns import Flags
from engine.model.decision import NodeReason, NodeVerdict, Trace
from engine.policies.yunikorn.candidates import YuniKornCandidates
from engine.policies.yunikorn.node_candidates import NodeCandidates, score
from engine.policies.yunikorn.pod_table import OPTED_OUT, ORIGINATOR

_NODES_IN_FULL = 20
"""The number of nodes that were not chosen which a trace lists individually. The rest are counted."""


def trace_of(candidates: YuniKornCandidates, node_candidates: NodeCandidates | None = None) -> Trace:
    """Return the trace of a decision without the figures of queues.

    ``node_candidates``: the plans of victims, None if no node was searched.
    """
    attempt, root = candidates.attempt, candidates.reach.root
    guaranteed = attempt.tree[attempt.leaf].guaranteed
    return Trace(
        fence=root if root != attempt.tree.root else "",
        entitling={name: attempt.leaf for name in attempt.ask.requests if name in guaranteed},
        nodes=() if node_candidates is None else _nodes_not_chosen(node_candidates),
        candidates=len(candidates.rows),
        excluded_counts=candidates.excluded(),
        node_counts={} if node_candidates is None else node_counts(node_candidates),
    )


def _nodes_not_chosen(node_candidates: NodeCandidates) -> tuple[NodeVerdict, ...]:
    """Return verdicts on nodes that were not chosen: the next best ones, then the first ones without a plan."""
    columns, best = node_candidates.candidates.attempt.columns, node_candidates.best
    chosen = None if best is None else columns.place[best.node.name]
    ranked = [place for place in node_candidates.ranked[: _NODES_IN_FULL + 1].tolist() if place != chosen]
    verdicts = [_verdict_with_plan(node_candidates, place, chosen) for place in ranked]
    counts = np.diff(node_candidates.candidates.first)
    for place in np.flatnonzero(~node_candidates.planned)[:_NODES_IN_FULL].tolist():
        reason = next(reason for reason, flags in _reasons(node_candidates) if flags[place])
        verdicts.append(NodeVerdict(node=columns.nodes[place].name, reason=reason, victims=int(counts[place])))
    return tuple(verdicts[:_NODES_IN_FULL])


def _verdict_with_plan(node_candidates: NodeCandidates, place: int, chosen: int | None) -> NodeVerdict:
    """Return why a node with a plan was not chosen: a rule that refused the pod, or the rating of its plan."""
    name = node_candidates.candidates.attempt.columns.nodes[place].name
    if chosen is None or place in node_candidates.refused:
        refusal = node_candidates.refused[place]
        return NodeVerdict(node=name, reason=refusal.reason, detail=refusal.detail)
    index, rated = int(node_candidates.index[place]), node_candidates.rated
    rating = rated.get(place, score(node_candidates.candidates, place, index))
    return NodeVerdict(node=name, reason=NodeReason.DEARER, detail=_criterion(rated[chosen], rating), victims=index + 1)


def _reasons(node_candidates: NodeCandidates) -> Iterator[tuple[NodeReason, Flags]]:
    """Yield reasons why nodes have no plan, each with the nodes it applies to; the first one counts."""
    attempt, first = node_candidates.candidates.attempt, node_candidates.candidates.first
    empty = first[1:] == first[:-1]
    yield NodeReason.RESERVED, attempt.reserved
    yield NodeReason.UNSCHEDULABLE, attempt.columns.unschedulable
    yield NodeReason.TOO_SMALL, node_candidates.too_small
    yield NodeReason.NO_CANDIDATES, empty
    yield NodeReason.NOT_ENOUGH, ~empty


def node_counts(node_candidates: NodeCandidates) -> dict[str, int]:
    """Count the nodes that were not chosen by reason."""
    refused, chosen = node_candidates.refused, node_candidates.best is not None
    counts = Counter(refusal.reason for refusal in refused.values())
    counts[NodeReason.DEARER] = len(node_candidates.ranked) - len(refused) - chosen
    left = ~node_candidates.planned
    for reason, flags in _reasons(node_candidates):
        counts[reason] += int(np.count_nonzero(left & flags))
        left = left & ~flags
    return {str(reason): count for reason, count in sorted(counts.items()) if count}


def _criterion(best: int, other: int) -> str:
    """Return the criterion by which a node's score is worse than the best; the name if both scores are equal."""
    for flag, criterion in ((OPTED_OUT, "opted-out"), (ORIGINATOR, "originators")):
        if other & flag != best & flag:
            return criterion
    return "victims" if other != best else "name"
