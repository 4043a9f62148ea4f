"""What policy ``priority`` weighs: disruption budgets count as it counts them, spent on all candidates of a node."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.feasibility.checks import AmountCheck
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.weighing import Bound, Cost, NeededAmount, Weighing
from engine.policies.common.weight_bounds import Bounds
from engine.policies.priority.node_candidates import NodeCandidates
from engine.policies.priority.victims import PRIORITY_SHIFT

_LEAST = -(2**62)


class PriorityWeighing(Weighing):
    """An ask under policy ``priority``. Of starts minus the earliest one counts, of pods of the highest priority."""

    parts = ("violations", "priority", "priority_sum", "victims", "started_ms")
    nothing = (0, -(2**31), 0, 0, _LEAST)
    levels = (0, 1)
    ties = 1

    def __init__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Mapping[str, Any]) -> None:
        del tree, parameters
        self.found = NodeCandidates(snapshot, ask)
        self.columns, self.feasibility = self.found.columns, self.found.feasibility

    def places(self) -> tuple[Sequence[int], Sequence[int]]:
        """Nodes by what the policy's own victims there cost, then those where it has none."""
        found = self.found
        if found.nowhere:
            return (), ()
        first = [place for place, *_ in found.costs.ranked]
        useful = np.flatnonzero(found.curable & ~found.reserved & (found.leaving.counts > 0))
        return first, [place for place in useful.tolist() if place not in set(first)]

    def candidates(self, place: int) -> Sequence[int]:
        """Also those on their way out, as the policy has it."""
        return [row for row in self.columns.rows(place) if self.found.candidates[row]]

    def needs(self, place: int, rows: Sequence[int]) -> list[NeededAmount]:
        """The limits of the node."""
        return [NeededAmount([int(limit.weight[row]) for row in rows], _need(limit, place)) for limit in self.limits]

    def alone(self, row: int) -> Cost:
        """What one pod costs."""
        priority = int(self.columns.priority[row])
        violates = int(self.found.budgets.violating[row])
        return violates, priority, priority + PRIORITY_SHIFT, 1, -int(self.columns.started[row])

    def together(self, cost: Cost, one: Cost) -> Cost:
        """A set's cost with one more in it."""
        start = max(cost[4], one[4]) if cost[1] == one[1] else cost[4] if cost[1] > one[1] else one[4]
        return cost[0] + one[0], max(cost[1], one[1]), cost[2] + one[2], cost[3] + one[3], start

    def at_least(self, cost: Cost, more: int, least: Cost, levels: Sequence[int]) -> Cost:
        """A bound for a set that grows."""
        violations, top = levels
        top = max(cost[1], top)
        start = cost[4] if top == cost[1] else _LEAST
        return cost[0] + violations, top, cost[2] + more * least[2], cost[3] + more, start

    def told(self, cost: Cost) -> Cost:
        """Priorities as they are."""
        return (*cost[:2], cost[2] - cost[3] * PRIORITY_SHIFT, *cost[3:])

    def bound(self) -> Bound:
        """By how much has to go, and by whom budgets allow for.

        A pod that a former part of the bound rules out counts in no later one: with it, the former would be more.
        """
        found, columns = self.found, self.columns
        bounds = Bounds(columns, self.limits, found.candidates, None)
        violations = bounds.some(found.budgets.violating)
        highest = bounds.highest[columns.node]
        summed = bounds.fewest(columns.priority + PRIORITY_SHIFT, columns.priority <= highest)
        started = bounds.least(-columns.started, columns.priority == highest)

        parts = (violations, bounds.highest, summed, bounds.count, started)

        def bound(place: int) -> Cost:
            return tuple(int(part[place]) for part in parts)

        return bound


def _need(limit: AmountCheck, place: int) -> int:
    return int(limit.held[place]) - int(limit.cap[place]) + max(limit.added.get(place, 0), 0)
