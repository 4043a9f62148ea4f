"""The search over all sets of victims for all members of a gang at once, where one member after the other finds none.

The victims of one member may leave too little for the next one, though other victims would do. Small clusters, and
gangs that few nodes can take, are searched in full.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from math import prod
from typing import Generic

import numpy as np

from engine.model.columns.departures import DepartingPods
from engine.model.objects import Pod
from engine.policies.common.groups.members_in_place import MembersInPlace, Placed
from engine.policies.common.groups.placing import MemberShapes
from engine.policies.common.groups.units import AnyUnit, UnitAllowances, UnitsByNode
from engine.policies.common.victim_search import Rows, SetRules, VictimSetSearch

_CHOICES = 2_000
"""How many choices of nodes for all members there may be."""
_TRIES = 2_000
"""The largest number of sets tried."""


class JointSearch(Generic[AnyUnit]):
    """The search for nodes and victims of all members at once."""

    def __init__(
        self,
        candidates: UnitsByNode[AnyUnit],
        shapes: MemberShapes,
        placed: Placed,
        allowances: UnitAllowances[AnyUnit],
    ) -> None:
        """Prepare the search. ``placed``: members that have a node already, which ``allowances`` count."""
        self._candidates, self._shapes, self._placed, self._allowances = candidates, shapes, placed, allowances
        self._columns = candidates.attempt.columns
        self.gave_up = False
        """Whether nothing was found and not all sets were tried."""

    def find(self, members: Sequence[Pod]) -> tuple[Placed, list[AnyUnit]] | None:
        """Return the nodes of all members and the units that go, None if none were found that may."""
        tries = _TRIES
        for pod in members:
            self._allowances.ask(pod.requests)
        for places in self._choices(members):
            placed = [*self._placed, *zip(members, places, strict=True)]
            rules = JointRules(self._candidates, self._shapes, placed, self._allowances)
            search = VictimSetSearch(range(len(rules.units)), rules, tries)
            found = search.victims()
            tries = search.tries
            units = [rules.units[number] for number in found[0]] if found else []
            if found and rules.near(units):
                return placed, units
            if tries < 0:
                self.gave_up = True
                break
        return None

    def _choices(self, members: Sequence[Pod]) -> Iterator[tuple[int, ...]]:
        """Yield the nodes for all members; not again where members that are alike change places."""
        attempt, columns = self._candidates.attempt, self._columns
        gone = np.union1d(columns.leaving, np.flatnonzero(self._candidates.may_go)).astype(np.intp)
        state = self._shapes.without(DepartingPods(columns, gone), ~attempt.open)
        shapes = [self._shapes.shape_of(pod) for pod in members]
        local = all(checks.local for checks in state.checks.values())
        each = [np.flatnonzero(state.checks[s].allowed() if local else state.checks[s].open).tolist() for s in shapes]
        if prod(map(len, each)) > _CHOICES:
            self.gave_up = True
            return
        for places in product(*each):
            pairs = pairwise(zip(shapes, places, strict=True))
            if not local or all(one[0] != other[0] or one[1] <= other[1] for one, other in pairs):
                yield places


class JointRules(SetRules, Generic[AnyUnit]):
    """The rules for sets of units that make room for all members, each on its node."""

    def __init__(
        self,
        candidates: UnitsByNode[AnyUnit],
        shapes: MemberShapes,
        placed: Placed,
        allowances: UnitAllowances[AnyUnit],
    ) -> None:
        """Prepare the rules. ``allowances`` count all members."""
        columns = candidates.attempt.columns
        self.units = candidates.on(dict.fromkeys(place for _pod, place in placed))
        """The units on the nodes of members, the most expendable first."""
        rows = np.array([row for unit in self.units for row in unit.rows], np.intp)
        gone = DepartingPods(columns, np.union1d(columns.leaving, rows))
        self._members, self._allowances = MembersInPlace(shapes, gone, placed), allowances

    def room(self, rows: Rows, surely: Rows | None = None) -> bool:
        if surely is not None and not self._members.local:
            return True  # a set without some of them may make more room
        return self._under_max(rows) and self._members.fit_beside(self._back(rows))

    def may_go(self, rows: Rows) -> bool:
        return self._allowances.allow_all(self.units[number] for number in rows)

    def alike(self, one: int, other: int) -> bool:
        first, second = self.units[one], self.units[other]
        return first is second  # two units may matter to different members

    def near(self, units: Sequence[AnyUnit]) -> bool:
        """Return whether each of the units is needed by a member on one of its own nodes, or under a max."""
        rows = tuple(number for number, unit in enumerate(self.units) if unit in units)
        for number in rows:
            without = tuple(other for other in rows if other != number)
            if self._under_max(without) and self._members.fit_beside(
                self._back(without), nearby=self.units[number].places
            ):
                return False
        return True

    def _back(self, rows: Rows) -> list[tuple[int, int]]:
        """Return the pods of all units but these."""
        return [pod for number, unit in enumerate(self.units) if number not in rows for pod in unit.pods]

    def _under_max(self, rows: Rows) -> bool:
        units = [self.units[number] for number in rows]
        for unit in units:
            self._allowances.take(unit)
        enough = self._allowances.under_max()
        for unit in units:
            self._allowances.take(unit, -1)
        return enough
