"""Who goes and who may stay on every node under policy ``priority``, and what each node would cost.

Source: SelectVictimsOnNode, filterPodsWithPDBViolation and pickOneNodeForPreemption of kube-scheduler.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from engine.feasibility import Feasibility
from engine.feasibility.selectors import matches
from engine.model.collections.offsets import run_starts
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows
from engine.model.objects import DisruptionBudget, Pod

CRITERIA = ("violations", "priority", "sum", "victims", "start", "name")
"""What nodes are compared by, in this order."""
RANKED = 21
"""So many of the cheapest nodes are ranked: the best one, and those that a trace tells of beside it."""
PRIORITY_SHIFT = 2**31
"""Added to every priority of a sum, so that one victim more always weighs more."""


class BudgetViolations:
    """Which candidates the disruption budgets do not allow for.

    A budget is spent on all candidates of a node, the most important first, whether or not they have to go.
    """

    def __init__(self, columns: Columns, budgets: Sequence[DisruptionBudget], candidates: Flags) -> None:
        self.columns, self.budgets, self.candidates = columns, budgets, candidates

    @cached_property
    def violating(self) -> Flags:
        """Row -> whether some budget does not allow for the candidate."""
        violating = np.zeros(len(self.columns.pods), np.bool_)
        for budget in self.budgets:
            violating[self._beyond(budget)] = True
        return violating

    def overdrawn(self, place: int) -> dict[int, list[str]]:
        """Of the candidates (rows) of one node those that some budget does not allow for, with those budgets' names."""
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
    """The rows that a budget covers, and for each the index of the first of its node among them."""

    def __init__(self, rows: Rows, node: Rows) -> None:
        self.rows = rows
        self.first = np.searchsorted(node, node)


def covers(budget: DisruptionBudget, pod: Pod) -> bool:
    """Whether a budget is spent on a pod.

    An empty selector covers nothing here, nor does a budget count pods whose eviction was let through already.
    """
    return pod.name not in budget.disrupted and _selects(budget, pod)


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
    """The candidates of some nodes (places), node by node in the order in which they are put back.

    Those whose budgets do not allow for them come first, else the most important.
    """

    def __init__(self, columns: Columns, places: Rows, candidates: Flags, violating: Flags) -> None:
        self.columns, self.places = columns, places
        wanted = np.zeros(len(columns.nodes), np.bool_)
        wanted[places] = True
        rows = np.flatnonzero(candidates & wanted[columns.node])
        over = violating[rows]
        groups = (rows[over], rows[~over]) if over.any() else (rows,)
        self._groups = tuple(_Group(columns, group, places) for group in groups)

    def on(self, place: int) -> list[int]:
        """The candidates on one of the nodes."""
        index = int(np.searchsorted(self.places, place))
        return [int(row) for group in self._groups for row in group.on(index)]

    def victims(self, feasibility: Feasibility, leaving: DepartingPods) -> Flags:
        """Row -> whether the pod is a victim: put back in its turn, it would keep the ask out."""
        victims = np.zeros(len(self.columns.pods), np.bool_)
        lines = list(feasibility.binding(leaving, self.places))
        for group in self._groups:
            group.put_back(lines, victims)
        return victims


class _Group:
    """Rows of pods, node by node; ``places`` are the nodes, of some of which there may be none."""

    def __init__(self, columns: Columns, rows: Rows, places: Rows) -> None:
        self.rows = rows
        bounds = np.searchsorted(rows, columns.first)
        self.starts, self.counts = bounds[:-1][places], np.diff(bounds)[places]

    def on(self, index: int) -> Rows:
        """The rows on the node that is so many-th in ``places``."""
        return self.rows[self.starts[index] : self.starts[index] + self.counts[index]]

    def put_back(self, lines: Sequence[tuple[Numbers, Numbers]], victims: Flags) -> None:
        """Put back one pod of each node at a time: it takes of the room in ``lines``, or is marked in ``victims``.

        The nodes with the most pods stand first, so that those still at it are a slice.
        """
        longest_first = np.argsort(-self.counts, kind="stable")
        starts, fewer = self.starts[longest_first], -self.counts[longest_first]
        rooms = [room[longest_first] for _, room in lines]
        for turn in range(int(-fewer[0]) if len(fewer) else 0):
            still = int(np.searchsorted(fewer, -turn, side="left"))
            rows = self.rows[starts[:still] + turn]
            wanted = [weight[rows] for weight, _ in lines]
            stays = np.ones(still, np.bool_)
            for room, more in zip(rooms, wanted, strict=True):
                stays &= np.asarray(more <= room[:still], np.bool_)
            for room, more in zip(rooms, wanted, strict=True):
                room[:still] -= more * stays
            victims[rows[~stays]] = True
        for (_, room), left in zip(lines, rooms, strict=True):
            room[longest_first] = left


class Costs:
    """What every node with victims would cost by CRITERIA."""

    def __init__(self, columns: Columns, victims: Rows, violating: Flags) -> None:
        node = columns.node[victims]
        first = np.flatnonzero(run_starts(node))
        self.places: Rows = node[first]
        """In the order of names."""
        top = victims[first]  # the most important one, and of its priority the one that started first
        self.violations = _summed(violating[victims].astype(np.int64), first)
        self.counts: Numbers = np.diff(first, append=len(victims))
        self._by: tuple[Numbers, ...] = (
            self.violations,
            columns.priority[top],
            _summed(columns.priority[victims] + PRIORITY_SHIFT, first),
            self.counts,
            -columns.started[top],
            self.places,
        )

    @cached_property
    def ranked(self) -> list[tuple[int, int, int]]:
        """The cheapest nodes in order: place, first of CRITERIA in which it loses to the best, number of victims."""
        order = np.lexsort(self._by[::-1])[:RANKED]
        best = order[0] if len(order) else 0
        return [(int(self.places[one]), self._loses(int(one), int(best)), int(self.counts[one])) for one in order]

    def in_order(self) -> list[int]:
        """The places of all nodes, the cheapest first."""
        in_order: list[int] = self.places[np.lexsort(self._by[::-1])].tolist()
        return in_order

    def _loses(self, one: int, best: int) -> int:
        return next((number for number, cost in enumerate(self._by) if cost[one] != cost[best]), 0)


def _summed(numbers: Numbers, first: Rows) -> Numbers:
    """The sums over the stretches that begin at ``first``."""
    summed: Numbers = np.add.reduceat(numbers, first) if len(first) else numbers
    return summed
