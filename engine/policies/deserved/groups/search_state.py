"""The cluster while a search places the members of a gang: who comes to which node, and which units leave."""

from collections import Counter
from collections.abc import Mapping, Sequence

from engine.feasibility.moving_checks import MovingChecks
from engine.model.objects import Pod
from engine.policies.common.groups.members_in_place import Placed
from engine.policies.common.groups.placing import MemberShapes
from engine.policies.deserved.groups.allowances import ReclaimAllowances
from engine.policies.deserved.groups.terms import MemberTerms, Terms
from engine.policies.deserved.groups.units import ReclaimUnit


class SearchState:
    """The members that are placed, and the units that are taken for them. Whatever is done can be taken back."""

    def __init__(
        self, terms: Terms, shapes: MemberShapes, checks: Mapping[bytes, MovingChecks], placed: Placed
    ) -> None:
        """Begin with the ``placed`` members. ``checks``: of each shape, in the cluster with these."""
        self._terms, self.shapes, self._checks, self.placed = terms, shapes, checks, list(placed)
        self.columns = shapes.snapshot.columns
        self.allowances = self.fresh_allowances()
        self.taken: dict[int, tuple[ReclaimUnit, MemberTerms]] = {}
        """Lead of a unit -> the unit, and for whom it goes, in the order in which they were taken."""
        self._moved: dict[int, list[tuple[Pod, int]]] = {}
        """Index of a node -> the pods that come there (-1) or leave it (1)."""
        for pod, place in placed:
            self._moved.setdefault(place, []).append((pod, -1))
        self.changes: Counter[int] = Counter()
        """Index of a node -> how often pods came there, or left it."""
        self.moves: list[int] = []
        """The nodes (by index) at which pods came or left, one after the other."""

    def fresh_allowances(self) -> ReclaimAllowances:
        """Return what may be taken before any unit is."""
        attempts = [terms.attempt for terms in self._terms.values()]
        allowances = ReclaimAllowances(attempts, next(iter(self._terms.values())).candidates.budgets)
        for pod, _place in self.placed:
            allowances.ask(pod.requests)
        return allowances

    @property
    def local(self) -> bool:
        """Return whether pods of other nodes make no difference to any member."""
        return all(checks.local for checks in self._checks.values())

    def terms_of(self, pod: Pod) -> MemberTerms:
        """Return the terms of a member."""
        return self._terms[pod.uid]

    def checks_of(self, pod: Pod) -> MovingChecks:
        """Return the checks of a member."""
        return self._checks[self.shapes.shape_of(pod)]

    def place(self, pod: Pod, place: int, units: Sequence[ReclaimUnit]) -> None:
        """Let a member come to a node (by index), and units leave for it."""
        self.allowances.ask(pod.requests)
        for unit in units:
            self.allowances.take(unit)
            self.taken[unit.lead] = unit, self._terms[pod.uid]
            self._move(unit, -1)
        for checks in self._checks.values():
            checks.bind(pod, place)
        self._moved.setdefault(place, []).append((pod, -1))
        self.changes[place] += 1
        self.moves.append(place)

    def take_back(self, pod: Pod, place: int, units: Sequence[ReclaimUnit]) -> None:
        """Undo what ``place`` did last."""
        self._moved[place].remove((pod, -1))
        for checks in self._checks.values():
            checks.bind(pod, place, -1)
        for unit in units:
            self._move(unit, 1)
            del self.taken[unit.lead]
            self.allowances.take(unit, -1)
        self.allowances.ask(pod.requests, -1)

    def _move(self, unit: ReclaimUnit, times: int) -> None:
        """Let a unit leave (``times`` -1), or come back (1)."""
        for row, place in unit.pods:
            pod = self.columns.pods[row]
            self.changes[place] += 1
            self.moves.append(place)
            if times < 0:
                self._moved.setdefault(place, []).append((pod, 1))
            else:
                self._moved[place].remove((pod, 1))
            for checks in self._checks.values():
                checks.put_back(pod, place, times)

    def free(self, terms: MemberTerms, place: int) -> dict[str, int]:
        """Return what a node (by index) has left of each requested resource now."""
        moved, free = self._moved.get(place, ()), terms.attempt.free
        return {
            name: int(free[name][place]) + sum(times * pod.requests.get(name, 0) for pod, times in moved)
            for name in terms.attempt.wanted
        }
