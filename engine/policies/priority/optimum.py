"""Weigh sets of victims as policy ``priority``, which spends disruption budgets on all candidates of a node."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.feasibility.checks import AmountCheck
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.weighing import Bound, Cost, NeededAmount, Weighing
from engine.policies.common.weight_bounds import Bounds
from engine.policies.priority.attempt import PriorityAttempt
from engine.policies.priority.node_candidates import find_node_candidates
from engine.policies.priority.victims import PRIORITY_SHIFT

_LEAST = -(2**62)


class PriorityWeighing(Weighing):
    """A pending pod under policy ``priority``.

    The last part of a cost is minus the earliest start time among the pods of the highest priority.
    """

    parts = ("violations", "priority", "priority_sum", "victims", "started_ms")
    nothing = (0, -(2**31), 0, 0, _LEAST)
    levels = (0, 1)
    ties = 1

    def __init__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Mapping[str, Any]) -> None:
        del tree, parameters
        self.attempt = PriorityAttempt(snapshot, ask)
        self.columns, self.feasibility = self.attempt.columns, self.attempt.feasibility

    def places(self) -> tuple[Sequence[int], Sequence[int]]:
        """Return nodes by the cost of the policy's own victims there, then the nodes where it has none."""
        attempt = self.attempt
        if attempt.nowhere:
            return (), ()
        first = [place for place, *_ in find_node_candidates(attempt).costs.ranked]
        useful = np.flatnonzero(attempt.curable & ~attempt.reserved & (attempt.departing.counts > 0))
        return first, [place for place in useful.tolist() if place not in set(first)]

    def candidates(self, place: int) -> Sequence[int]:
        """Return the candidates on a node; as in the policy, these include terminating pods."""
        return [row for row in self.columns.rows(place) if self.attempt.candidates[row]]

    def needs(self, place: int, rows: Sequence[int]) -> list[NeededAmount]:
        """Return the excess over each limit of the node."""
        return [NeededAmount([int(limit.weight[row]) for row in rows], _need(limit, place)) for limit in self.limits]

    def alone(self, row: int) -> Cost:
        """Return the cost of a single pod."""
        priority = int(self.columns.priority[row])
        violates = int(self.attempt.budgets.violating[row])
        return violates, priority, priority + PRIORITY_SHIFT, 1, -int(self.columns.started[row])

    def together(self, cost: Cost, one: Cost) -> Cost:
        """Return the cost of a set with another pod added."""
        start = max(cost[4], one[4]) if cost[1] == one[1] else cost[4] if cost[1] > one[1] else one[4]
        return cost[0] + one[0], max(cost[1], one[1]), cost[2] + one[2], cost[3] + one[3], start

    def at_least(self, cost: Cost, more: int, least: Cost, levels: Sequence[int]) -> Cost:
        """Return a lower bound for the cost of a set with ``more`` pods added."""
        violations, top = levels
        top = max(cost[1], top)
        start = cost[4] if top == cost[1] else _LEAST
        return cost[0] + violations, top, cost[2] + more * least[2], cost[3] + more, start

    def readable(self, cost: Cost) -> Cost:
        """Return the cost with the sum of the actual priorities."""
        return (*cost[:2], cost[2] - cost[3] * PRIORITY_SHIFT, *cost[3:])

    def bound(self) -> Bound:
        """Return the least cost of a set on each node, from how much must be evicted and what budgets allow.

        A pod that an earlier part of the bound rules out does not count in later parts: with it, the earlier part would
        be larger.
        """
        attempt, columns = self.attempt, self.columns
        bounds = Bounds(columns, self.limits, attempt.candidates, None)
        violations = bounds.some(attempt.budgets.violating)
        highest = bounds.highest[columns.node]
        summed = bounds.fewest(columns.priority + PRIORITY_SHIFT, columns.priority <= highest)
        started = bounds.least(-columns.started, columns.priority == highest)

        parts = (violations, bounds.highest, summed, bounds.count, started)

        def bound(place: int) -> Cost:
            return tuple(int(part[place]) for part in parts)

        return bound


def _need(limit: AmountCheck, place: int) -> int:
    return int(limit.held[place]) - int(limit.cap[place]) + max(limit.added.get(place, 0), 0)
