"""The victims that policy ``deserved`` chooses on one node for one member of a gang, or for a single pod.

The choice is that of ``deserved.victim_selection``: always from the queue that exceeds what it deserves the most,
recalculated after each victim. But units are taken, and what the members before have left counts.
"""

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence

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
        self._member, self._terms, self._allowances = member, terms, allowances
        self._below = below
        self._free = dict(free)
        self._balances = allowances.balances(terms.attempt)

    def find(self, units: Sequence[ReclaimUnit]) -> list[ReclaimUnit] | None:
        """Return which units have to go, in the order in which they were taken, None if all of them are not enough.

        ``units``: those that may go, by ``ReclaimUnit.order``.
        """
        taken: list[ReclaimUnit] = []
        by_queue = _by_queue(units)
        enough = self._enough()
        while not enough:
            unit = self._next(by_queue.values())
            if unit is None:
                break
            by_queue[*unit.held].remove(unit)
            self._allowances.take(unit)
            self._leave(unit, 1)
            taken.append(unit)
            enough = self._enough()
        spared = [unit for unit in reversed(taken) if enough and self._may_stay(unit)]
        taken = [unit for unit in taken if unit not in spared]
        for unit in taken:
            self._allowances.take(unit, -1)
            self._leave(unit, -1)
        return taken if enough else None

    def lowest_priority(self, units: Sequence[ReclaimUnit]) -> int:
        """Return the highest priority among victims at least, so that the node has what is requested.

        ``units``: those that may go, by ``ReclaimUnit.order``; there must be one.
        """
        place, lacks = self._member.place, dict[str, int]()
        for name, amount in self._terms.attempt.wanted.items():
            if self._free[name] < amount:
                lacks[name] = amount - self._free[name]
        for unit in units if lacks else ():
            for (_row, at), pod in zip(unit.pods, unit.victims, strict=True):
                if at == place:
                    for name in lacks:
                        lacks[name] -= pod.requests.get(name, 0)
            if all(lacking <= 0 for lacking in lacks.values()):
                return unit.priority
        return units[-1 if lacks else 0].priority

    def _enough(self) -> bool:
        return self._allowances.under_max() and self._member.fits()

    def _may_stay(self, unit: ReclaimUnit) -> bool:
        """Let a unit come back if there is enough room without it; return whether there is."""
        self._leave(unit, -1)
        if self._member.fits():
            self._allowances.take(unit, -1)
            if self._allowances.under_max():
                return True
            self._allowances.take(unit)
        self._leave(unit, 1)
        return False

    def _leave(self, unit: ReclaimUnit, times: int) -> None:
        """Let a unit leave (``times`` 1), or come back (-1), as far as the member is concerned."""
        place, free = self._member.place, self._free
        for (row, at), pod in zip(unit.pods, unit.victims, strict=True):
            if at == place:
                for name in free:
                    free[name] += times * pod.requests.get(name, 0)
            if at == place or not self._member.local:
                self._member.put_back(row, at, -times)

    def _next(self, by_queue: Iterable[Sequence[ReclaimUnit]]) -> ReclaimUnit | None:
        """Return the unit that goes next: the first in its turn that helps and may go."""
        lacks = not self._member.fits()
        short = self._short() if lacks else [*self._terms.attempt.wanted]
        for unit in heapq.merge(*by_queue, key=lambda unit: unit.turn(self._balances)):
            helping = self._helping(unit) if lacks else unit.victims if self._allowances.relieves(unit) else ()
            if helping and self._may_give(unit, helping, short) and self._allowances.allows(unit):
                return unit
        return None

    def _short(self) -> list[str]:
        """Return the resources of which the node has too little, or all that are requested if it is not for these."""
        wanted = self._terms.attempt.wanted
        return [name for name, amount in wanted.items() if self._free[name] < amount] or [*wanted]

    def _helping(self, unit: ReclaimUnit) -> list[Pod]:
        """Return the pods of a unit that free some of what the member lacks on the node."""
        place, member = self._member.place, self._member
        pods = zip(unit.pods, unit.victims, strict=True)
        return [pod for (row, at), pod in pods if (at == place or not member.local) and member.helps(row, at)]

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


def _by_queue(units: Iterable[ReclaimUnit]) -> dict[tuple[str, ...], list[ReclaimUnit]]:
    """Return units by the queues of their pods, which rank alike whoever goes, in the order of ``units``."""
    found: dict[tuple[str, ...], list[ReclaimUnit]] = {}
    for unit in units:
        found.setdefault((*unit.held,), []).append(unit)
    return found
