"""The victims and the reprieved pods on every node under policy ``priority``, and the cost of each node.

Source: SelectVictimsOnNode, filterPodsWithPDBViolation and pickOneNodeForPreemption of kube-scheduler.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from engine.feasibility import Feasibility
from engine.feasibility.selectors import matches
from engine.model.collections.cheapest import cheapest_first
from engine.model.collections.offsets import run_starts
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows
from engine.model.objects import DisruptionBudget, Pod

CRITERIA = ("violations", "priority", "sum", "victims", "start", "name")
"""The criteria by which nodes are compared, in this order."""
RANKED = 21
"""The number of cheapest nodes that are ranked: the best one, and those that a trace lists besides it."""
PRIORITY_SHIFT = 2**31
"""Added to every priority in a sum, so that each additional victim increases the sum."""
_NODES_AT_ONCE = 8192
"""Nodes whose pods are put back together: few enough that what is read of them stays in the processor's cache."""


class BudgetViolations:
    """The candidates whose eviction would violate a disruption budget.

    A budget's allowance is used up by all candidates of a node, the most important first, even if they are reprieved.

    Source: filterPodsWithPDBViolation of kube-scheduler.
    """

    def __init__(self, columns: Columns, budgets: Sequence[DisruptionBudget], candidates: Flags) -> None:
        self.columns, self.budgets, self.candidates = columns, budgets, candidates

    @cached_property
    def violating(self) -> Flags:
        """Return for each pod (by row) whether it is a candidate whose eviction would violate a budget."""
        violating = np.zeros(len(self.columns.pods), np.bool_)
        for budget in self.budgets:
            violating[self._beyond(budget)] = True
        return violating

    def overdrawn(self, place: int) -> dict[int, list[str]]:
        """Return the candidates (rows) of a node whose eviction would violate budgets, with the budgets' names."""
        found: dict[int, list[str]] = {}
        ends = (self.columns.first[place], self.columns.first[place + 1])
        for budget in self.budgets:
            covered = _covered(self.columns, budget).rows
            here = covered[slice(*np.searchsorted(covered, ends))]
            for row in here[self.candidates[here]][max(0, budget.allowed) :]:
                found.setdefault(int(row), []).append(budget.name)
        return found

    def _beyond(self, budget: DisruptionBudget) -> Rows:
        covered = _covered(self.columns, budget)
        counted = self.candidates[covered.rows]
        upto = np.cumsum(counted)
        rank: Rows = upto - (upto - counted)[covered.first]
        beyond: Rows = covered.rows[counted & (rank > budget.allowed)]
        return beyond


class _Covered:
    """The rows that a budget covers, and for each the index of the first covered row of the same node."""

    def __init__(self, rows: Rows, node: Rows) -> None:
        self.rows = rows
        self.first = np.searchsorted(node, node)


def covers(budget: DisruptionBudget, pod: Pod) -> bool:
    """Return whether the eviction of a pod counts against a budget.

    Here an empty selector covers no pods, and pods without labels are not covered. Pods whose eviction the API has
    already accepted do not count either.

    Source: filterPodsWithPDBViolation of kube-scheduler.
    """
    return pod.name not in budget.disrupted and _selects(budget, pod)


def covered_rows(columns: Columns, budget: DisruptionBudget) -> Rows:
    """Return the rows of the pods whose eviction counts against a budget."""
    return _covered(columns, budget).rows


def _selects(budget: DisruptionBudget, pod: Pod) -> bool:
    return (
        pod.namespace == budget.namespace
        and bool(budget.expressions and pod.labels)
        and matches(budget.expressions, pod.labels)
    )


def _covered(columns: Columns, budget: DisruptionBudget) -> _Covered:
    def make() -> _Covered:
        rows = np.flatnonzero(columns.pod_kinds.flags(lambda pod: _selects(budget, pod)))
        if budget.disrupted:
            rows = np.array([row for row in rows.tolist() if covers(budget, columns.pods[row])], np.intp)
        return _Covered(rows, columns.node[rows])

    made: _Covered = columns.once("covered", (budget.namespace, budget.expressions, budget.disrupted), make)
    return made


class ReprieveOrder:
    """The candidates of some nodes (places), node by node in the order in which they may be reprieved.

    Candidates whose eviction would violate a budget come first, then the others, each by importance.

    Source: DefaultPreemption.SelectVictimsOnNode of kube-scheduler.
    """

    def __init__(self, columns: Columns, places: Rows, candidates: DepartingPods, violating: Flags) -> None:
        self.columns, self.places, rows = columns, places, candidates.rows
        if violating.any():
            over = violating[rows]
            groups = [(group, np.searchsorted(group, columns.first)) for group in (rows[over], rows[~over])]
        else:
            groups = [(rows, candidates.first)]
        self._groups = tuple(_Group(group, first, places) for group, first in groups)

    def on(self, place: int) -> list[int]:
        """Return the candidates (rows) on one of the nodes, in the order in which they may be reprieved."""
        index = int(np.searchsorted(self.places, place))
        return [int(row) for group in self._groups for row in group.on(index)]

    def victims(self, feasibility: Feasibility, departing: DepartingPods) -> Flags:
        """Return for each row whether its pod is a victim: put back in its turn, it would keep the pending pod out."""
        victims = np.zeros(len(self.columns.pods), np.bool_)
        limits = list(feasibility.binding(departing, self.places))
        for group in self._groups:
            group.put_back(limits, victims)
        return victims


class _Group:
    """Rows of pods, node by node, of which those on the nodes in ``places`` count. Some of these may have none.

    ``first``: by node index, where in ``rows`` the node's begin; and the number of rows at the end.
    """

    def __init__(self, rows: Rows, first: Rows, places: Rows) -> None:
        self.rows = rows
        self.starts, self.counts = first[:-1][places], np.diff(first)[places]

    def on(self, index: int) -> Rows:
        """Return the rows on a node. ``index``: its index in ``places``."""
        return self.rows[self.starts[index] : self.starts[index] + self.counts[index]]

    def put_back(self, limits: Sequence[tuple[Numbers, Numbers]], victims: Flags) -> None:
        """Reprieve one pod of each node at a time if it fits, otherwise mark it in ``victims``.

        ``limits``: for each limit, the weights by row and the free capacity by node, from which reprieved pods are
        subtracted. The nodes with the most pods come first, so that the nodes with pods left are always a slice.
        """
        longest_first = np.argsort(-self.counts, kind="stable")
        for start in range(0, len(longest_first), _NODES_AT_ONCE):
            part = longest_first[start : start + _NODES_AT_ONCE]
            free = [capacity[part] for _, capacity in limits]
            self._put_back(part, [weight for weight, _ in limits], free, victims)
            for (_, capacity), left in zip(limits, free, strict=True):
                capacity[part] = left

    def _put_back(self, indexes: Rows, weights: Sequence[Numbers], free: Sequence[Numbers], victims: Flags) -> None:
        starts, fewer = self.starts[indexes], -self.counts[indexes]
        for position in range(-int(fewer[0])):
            still = int(np.searchsorted(fewer, -position, side="left"))
            rows = self.rows[starts[:still] + position]
            wanted = [weight[rows] for weight in weights]
            stays = np.ones(still, np.bool_)
            for capacity, more in zip(free, wanted, strict=True):
                stays &= np.asarray(more <= capacity[:still], np.bool_)
            for capacity, more in zip(free, wanted, strict=True):
                capacity[:still] -= more * stays
            victims[rows[~stays]] = True


class Costs:
    """The costs of every node with victims, one value for each of ``CRITERIA``.

    Source: pickOneNodeForPreemption of kube-scheduler.
    """

    def __init__(self, places: Rows, by: Sequence[Numbers]) -> None:
        """Take what the nodes (places) cost by each of ``CRITERIA`` but the last, which is the order of the nodes."""
        self.places = places
        """The places of the nodes with victims, in the order of names."""
        self.violations, self.counts = by[0], by[3]
        self._by: tuple[Numbers, ...] = (*by, places)

    @classmethod
    def of_pods(cls, columns: Columns, victims: Rows, violating: Flags) -> "Costs":
        """Return the costs where each pod is evicted alone. ``victims``: rows, node by node."""
        node = columns.node[victims]
        first = np.flatnonzero(run_starts(node))
        top = victims[first]  # the most important victim; among equal priorities the one that started first
        return cls(
            node[first],
            (
                _sum_runs(violating[victims].astype(np.int64), first),
                columns.priority[top],
                _sum_runs(columns.priority[victims] + PRIORITY_SHIFT, first),
                np.diff(first, append=len(victims)),
                -columns.started[top],
            ),
        )

    @cached_property
    def ranked(self) -> list[tuple[int, int, int]]:
        """Return the cheapest nodes in order.

        Each item is the place, the index of the first of CRITERIA in which the node costs more than the best, and the
        number of victims.
        """
        order = cheapest_first(self._by, RANKED)
        best = order[0] if len(order) else 0
        return [
            (int(self.places[index]), self._loses(int(index), int(best)), int(self.counts[index])) for index in order
        ]

    def in_order(self) -> list[int]:
        """Return the places of all nodes with victims, the cheapest first."""
        in_order: list[int] = self.places[cheapest_first(self._by)].tolist()
        return in_order

    def _loses(self, one: int, best: int) -> int:
        return next((number for number, cost in enumerate(self._by) if cost[one] != cost[best]), 0)


def _sum_runs(numbers: Numbers, first: Rows) -> Numbers:
    """Return the sums of consecutive runs of numbers. ``first``: the index at which each run begins."""
    summed: Numbers = np.add.reduceat(numbers, first) if len(first) else numbers
    return summed
