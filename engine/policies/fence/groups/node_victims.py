"""The victims that policy ``fence`` chooses on one node for one member of a gang, or for a single pod.

The choice is that of ``fence.victims.victim_selection``: greedy, the most expendable first, then a reprieve, and other
sets where the greedy choice fails. But units are taken, and what the members before have left of every limit counts.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from engine.model.columns.node_columns import Numbers
from engine.policies.common.groups.members_in_place import MemberOnNode
from engine.policies.common.victim_search import SetRules, VictimSetSearch
from engine.policies.fence.groups.allowances import Allowances
from engine.policies.fence.groups.units import Cost, Unit, cost_of
from engine.policies.fence.victims.node_costs import CRITERIA

_Numbers = tuple[int, ...]
_PRIORITY, _AGE = CRITERIA.index("priority"), CRITERIA.index("age")


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

    def _counting(self, unit: Unit) -> Sequence[tuple[int, int]]:
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


def least_cost(limits: Sequence[tuple[Numbers, int]], costs: Numbers, place: int) -> Cost | None:
    """Return a lower bound of what victims cost on a node (by index), None if all candidates there are not enough.

    ``limits``: for each limit of the node, what the candidates hold of it and what is left. ``costs``: what the
    eviction of each candidate costs by itself, a column for each. None of them may be one that is needed nearby.
    """
    missing = [(weight, -left) for weight, left in limits if left < 0]
    if not missing:
        return cost_of((), place)
    ranked = costs[_PRIORITY].argsort(kind="stable")
    highest, count = list[int](), 1
    for weight, amount in missing:
        upto = weight[ranked].cumsum()
        if not len(upto) or upto[-1] < amount:
            return None
        highest.append(int(costs[_PRIORITY, ranked[upto.searchsorted(amount)]]))
        count = max(count, -(-amount // int(weight.max())))
    least = np.sort(costs, axis=1)[:, :count]
    opted_out, originators, _, pods, distance, lost, _, _ = least.sum(axis=1).tolist()
    return opted_out, originators, max(highest), pods, distance, lost, int(least[_AGE, -1]), place
