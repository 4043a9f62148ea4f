"""The victims that policy ``fence`` chooses on one node for one member of a gang, or for a single pod.

The choice is that of ``fence.victim_selection``: greedy, the most expendable first, then a reprieve, and other sets
where the greedy choice fails. But units are taken, and what the members before have left of every limit counts.
"""

from collections.abc import Iterable, Sequence
from typing import overload

from engine.policies.common.groups.members_in_place import MemberOnNode
from engine.policies.common.victim_search import SetRules, VictimSetSearch
from engine.policies.fence.groups.allowances import Allowances
from engine.policies.fence.groups.units import CandidateUnits, Unit

_Numbers = tuple[int, ...]


class LazyUnits(Sequence[Unit]):
    """Some units (leads), each worked out only when it is looked at."""

    def __init__(self, candidates: CandidateUnits, leads: Sequence[int]) -> None:
        self._candidates, self._leads = candidates, leads

    def __len__(self) -> int:
        return len(self._leads)

    @overload
    def __getitem__(self, number: int) -> Unit: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Unit]: ...
    def __getitem__(self, number: int | slice) -> Unit | Sequence[Unit]:
        if isinstance(number, slice):
            return LazyUnits(self._candidates, self._leads[number])
        return self._candidates.unit(self._leads[number])


class UnitChoice(SetRules):
    """The choice of victims for a pending pod on one node. ``units``: those that may go, most expendable first."""

    def __init__(self, member: MemberOnNode, units: Sequence[Unit], allowances: Allowances, *, mends: bool) -> None:
        """Prepare the choice. ``mends``: whether a pod that leaves can keep the pending pod from the node."""
        self._member, self._units, self._allowances, self._mends = member, units, allowances, mends
        self.gave_up = False
        """Whether no set was found and not all sets were tried."""

    def find(self) -> list[Unit] | None:
        """Return the units that have to go, None if no set was found that may go and makes enough room."""
        if self._enough():
            return []
        taken = self._greedy()
        enough = self._enough()
        for unit in reversed(taken) if enough else ():
            self._move([unit], -1)
            if self._enough():
                taken = [other for other in taken if other is not unit]
            else:
                self._move([unit], 1)
        self._move(taken, -1)
        return taken if enough else self._other_set()

    def _greedy(self) -> list[Unit]:
        taken: list[Unit] = []
        for unit in self._units:
            if self._enough():
                break
            if any(self._member.helps(*pod) for pod in self._counting(unit)) and self._allowances.allows(unit):
                self._move([unit], 1)
                taken.append(unit)
        return taken

    def _other_set(self) -> list[Unit] | None:
        search = VictimSetSearch(range(len(self._units)), self)
        found = search.victims()
        self.gave_up = found is None and search.gave_up
        return None if found is None else [self._units[number] for number in found[0]]

    def _enough(self) -> bool:
        return self._allowances.under_max() and self._member.fits()

    def _move(self, units: Iterable[Unit], times: int) -> None:
        """Let units leave (``times`` 1), or come back (-1)."""
        for unit in units:
            self._allowances.take(unit, times)
            for row, place in self._counting(unit):
                self._member.put_back(row, place, -times)

    def _counting(self, unit: Unit) -> list[tuple[int, int]]:
        """Return the pods of a unit that may make a difference: those on the node, where others do not."""
        return unit.on(self._member.place) if self._member.local else unit.pods

    def room(self, rows: _Numbers, surely: _Numbers | None = None) -> bool:
        if surely is not None and self._mends:
            return True  # a set without some of them may make more room
        units = [self._units[number] for number in rows]
        self._move(units, 1)
        enough = self._enough()
        self._move(units, -1)
        return enough

    def may_go(self, rows: _Numbers) -> bool:
        return self._allowances.allow_all(self._units[number] for number in rows)

    def alike(self, one: int, other: int) -> bool:
        first, second = self._units[one], self._units[other]
        if len(first.rows) > 1 or len(second.rows) > 1:
            return False
        weights = [self._member.weights_of(*unit.pods[0]) for unit in (first, second)]
        same = (first.held, first.capped, first.budgets) == (second.held, second.capped, second.budgets)
        return same and weights[0] is not None and weights[0] == weights[1]
