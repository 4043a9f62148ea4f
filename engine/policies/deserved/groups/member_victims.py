"""The victims that policy ``deserved`` chooses on one node for one member of a gang, or for a single pod.

The choice is that of ``deserved.victim_selection``: always from the queue that exceeds what it deserves the most,
recalculated after each victim. But units are taken, and what the members before have left counts.
"""

import heapq
from collections.abc import Collection, Mapping, Sequence

from engine.model.objects import Pod
from engine.policies.common.groups.members_in_place import MemberOnNode
from engine.policies.deserved.groups.allowances import ReclaimAllowances
from engine.policies.deserved.groups.terms import MemberTerms
from engine.policies.deserved.groups.units import ReclaimUnit


class MemberVictims:
    """One choice of victims on a node. With ``below``, queues give also after they came down to what they deserve."""

    def __init__(
        self,
        member: MemberOnNode,
        terms: MemberTerms,
        allowances: ReclaimAllowances,
        free: Mapping[str, int],
        *,
        below: bool,
    ) -> None:
        """Prepare the choice. ``free``: what the node has left of each requested resource before anybody goes."""
        self._member, self._terms, self._allowances, self._free = member, terms, allowances, free
        self._below = below
        self._balances = allowances.balances(terms.attempt)

    def find(self, units: Sequence[ReclaimUnit]) -> list[ReclaimUnit] | None:
        """Return which of some units have to go, in the order in which they were taken, None if that is not enough."""
        taken: list[ReclaimUnit] = []
        enough = self._enough()
        while not enough:
            unit = self._next(units, taken)
            if unit is None:
                break
            self._move(unit, 1)
            taken.append(unit)
            enough = self._enough()
        for unit in reversed(taken) if enough else ():
            self._move(unit, -1)
            if self._enough():
                taken = [other for other in taken if other is not unit]
            else:
                self._move(unit, 1)
        for unit in taken:
            self._move(unit, -1)
        return taken if enough else None

    def _enough(self) -> bool:
        return self._allowances.under_max() and self._member.fits()

    def _move(self, unit: ReclaimUnit, times: int) -> None:
        """Let a unit leave (``times`` 1), or come back (-1)."""
        self._allowances.take(unit, times)
        for row, place in unit.on(self._member.place) if self._member.local else unit.pods:
            self._member.put_back(row, place, -times)

    def _next(self, units: Sequence[ReclaimUnit], taken: Sequence[ReclaimUnit]) -> ReclaimUnit | None:
        """Return the unit that goes next: the first in its turn that helps and may go."""
        lacks, gone = not self._member.fits(), {unit.lead for unit in taken}
        short = self._short(taken) if lacks else [*self._terms.attempt.wanted]
        left = [(unit.turn(self._balances), unit.lead, unit) for unit in units if unit.lead not in gone]
        heapq.heapify(left)
        while left:
            unit = heapq.heappop(left)[2]
            helping = self._helping(unit) if lacks else unit.victims if self._allowances.relieves(unit) else ()
            if helping and self._may_give(unit, helping, short) and self._allowances.allows(unit):
                return unit
        return None

    def _short(self, taken: Sequence[ReclaimUnit]) -> list[str]:
        """Return the resources of which the node has too little, or all that are requested if it is not for these."""
        wanted, columns = self._terms.attempt.wanted, self._terms.attempt.nodes.columns
        rows = [row for unit in taken for row, _place in unit.on(self._member.place)]
        short = [
            name
            for name, amount in wanted.items()
            if self._free[name] + sum(columns.pods[row].requests.get(name, 0) for row in rows) < amount
        ]
        return short or [*wanted]

    def _helping(self, unit: ReclaimUnit) -> list[Pod]:
        """Return the pods of a unit that free some of what the member lacks on the node."""
        pods = self._terms.attempt.nodes.columns.pods
        near = unit.on(self._member.place) if self._member.local else unit.pods
        return [pods[row] for row, place in near if self._member.helps(row, place)]

    def _may_give(self, unit: ReclaimUnit, helping: Collection[Pod], short: Collection[str]) -> bool:
        """Return whether the queues of all pods of a unit use more than they deserve of what is short, or requested."""
        if self._terms.attempt.outranks:
            return True
        frees = any(self._beyond(pod, short) for pod in helping)
        return frees and all(self._beyond(pod, self._terms.attempt.wanted) for pod in unit.victims)

    def _beyond(self, pod: Pod, names: Collection[str]) -> bool:
        """Return whether a pod holds any of these resources that its queue uses beyond what it deserves."""
        overused = self._balances.was_overused if self._below else self._balances.overused
        return any(pod.requests.get(name, 0) > 0 and overused(pod.queue or "", name) for name in names)
