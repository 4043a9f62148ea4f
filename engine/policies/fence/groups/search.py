"""The search for nodes and victims of the members of a gang, one member after the other.

Each member gets the least node by the order of the policy, in the cluster that the members before it leave. If one
finds no node, the member before it moves on to its next node. What is found is minimal: if any unit stays, some member
no longer fits.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from engine.feasibility.moving_checks import MovingChecks
from engine.model.columns.departures import DepartingPods
from engine.model.objects import Pod
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.groups.joint_search import JointSearch
from engine.policies.common.groups.members_in_place import LocalMember, MemberOnNode, MembersInPlace, Placed
from engine.policies.common.groups.placing import MemberShapes
from engine.policies.fence.groups.allowances import Allowances
from engine.policies.fence.groups.joint_rules import FenceJointRules
from engine.policies.fence.groups.node_order import NodeOrder, Option, nothing_known
from engine.policies.fence.groups.node_victims import UnitChoice, least_cost
from engine.policies.fence.groups.nodes_for_shape import NodesForShape, costs_no_less
from engine.policies.fence.groups.shortages import QueueShortages, enough_preemptable, room_at_most
from engine.policies.fence.groups.units import CandidateUnits, Cost, Unit, cost_of
from engine.policies.fence.node_candidates import NodeCandidates

_RETURNS = 500
"""How often a member moves on to its next node, at most."""
_MANY_LOOKS = 16
"""How many nodes are looked at for a member one by one, at least."""
_LOOKS = 50_000
"""How many nodes are looked at, at most."""


class LimitReachedError(Exception):
    """The search ends because the largest number of nodes or sets was tried."""


@dataclass
class _Level:
    """One member of the search, with its nodes in order."""

    shape: bytes
    order: NodeOrder
    options: Iterator[Option]
    excess: tuple[int, ...]
    """By how much the member exceeds each max above it, without victims of its own."""
    chosen: Option | None = None
    touched: set[int] = field(default_factory=set)

    def holds_for(self, shape: bytes, excess: tuple[int, ...]) -> bool:
        """Return whether victims cost a later member no less on a node on which nothing changes."""
        return self.shape == shape and costs_no_less(self.excess, excess)


@dataclass
class _Looks:
    """The nodes that were looked at for a member in vain."""

    number: int = 0
    short: Sequence[bool] | None = None
    """By node index, whether it is sure that the queues there may lose too little; None: not looked at yet."""


@dataclass(frozen=True)
class GangPlan:
    """Where the members get a node, in the order in which they were placed, and the units that are evicted."""

    placed: Placed
    units: tuple[Unit, ...]


class GangSearch:
    """The search for some members that all need a node. ``placed``: members that have one without any eviction."""

    def __init__(
        self,
        candidates: CandidateUnits,
        shapes: MemberShapes,
        checks: dict[bytes, MovingChecks],
        placed: Placed = (),
        known: NodeCandidates | None = None,
    ) -> None:
        """Prepare the search. ``checks``: of each shape, in the cluster with the ``placed`` members.

        ``known``: what was found for a single pod without looking at groups.
        """
        self._known = known
        self._candidates, self._shapes, self._checks, self._placed = candidates, shapes, checks, list(placed)
        self._attempt = candidates.attempt
        self._columns = self._attempt.columns
        self._allowances = Allowances(self._attempt, candidates.amounts)
        for pod, _place in placed:
            self._allowances.ask(pod.requests)
        self._taken: dict[int, Unit] = {}
        self._gone = np.zeros(len(self._columns.pods), np.bool_)
        """Row -> whether the pod is of a unit that was taken."""
        self._touched = Counter(place for _pod, place in placed)
        """Index of a node -> how many placed members and evicted units changed it."""
        self._ranked: dict[bytes, NodesForShape] = {}
        """Shape of a member -> what was found for it with nobody placed."""
        self._returns, self._looks = _RETURNS, _LOOKS
        self.gave_up = False
        """Whether nothing was found and not all sets were tried."""
        self._short: bool | None = None
        """Whether it is sure that there is too little for all members, None if that was not looked at."""

    def find(self, members: Sequence[Pod]) -> GangPlan | None:
        """Return a plan for all members, None if none was found. There must be at least one member."""
        if (plan := self._one_by_one(members)) is not None or self.gave_up or self._hopeless(members):
            return plan
        about = self._candidates, self._shapes, self._placed, self._allowances
        search = JointSearch(*about, rules=self._joint_rules)
        found = search.find(members)
        self.gave_up = search.gave_up
        return None if found is None else GangPlan(found[0], tuple(found[1]))

    def _joint_rules(self, placed: Placed) -> FenceJointRules:
        return FenceJointRules(self._candidates, self._shapes, placed, self._allowances)

    def _hopeless(self, members: Sequence[Pod]) -> bool:
        """Return whether it is sure that there is no plan: too much is missing, or a member has no node even alone.

        The latter is not sure where the victims of other members make room under a max.
        """
        if self._short is None:
            self._short = self._too_little(members)
        if self._short or not all(checks.local for checks in self._checks.values()):
            return self._short
        shapes = {self._shapes.shape_of(pod): pod for pod in members}
        alone = self._under_max(members) and any(
            next(self._level(pod, []).options, None) is None for pod in shapes.values()
        )
        return alone and not self.gave_up

    def _too_little(self, members: Sequence[Pod]) -> bool:
        """Return whether it is sure that there is too little room, or too little that the queues may lose.

        It is known only of members that differ in identity alone, and where pods of other nodes make no difference.
        """
        if not all(checks.local for checks in self._checks.values()):
            return False
        for shape, number in Counter(map(self._shapes.shape_of, members)).items():
            pod = next(pod for pod in members if self._shapes.shape_of(pod) == shape)
            if not enough_preemptable(self._candidates, self._checks[shape], self._placed, pod, number):
                return True
            if room_at_most(self._candidates, self._shapes, self._placed, pod, number) < number:
                return True
        return False

    def _under_max(self, members: Sequence[Pod]) -> bool:
        """Return whether all members would be under every max without any eviction."""
        for pod in members:
            self._allowances.ask(pod.requests)
        enough = self._allowances.under_max()
        for pod in members:
            self._allowances.ask(pod.requests, -1)
        return enough

    def _one_by_one(self, members: Sequence[Pod]) -> GangPlan | None:
        levels: list[_Level] = []
        try:
            return self._descend(members, levels)
        except LimitReachedError:
            self.gave_up = True
            self._undo_all(members, levels)
            return None

    def _undo_all(self, members: Sequence[Pod], levels: Sequence[_Level]) -> None:
        for pod, level in reversed(list(zip(members, levels, strict=False))):
            self._undo(pod, level)

    def _descend(self, members: Sequence[Pod], levels: list[_Level]) -> GangPlan | None:
        levels.append(self._level(members[0], levels))
        while levels:
            level, pod = levels[-1], members[len(levels) - 1]
            if level.chosen is not None:
                self._undo(pod, level)
                self._returns -= 1
            option = next(level.options, None)
            if option is None:
                if self._short is None and (short := self._too_little(members)):
                    self._short, self.gave_up = short, False
                if self._short:
                    levels.pop()
                    self._undo_all(members, levels)
                    return None
                self._short = False
                levels.pop()
                continue
            if self._returns < 0:
                raise LimitReachedError
            self._apply(pod, level, option)
            if len(levels) < len(members):
                levels.append(self._level(members[len(levels)], levels))
                continue
            places = [one.chosen.place for one in levels if one.chosen]
            if (plan := self._settled([*self._placed, *zip(members, places, strict=True)])) is not None:
                return plan
        return None

    def _apply(self, pod: Pod, level: _Level, option: Option) -> None:
        level.chosen, level.touched = option, option.touched
        self._touched.update(level.touched)
        self._allowances.ask(pod.requests)
        for unit in option.units:
            self._allowances.take(unit)
            self._taken[unit.lead] = unit
            self._move(unit, -1)
        for checks in self._checks.values():
            checks.bind(pod, option.place)

    def _undo(self, pod: Pod, level: _Level) -> None:
        if level.chosen is None:
            return
        for checks in self._checks.values():
            checks.bind(pod, level.chosen.place, -1)
        for unit in level.chosen.units:
            self._move(unit, 1)
            del self._taken[unit.lead]
            self._allowances.take(unit, -1)
        self._allowances.ask(pod.requests, -1)
        self._touched.subtract(level.touched)
        level.chosen = None

    def _move(self, unit: Unit, times: int) -> None:
        self._gone[list(unit.rows)] = times < 0
        for row, place in unit.pods:
            for checks in self._checks.values():
                checks.put_back(self._columns.pods[row], place, times)

    def _level(self, pod: Pod, before: Sequence[_Level]) -> _Level:
        """Return a new level for a member: on the nodes that no level before it touched, little can have changed."""
        shape, excess = self._shapes.shape_of(pod), self._allowances.excess(pod.requests)
        alike = (number for number in reversed(range(len(before))) if before[number].holds_for(shape, excess))
        same = next(alike, None)
        if not self._checks[shape].local:
            order = NodeOrder((), nothing_known(np.flatnonzero(self._checks[shape].open).tolist()))
        elif same is None:
            touched = {place for level in before for place in level.touched}
            order = self._first_order(pod, shape, excess).after(self._bounds(shape, touched))
        else:
            touched = {place for level in before[same:] for place in level.touched}
            order = before[same].order.after(self._bounds(shape, touched))
        return _Level(shape, order, order.walk(partial(self._look, pod, shape, _Looks())), excess)

    def _first_order(self, pod: Pod, shape: bytes, excess: tuple[int, ...]) -> NodeOrder:
        """Return the nodes by the costs of victims that are found without looking at groups, and by bounds with groups.

        Nodes on which members were placed, or have room, are looked at first.
        """
        checks = self._checks[shape]
        if shape not in self._ranked:
            attempt = PreemptionAttempt(self._attempt.snapshot, self._attempt.tree, pod)
            self._ranked[shape] = NodesForShape(self._candidates, attempt, self._known)
            self.gave_up |= self._ranked[shape].found.victims.gave_up
        first = self._ranked[shape].ranked(checks.open, excess)
        order = NodeOrder(first, nothing_known(np.flatnonzero(checks.allowed()).tolist()))
        return order.after(nothing_known(place for _pod, place in self._placed if checks.open[place]))

    def _bounds(self, shape: bytes, places: Iterable[int]) -> dict[int, Cost | None]:
        """Return lower bounds of the costs on nodes on which something has changed; None: nothing is found there."""
        checks = self._checks[shape]
        if checks.mends:
            return nothing_known(places)
        bounds = dict[int, Cost | None]()
        for place in places:
            if checks.open[place]:
                rows, costs = self._candidates.costs_on(place, self._gone)
                bounds[place] = least_cost(
                    [(weight[rows], left) for weight, left in checks.left_on(place)], costs, place
                )
            else:
                bounds[place] = None
        return bounds

    def _left_on(self, place: int) -> list[Unit]:
        return [unit for unit in self._candidates.on((place,)) if unit.lead not in self._taken]

    def _look(self, pod: Pod, shape: bytes, looks: _Looks, place: int) -> Option | None:
        """Return the victims on a node for a member, None if none were found.

        They are the least of those with and those without whole groups, which may be many pods for little room.
        Raises LimitReachedError.
        """
        checks = self._checks[shape]
        if not checks.open[place]:
            return None
        if self._looks <= 0:
            raise LimitReachedError
        self._looks -= 1
        if self._surely_short(checks, looks, place):
            return None
        self._allowances.ask(pod.requests)
        found, least = self._without_groups(shape, place)
        if least is not None and (found is None or found.cost > least):
            with_groups = self._among(self._left_on(place), shape, place)
            found = min((one for one in (found, with_groups) if one), key=lambda one: one.cost, default=None)
        self._allowances.ask(pod.requests, -1)
        return found

    def _surely_short(self, checks: MovingChecks, looks: _Looks, place: int) -> bool:
        """Return whether the queues on a node may lose too little, looked at for all nodes once many were in vain."""
        looks.number += 1
        if looks.number > _MANY_LOOKS and looks.short is None and checks.local and not checks.mends:
            left = self._allowances.left()
            looks.short = self._queue_shortages.surely_short(checks, left, self._gone).tolist()
        return looks.short is not None and looks.short[place]

    @cached_property
    def _queue_shortages(self) -> QueueShortages:
        return QueueShortages(self._candidates)

    def _without_groups(self, shape: bytes, place: int) -> tuple[Option | None, Cost | None]:
        """Return the victims on a node without whole groups, and the least costs with one; None: there are none."""
        ranked, checks = self._ranked.get(shape), self._checks[shape]
        as_found = ranked and ranked.usable and not self._touched[place] and not self._allowances.may_bind
        if ranked and as_found and self._allowances.under_max():
            if checks.allowed_on(place):
                return Option(place, (), cost_of((), place)), None
            return ranked.option(place), ranked.least_with_groups(place)
        left, whole = self._left_on(place), self._candidates.units.whole
        alone = [unit for unit in left if not whole[unit.lead]]
        with_groups = [(*unit.turn[:-1], place) for unit in left if whole[unit.lead]]
        return self._among(alone, shape, place), min(with_groups, default=None)

    def _among(self, units: Sequence[Unit], shape: bytes, place: int) -> Option | None:
        checks = self._checks[shape]
        make = LocalMember if checks.local else MemberOnNode
        choice = UnitChoice(make(self._columns, checks, place), units, self._allowances, mends=checks.mends)
        found = choice.find()
        self.gave_up |= choice.gave_up
        return None if found is None else Option(place, tuple(found), cost_of(found, place))

    def _settled(self, placed: Placed) -> GangPlan | None:
        """Return the plan in which every unit stays that may, the most valuable first.

        Return None if a unit is needed by members on other nodes alone: nobody is evicted for those. Also if a member
        no longer fits, because a unit that went for a later one is missing near it.
        """
        rows = np.array([row for unit in self._taken.values() for row in unit.rows], np.intp)
        gone = DepartingPods(self._columns, np.union1d(self._columns.leaving, rows))
        members = MembersInPlace(self._shapes, gone, placed)
        needed, reprieved, valid = list[Unit](), list[Unit](), True
        for unit in sorted(self._taken.values(), key=lambda unit: unit.turn, reverse=True):
            self._allowances.take(unit, -1)
            under_max = self._allowances.under_max()
            if under_max and members.take_back(unit.pods):
                reprieved.append(unit)
                continue
            self._allowances.take(unit)
            needed.append(unit)
            if under_max and not members.local:  # else it is a member nearby that no longer fits
                valid = valid and not members.fit_beside(unit.pods, nearby=unit.places)
        for unit in reprieved:
            self._allowances.take(unit)
        return GangPlan(placed, tuple(reversed(needed))) if valid and members.fit_beside(()) else None


@dataclass(frozen=True)
class Found:
    """The result of a search for a single pod: a plan, or whether not all sets were tried."""

    plan: GangPlan | None
    gave_up: bool


def search_for(candidates: CandidateUnits, known: NodeCandidates) -> Found:
    """Search for a single pod where whole groups may go. ``known``: what was found without looking at groups.

    Where pods of other nodes matter to the pod, only a plan with a whole group is returned: without one, terminating
    pods of other nodes still count, as in ``known``.
    """
    attempt = candidates.attempt
    shapes = MemberShapes(attempt.snapshot, (attempt.ask,))
    checks = shapes.without(attempt.leaving, ~attempt.open).checks
    search = GangSearch(candidates, shapes, checks, known=known)
    plan = search.find((attempt.ask,))
    local = all(each.local for each in checks.values())
    if plan is None or local or any(candidates.units.whole[unit.lead] for unit in plan.units):
        return Found(plan, search.gave_up)
    return Found(None, gave_up=True)
