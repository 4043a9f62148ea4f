"""Weigh sets of victims as policy ``fence``, dialect ``design``: sets that keep its invariants, by its preferences."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.weighing import Bound, Cost, NeededAmount, Weighing
from engine.policies.fence.candidates import candidate_flags, candidates_on, claim_of
from engine.policies.fence.decision import may_resort
from engine.policies.fence.node_candidates import blocked_nodes, node_candidates_of
from engine.policies.fence.parameters import Parameters
from engine.policies.fence.victims.constraints import Constraints
from engine.policies.fence.victims.node_costs import least_costs

_LEAST = -(2**62)
_FIRST = 20
"""Number of nodes that are searched before the others: those that are cheapest for the policy."""


class FenceWeighing(Weighing):
    """A pending pod under policy ``fence``; the last part of a cost is minus the earliest creation time.

    Pods that opted out are candidates where the parameters permit it: a set without such pods costs less than every set
    with some.
    """

    parts = ("opted_out", "originators", "priority", "victims", "tree_distance", "work_lost_ms", "created_ms")
    nothing = (0, 0, _LEAST, 0, 0, 0, _LEAST)
    levels = (0, 1, 2)
    ties = 2

    def __init__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Mapping[str, Any]) -> None:
        self.attempt = attempt = PreemptionAttempt(snapshot, tree, ask)
        resort = may_resort(ask, msgspec.convert(parameters, Parameters))
        self.node_candidates = node_candidates_of(attempt, claim_of(attempt, opted_out=resort))
        self.columns, self.feasibility = attempt.columns, attempt.feasibility
        self._may_go = candidate_flags(attempt, self.node_candidates.reasons)
        self._steps = attempt.pod_index.queues.distance(attempt.leaf)

    def places(self) -> tuple[Sequence[int], Sequence[int]]:
        """Return nodes by the cost of the policy's own victims there, then the nodes where it has none."""
        costs, blocked = self.node_candidates.victims.costs, blocked_nodes(self.attempt, self.node_candidates.refusing)
        first = costs.places[costs.cheapest(_FIRST, blocked)].tolist()
        useful = np.flatnonzero(self.attempt.scope & (self.node_candidates.counts > 0) & ~blocked)
        return first, [place for place in useful.tolist() if place not in set(first)]

    def bound(self) -> Bound:
        """Return the least cost of a set on each node, from how much must be evicted."""
        parts = least_costs(self.attempt, self.limits, self._may_go)

        def bound(place: int) -> Cost:
            return tuple(int(part[place]) for part in parts)

        return bound

    def candidates(self, place: int) -> Sequence[int]:
        """Return the pods on a node that the policy itself may evict, each considered by itself."""
        candidates: list[int] = candidates_on(self.attempt, self._may_go, place).tolist()
        return candidates

    def leaving(self, place: int) -> Sequence[str]:
        """Return the terminating pods on a node."""
        columns = self.columns
        return [columns.pods[row].uid for row in columns.rows(place) if columns.terminating[row]]

    def needs(self, place: int, rows: Sequence[int]) -> list[NeededAmount]:
        """Return the excess over each limit of the node, and over each max that the pending pod would exceed."""
        constraints = Constraints(self.attempt, np.array([place])).all
        alone = [constraint for constraint in constraints if not constraint.mends and constraint.unless is None]
        return [NeededAmount([int(each.weight[row]) for row in rows], int(each.over[0])) for each in alone]

    def spares(self, rows: Sequence[int]) -> list[NeededAmount]:
        """Return what the guarantees of queues (invariant 2) and disruption budgets allow to be evicted together."""
        pod_index = self.attempt.pod_index
        queues = pod_index.row_queue[list(rows)]
        kinds, found = pod_index.kinds.of[list(rows)], []
        for name, preemptable in self.node_candidates.preemptable_amounts.items():
            held = pod_index.amounts(name)[kinds]
            for level in pod_index.ancestors:
                above = level[queues]
                found += [
                    NeededAmount(np.where(above == queue, held, 0).tolist(), int(preemptable[queue]))
                    for queue in set(above.tolist())
                ]
        limits = self.attempt.restraints.limits
        return found + [
            NeededAmount(np.isin(rows, limit.covered).astype(int).tolist(), limit.allowed) for limit in limits
        ]

    def alone(self, row: int) -> Cost:
        """Return the cost of a single pod."""
        order, steps = self.attempt.pod_index.order, int(self._steps[self.attempt.pod_index.row_queue[row]])
        opted_out, originator = int(order.opted_out[row]), int(order.originator[row])
        age = -int(order.created[row])
        return opted_out, originator, int(self.columns.priority[row]), 1, steps, int(order.lost[row]), age

    def together(self, cost: Cost, one: Cost) -> Cost:
        """Return the cost of a set with another pod added."""
        opted_out, originators, highest, count, steps, lost, age = one
        return (
            cost[0] + opted_out,
            cost[1] + originators,
            max(cost[2], highest),
            cost[3] + count,
            cost[4] + steps,
            cost[5] + lost,
            max(cost[6], age),
        )

    def at_least(self, cost: Cost, more: int, least: Cost, levels: Sequence[int]) -> Cost:
        """Return a lower bound for the cost of a set with ``more`` pods added."""
        opted_out, originators, highest = levels
        return (
            cost[0] + opted_out,
            cost[1] + originators,
            max(cost[2], highest),
            cost[3] + more,
            cost[4] + more * least[4],
            cost[5] + more * least[5],
            cost[6],
        )
