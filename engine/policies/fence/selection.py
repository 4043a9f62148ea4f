"""The choice of the node, and with it of the victims, under policy ``fence``: the node whose victims cost least."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from engine.model.columns.node_columns import Flags, Rows
from engine.model.decision import PodReason, Reason
from engine.model.objects import Pod
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.fence.candidates import GuaranteeClaim, count_excluded
from engine.policies.fence.node_candidates import NodeCandidates, blocked_nodes

NODES_IN_FULL = 20
"""The number of nodes that were not chosen which a trace lists individually. The rest are counted."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Selection:
    """The cheapest node for a pending pod, with its victims, among the candidates of all nodes."""

    attempt: PreemptionAttempt
    claim: GuaranteeClaim
    node_candidates: NodeCandidates
    cheapest: Rows
    """The cheapest nodes with victims in order, as indexes into the costs: the best one, and others for the trace."""
    useful: int
    """The number of nodes with victims."""
    without_victims: Flags
    """Place -> whether the pending pod is meant for the node, but it has no victims."""
    best: int | None
    """The place of the chosen node, None if there is none."""
    victims: list[int]
    """The victims (rows) on the chosen node."""
    reprieved: list[tuple[int, PodReason]]
    """The candidates (rows) on the chosen node that are kept, with reasons."""
    excluded: dict[PodReason, int]
    """Reason -> the number of bound pods that it excludes from being candidates."""

    @property
    def candidates(self) -> int:
        """Return the number of candidates on all nodes."""
        return len(self.attempt.columns.pods) - sum(self.excluded.values())

    def pods(self, rows: Iterable[int]) -> list[Pod]:
        """Return pods of the chosen node by their rows, an empty list if no node was chosen."""
        if self.best is None:
            return []
        columns = self.attempt.columns
        on_node, first = columns.on(self.best), columns.rows(self.best).start
        return [on_node[row - first] for row in rows]


def select(attempt: PreemptionAttempt, claim: GuaranteeClaim, node_candidates: NodeCandidates) -> Selection:
    """Choose the cheapest node on which evictions are allowed, with its victims."""
    costs = node_candidates.victims.costs
    blocked = blocked_nodes(attempt, node_candidates.refusing)
    useful = node_candidates.with_victims & ~blocked
    cheapest = costs.cheapest(1 + NODES_IN_FULL, blocked)
    best = int(costs.places[cheapest[0]]) if len(cheapest) else None
    victims, reprieved = node_candidates.victims.outcomes.on(best) if best is not None else ([], [])
    return Selection(
        attempt=attempt,
        claim=claim,
        node_candidates=node_candidates,
        cheapest=cheapest,
        useful=int(np.count_nonzero(useful)),
        without_victims=attempt.scope & ~useful,
        best=best,
        victims=victims,
        reprieved=reprieved,
        excluded=count_excluded(attempt, node_candidates.reasons, node_candidates.excluded),
    )


def why_none(candidates: int, fence: str | None, excluded: Mapping[PodReason, int]) -> tuple[Reason, str]:
    """Return the reason, and its detail, why there are no victims.

    ``candidates``: the number of pods that may be evicted, each by itself. ``excluded``: reason -> how many may not.
    """
    if candidates:
        return Reason.NO_ROOM, ""
    if fence and {PodReason.OUTSIDE_FENCE, PodReason.SAME_QUEUE}.issuperset(excluded):
        return Reason.FENCE, fence
    reasons = [reason for reason in excluded if reason is not PodReason.SAME_QUEUE]
    return Reason.NO_CANDIDATES, str(max(reasons, key=excluded.__getitem__)) if reasons else ""
