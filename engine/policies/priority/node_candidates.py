"""The victims that policy ``priority`` would choose on every node, for all nodes at once, and the best node.

Source: Evaluator.DryRunPreemption and Evaluator.SelectCandidate of kube-scheduler. The budgets of safeguards are this
product's own.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.snapshot.eviction_units import Units
from engine.policies.priority.attempt import PriorityAttempt
from engine.policies.priority.other_sets import search
from engine.policies.priority.unit_victims import UnitsOnNodes
from engine.policies.priority.victims import Costs, ReprieveOrder


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeCandidates(ABC):
    """The victims on every node where evictions make room for one pending pod, and what these cost."""

    attempt: PriorityAttempt
    gave_up: bool
    """Whether on some node no set of victims was found and not all sets were tried."""
    costs: Costs

    @cached_property
    def useful(self) -> Flags:
        """Return for each node (by place) whether it has victims."""
        useful = np.zeros(len(self.attempt.columns.nodes), np.bool_)
        useful[self.costs.places] = True
        return useful

    @property
    @abstractmethod
    def rows(self) -> Rows:
        """Return the rows of the victims of all nodes, node by node."""

    @abstractmethod
    def order_on(self, place: int) -> list[int]:
        """Return the candidates (rows) on a node in the order in which they may be reprieved.

        The node must be one where evictions can make room.
        """

    @abstractmethod
    def victims_on(self, place: int) -> list[int]:
        """Return the victims (rows) on a node, the most important first."""

    @abstractmethod
    def overdrawn(self, place: int) -> dict[int, list[str]]:
        """Return the candidates (rows) of a node whose eviction would violate budgets, with the budgets' names."""

    @cached_property
    def best(self) -> int | None:
        """Return the place of the cheapest node, None if no node has victims."""
        return self.costs.ranked[0][0] if self.costs.ranked else None


@dataclass(frozen=True, kw_only=True, eq=False)
class SinglePods(NodeCandidates):
    """Victims where each pod is evicted alone."""

    order: ReprieveOrder
    victims: Rows

    @property
    def rows(self) -> Rows:
        return self.victims

    def order_on(self, place: int) -> list[int]:
        return self.order.on(place)

    def victims_on(self, place: int) -> list[int]:
        first = self.attempt.columns.first
        low, high = np.searchsorted(self.victims, (first[place], first[place + 1]))
        return [int(row) for row in self.victims[low:high]]

    def overdrawn(self, place: int) -> dict[int, list[str]]:
        return self.attempt.budgets.overdrawn(place)


@dataclass(frozen=True, kw_only=True, eq=False)
class WholeUnits(NodeCandidates):
    """Victims where pods are evicted by units, which have pods on other nodes too."""

    items: UnitsOnNodes
    victims: Flags
    """Whether an item is a victim."""
    violations: Numbers
    """How many pods of an item violate a budget."""
    over: dict[int, str]
    """A row whose eviction would violate a budget, and the budget's name."""

    @property
    def rows(self) -> Rows:
        return np.array(self._rows(np.flatnonzero(self.victims)), np.intp)

    def order_on(self, place: int) -> list[int]:
        here = np.flatnonzero(self.items.node == place)
        return [
            row for items in self.items.in_turn(self.violations > 0) for row in self._rows(np.intersect1d(items, here))
        ]

    def victims_on(self, place: int) -> list[int]:
        return self._rows(np.flatnonzero((self.items.node == place) & self.victims))

    def overdrawn(self, place: int) -> dict[int, list[str]]:
        rows = self._rows(np.flatnonzero(self.items.node == place))
        return {row: [self.over[row]] for row in rows if row in self.over}

    def _rows(self, items: Rows) -> list[int]:
        return [row for item in items.tolist() for row in self.items.rows_of(item)]


def find_node_candidates(attempt: PriorityAttempt) -> NodeCandidates:
    """Find the victims on every node where evictions make room, and compute what these cost.

    Nodes whose victims together would violate a disruption budget of the safeguards are left out. Only if no node
    remains are other sets of victims tried.
    """
    places = np.flatnonzero(attempt.can_make_room)
    if attempt.units is not None:
        return _find_units(attempt, attempt.units, places)
    order = ReprieveOrder(attempt.columns, places, attempt.departing, attempt.budgets.violating)
    victims, gave_up = np.flatnonzero(order.victims(attempt.feasibility, attempt.departing)), False
    over_budget = _over_budget(attempt, victims)
    if over_budget.any():
        within = victims[~over_budget[attempt.columns.node[victims]]]
        victims, gave_up = (within, False) if len(within) else _other_set(attempt, order, victims)
    costs = Costs.of_pods(attempt.columns, victims, attempt.violating)
    return SinglePods(attempt=attempt, order=order, victims=victims, gave_up=gave_up, costs=costs)


def _find_units(attempt: PriorityAttempt, units: Units, places: Rows) -> NodeCandidates:
    """Find the units that go on every node where evictions make room. Only the greedy set of each node is tried."""
    items = UnitsOnNodes(attempt.columns, units, places, attempt.candidates)
    violations, over = items.violations(attempt.snapshot.budgets)
    victims = items.victims(attempt.feasibility, attempt.departing, violations > 0)
    gave_up = False
    if victims.any() and attempt.restraints.limits:
        rows = items.rows[np.repeat(victims, np.diff(items.first, append=len(items.rows)))]
        victims &= ~_over_budget(attempt, rows)[items.node]
        gave_up = not victims.any()
    counted = violations if attempt.snapshot.safeguards is None else np.zeros_like(violations)
    costs = items.costs(victims, counted)
    return WholeUnits(
        attempt=attempt, gave_up=gave_up, costs=costs, items=items, victims=victims, violations=violations, over=over
    )


def _over_budget(attempt: PriorityAttempt, victims: Rows) -> Flags:
    """Return for each node (by place) whether evicting all of its victims together would violate a budget."""
    columns, over = attempt.columns, np.zeros(len(attempt.columns.nodes), np.bool_)
    for limit in attempt.restraints.limits:
        covered = victims[np.isin(victims, limit.covered) & ~columns.terminating[victims]]
        over |= np.bincount(columns.node[covered], minlength=len(over)) > limit.allowed
    return over


def _other_set(attempt: PriorityAttempt, order: ReprieveOrder, greedy: Rows) -> tuple[Rows, bool]:
    """Return the victims (rows) on the cheapest node that has a set of victims within all budgets.

    Return also whether not all sets were tried on a node where none was found. ``greedy``: the victims that are too
    many, by whose costs the nodes are ordered.
    """
    gave_up = False
    for place in Costs.of_pods(attempt.columns, greedy, attempt.violating).in_order():
        sets = search(attempt.feasibility, attempt.columns, attempt.restraints.limits, place, order.on(place))
        found = sets.victims()
        gave_up |= found is None and sets.gave_up
        if found is not None:
            return np.array(sorted(found[0]), np.intp), gave_up
    return np.zeros(0, np.intp), gave_up
