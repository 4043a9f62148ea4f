"""The victims on all nodes, selected again only where nodes differ from those of an earlier pending pod.

Pending pods of many queues often request the same. What they may evict differs on few nodes: those with pods of their
own queues, of queues that are nearer to one of them, and where something happened in between.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.fence.victims.constraints import over_limit
from engine.policies.fence.victims.node_costs import Costs
from engine.policies.fence.victims.preemptable_amounts import AmountsByQueue
from engine.policies.fence.victims.victim_selection import CandidateOutcomes, NodeCandidateOrder, select_victims

_MANY = 4
"""If more than one node in this many differs, the victims on all nodes are selected again."""
_KEPT = 8
"""For how many different requests, and depths of queues, a selection is kept."""


class SelectedVictims:
    """The victims on every node, what was found out about the other candidates there, and what the victims cost."""

    def __init__(self, attempt: PreemptionAttempt, order: NodeCandidateOrder, amounts: AmountsByQueue) -> None:
        """Select them on the nodes of ``order``."""
        selection = select_victims(attempt, order, amounts)
        self.outcomes: CandidateOutcomes = selection.outcomes
        self.searched: Rows = selection.searched
        self.gave_up = selection.gave_up
        """Whether on some node no set was found and not all sets were tried."""
        self._own = selection.victims
        self.costs = Costs.of(attempt.pod_index, attempt.leaf, self._own)
        self._node: Rows = attempt.columns.node
        self._elsewhere: tuple[SelectedVictims, Flags] | None = None

    def with_others(self, known: "SelectedVictims", keep: Flags) -> "SelectedVictims":
        """Add what is known of other nodes. ``keep``: by place, which ones of these."""
        self.costs = known.costs.with_others(keep, self.costs)
        self.outcomes.elsewhere = known.outcomes
        self._elsewhere = known, keep
        return self

    @cached_property
    def rows(self) -> Rows:
        """Return the rows of the victims, node by node."""
        if self._elsewhere is None:
            return self._own
        known, keep = self._elsewhere
        rows: Rows = np.concatenate([known.rows[keep[self._node[known.rows]]], self._own])
        return rows[np.argsort(self._node[rows], kind="stable")]


@dataclass(frozen=True, kw_only=True, eq=False)
class _NodeView:
    """All that the victims on a node depend on, for one pending pod at one moment."""

    amounts: AmountsByQueue
    may_go: Flags
    useful: Flags
    distance: Numbers
    """Queue number -> its distance from the pending pod's queue."""
    safeguards: tuple[object, ...]
    over: tuple[tuple[Numbers, Numbers], ...]
    """For each limit of the nodes, the weight of each pod, and by place how much the pending pod would exceed it."""

    @classmethod
    def of(
        cls, attempt: PreemptionAttempt, amounts: AmountsByQueue, may_go: Flags, useful: Flags
    ) -> "_NodeView | None":
        """Return the view of an attempt, None if a max is short too, or a limit of nodes depends on another sum."""
        limits = attempt.feasibility.limits
        if attempt.excess() or any(limit.unless is not None for limit in limits):
            return None
        return cls(
            amounts=amounts,
            may_go=may_go,
            useful=useful,
            distance=attempt.pod_index.queues.distance(attempt.leaf),
            safeguards=attempt.restraints.key,
            over=tuple((limit.weight, over_limit(attempt, limit)) for limit in limits),
        )

    def differing(self, other: "_NodeView", attempt: PreemptionAttempt) -> Flags | None:
        """Return by place where victims may differ from those of another view, None if that may be anywhere."""
        if self.safeguards != other.safeguards or self.limited != other.limited:
            return None
        kinds = self._differing_kinds(other, attempt)
        if kinds is None:
            return None
        differing: Flags = self.useful & ~other.useful
        for (_, over), (_, others) in zip(self.over, other.over, strict=True):
            differing |= np.asarray(over != others, np.bool_)
        node, kind = attempt.columns.node, attempt.pod_index.kinds.of
        differing[node[np.flatnonzero(self.may_go != other.may_go)]] = True
        differing[node[np.flatnonzero(kinds[kind])]] = True
        return differing

    @property
    def limited(self) -> tuple[list[int], list[str]]:
        """Return which amounts are limited on nodes, and which in queues."""
        return [id(weight) for weight, _ in self.over], [*self.amounts]

    def _differing_kinds(self, other: "_NodeView", attempt: PreemptionAttempt) -> Flags | None:
        """Return by kind which pods are at another distance, or in a queue that can spare another amount.

        An amount counts if pods on some node could exceed it. Return None if that is so of the root.
        """
        pod_index = attempt.pod_index
        scarce = np.zeros(pod_index.nobody + 1, np.bool_)
        for resource, amounts in self.amounts.items():
            others = other.amounts[resource]
            changed = np.asarray(amounts != others, np.bool_)
            scarce |= changed & pod_index.exceeds_on_a_node(resource, np.minimum(amounts, others))
        if scarce[pod_index.number[pod_index.tree.root]]:
            return None
        queues = scarce[pod_index.ancestors].any(axis=0) | np.asarray(self.distance != other.distance, np.bool_)
        return np.asarray(queues[pod_index.queue], np.bool_)


def select_on_nodes(
    attempt: PreemptionAttempt, amounts: AmountsByQueue, may_go: Flags, counts: Rows, useful: Flags
) -> SelectedVictims:
    """Select the victims on each useful node (flags by place), and keep them for other pending pods of the pass.

    ``may_go``: by row, which pods are candidates; ``counts``: by place, their number.
    """

    def selected(places: Rows) -> SelectedVictims:
        order = NodeCandidateOrder(attempt.pod_index, attempt.leaf, places, may_go, counts[places])
        return SelectedVictims(attempt, order, amounts)

    view = _NodeView.of(attempt, amounts, may_go, useful)
    if view is None:
        return selected(np.flatnonzero(useful))
    kept: dict[object, tuple[_NodeView, SelectedVictims]] = attempt.snapshot.once("fence victims", attempt.tree, dict)
    # Pods of other queues are as far from all queues of one depth, unless they are near to one of them.
    depth = len(attempt.tree.lineage(attempt.leaf))
    key = depth, attempt.restraints.restrains, tuple(sorted(attempt.ask.requests.items()))
    if (known := kept.pop(key, None)) is not None:
        differing = view.differing(known[0], attempt)
        if differing is not None:
            differing[known[1].searched] = True
            again = np.flatnonzero(differing & useful)
            if _MANY * len(again) <= np.count_nonzero(useful):
                kept[key] = known
                return selected(again).with_others(known[1], useful & ~differing)
    found = selected(np.flatnonzero(useful))
    kept[key] = view, found
    if len(kept) > _KEPT:
        del kept[next(iter(kept))]
    return found
