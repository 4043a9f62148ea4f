"""The victims of policy ``priority`` on every node where pods are evicted by units, and the cost of each node.

With feature gate GenericWorkload, kube-scheduler also looks at groups where a single pod preempts: a unit is taken or
spared as a whole, and its pods on other nodes go with it.

Source: SelectVictimsOnDomain and pickOneNodeForPreemption of kube-scheduler 1.37 (pkg/scheduler/framework).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np

from engine.feasibility import Feasibility
from engine.model.collections.offsets import run_starts
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows
from engine.model.objects import DisruptionBudget
from engine.model.snapshot.eviction_units import Units
from engine.policies.priority.victims import CRITERIA, PRIORITY_SHIFT, Costs, covered_rows


class CoveringBudgets:
    """The disruption budgets that cover each pod, to which evictions are charged.

    A pod is charged to its budgets one after the other, up to the first one that it violates. The order of budgets is
    random in kube-scheduler, and that of their names here.

    Source: filterPodsWithPDBViolation of kube-scheduler 1.37.
    """

    def __init__(self, columns: Columns, budgets: Sequence[DisruptionBudget]) -> None:
        self._budgets = budgets
        self._covering: dict[int, list[int]] = {}
        """Row of a pod -> the indexes of the budgets that cover it."""
        for number, budget in enumerate(budgets):
            for row in covered_rows(columns, budget).tolist():
                self._covering.setdefault(row, []).append(number)

    def leads(self, units: Units) -> Rows:
        """Return the units (leads) with a covered pod."""
        return np.unique(units.lead[np.array(list(self._covering), np.intp)])

    def allowances(self) -> list[int]:
        """Return how many evictions each budget allows."""
        return [budget.allowed for budget in self._budgets]

    def charge(self, rows: Iterable[int], left: list[int]) -> dict[int, str]:
        """Charge the eviction of pods (rows) to what is ``left`` of each budget, which is changed.

        Return the pods that violate a budget, with its name.
        """
        violated = {}
        for row in rows:
            for number in self._covering.get(row, ()):
                left[number] -= 1
                if left[number] < 0:
                    violated[row] = self._budgets[number].name
                    break
        return violated


class UnitsOnNodes:
    """The units with candidates on some nodes (places): node by node, the most important first.

    A unit counts at every node where it has pods. ``items`` are pairs of a node and a unit.
    """

    def __init__(self, columns: Columns, units: Units, places: Rows, candidates: Flags) -> None:
        self.columns, self.units, self.places = columns, units, places
        wanted = np.zeros(len(columns.nodes), np.bool_)
        wanted[places] = True
        rows = np.flatnonzero(candidates & wanted[columns.node])
        rows = rows[np.lexsort((rows, units.rank[units.lead[rows]], columns.node[rows]))]
        self.rows = rows
        """The rows of candidates, ordered by node and by the importance of their units."""
        node, lead = columns.node[rows], units.lead[rows]
        self.first: Rows = np.flatnonzero(run_starts(node) | run_starts(lead))
        """Item -> the index of its first row in ``rows``."""
        self.node: Rows = node[self.first]
        """Item -> the index of its node."""
        self.lead: Rows = lead[self.first]
        """Item -> the lead of its unit."""

    def rows_of(self, item: int) -> list[int]:
        """Return all pods (rows) that go with an item, those on its node first."""
        end = self.first[item + 1] if item + 1 < len(self.first) else len(self.rows)
        here: list[int] = self.rows[self.first[item] : end].tolist()
        lead = int(self.lead[item])
        if self.units.size[lead] == len(here):
            return here
        return here + [row for row in self.units.rows(lead) if row not in here]

    def violations(self, budgets: Sequence[DisruptionBudget]) -> tuple[Numbers, dict[int, str]]:
        """Return how many pods of each item would violate a budget, and the first budget that each row violates.

        A node's units use up the budgets in their order. Every row is mentioned once, with the first node's result.
        """
        counts = np.zeros(len(self.first), np.int64)
        over: dict[int, str] = {}
        covering = CoveringBudgets(self.columns, budgets)
        for _place, items in groupby(self._covered_items(covering), key=lambda item: int(self.node[item])):
            left = covering.allowances()
            for item in items:
                violated = covering.charge(self.rows_of(item), left)
                counts[item] = len(violated)
                over = violated | over
        return counts, over

    def _covered_items(self, covering: CoveringBudgets) -> list[int]:
        items: list[int] = np.flatnonzero(np.isin(self.lead, covering.leads(self.units))).tolist()
        return items

    def in_turn(self, violating: Flags) -> list[Rows]:
        """Return the items in the order in which they are put back: those that violate budgets, then the others."""
        return [np.flatnonzero(violating), np.flatnonzero(~violating)]

    def victims(self, feasibility: Feasibility, departing: DepartingPods, violating: Flags) -> Flags:
        """Return for each item whether its unit has to go: put back in its turn, it would keep the pending pod out."""
        limits = [
            (np.add.reduceat(weight[self.rows], self.first) if len(self.first) else weight[:0], room)
            for weight, room in feasibility.binding(departing, self.places)
        ]
        victims = np.zeros(len(self.first), np.bool_)
        for items in self.in_turn(violating):
            bounds = np.searchsorted(self.node[items], np.append(self.places, len(self.columns.nodes)))
            counts = np.diff(bounds)
            for turn in range(int(counts.max(initial=0))):
                still = np.flatnonzero(counts > turn)
                tried = items[bounds[still] + turn]
                stays = np.ones(len(still), np.bool_)
                for weight, room in limits:
                    stays &= np.asarray(weight[tried] <= room[still], np.bool_)
                for weight, room in limits:
                    room[still] -= weight[tried] * stays
                victims[tried[~stays]] = True
        return victims

    def costs(self, victims: Flags, violations: Numbers) -> Costs:
        """Return the costs of every node with victims.

        They are read from the pods' own priorities: of the first pod of the most important unit, of all pods of all
        units, and the start of the first one among those with the highest priority.
        """
        found: dict[int, list[int]] = {}
        over: dict[int, int] = {}
        for item in np.flatnonzero(victims).tolist():
            place = int(self.node[item])
            found.setdefault(place, []).extend(self.rows_of(item))
            over[place] = over.get(place, 0) + int(violations[item])
        by = np.array(list(self._each(found, over)), np.int64).reshape(len(found), len(CRITERIA) - 1)
        return Costs(np.array(list(found), np.intp), list(by.T))

    def _each(self, found: dict[int, list[int]], over: dict[int, int]) -> Iterator[tuple[int, int, int, int, int]]:
        priority, started = self.columns.priority, self.columns.started
        for place, rows in found.items():
            own = priority[rows]
            highest = int(own.max())
            earliest = min(int(started[row]) for row in rows if priority[row] == highest)
            yield over[place], int(own[0]), int((own + PRIORITY_SHIFT).sum()), len(rows), -earliest
