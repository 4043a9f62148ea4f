"""The search for nodes and victims of the members of a gang, one member after the other.

Each member gets the least node by the order of the policy, in the cluster that the members before it leave. If one
finds no node, the member before it moves on to its next node. What is found is minimal: if any unit stays, some member
no longer fits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from engine.feasibility.moving_checks import MovingChecks
from engine.model.columns.departures import DepartingPods
from engine.model.objects import Pod
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.groups.joint_search import JointSearch
from engine.policies.common.groups.members_in_place import LocalMember, MemberOnNode, MembersInPlace, Placed
from engine.policies.common.groups.placing import MemberShapes
from engine.policies.fence.groups.allowances import Allowances
from engine.policies.fence.groups.node_order import NodeOrder, Option, nothing_known
from engine.policies.fence.groups.node_victims import LazyUnits, UnitChoice
from engine.policies.fence.groups.units import CandidateUnits, Cost, Unit, cost_of
from engine.policies.fence.node_candidates import NodeCandidates, blocked_nodes, find_node_candidates
from engine.policies.fence.node_costs import CRITERIA, least_costs

_RETURNS = 500
"""How often a member moves on to its next node, at most."""
_COUNT = CRITERIA.index("victims")
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
    chosen: Option | None = None
    touched: set[int] = field(default_factory=set)


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
        self._whole_bounds: dict[tuple[bytes, int], Cost] = {}
        """Shape of a member and index of a node -> what victims there cost at least if a whole group is among them."""
        self._returns, self._looks = _RETURNS, _LOOKS
        self.gave_up = False
        """Whether nothing was found and not all sets were tried."""

    def find(self, members: Sequence[Pod]) -> GangPlan | None:
        """Return a plan for all members, None if none was found. There must be at least one member."""
        if (plan := self._one_by_one(members)) is not None or self.gave_up or self._hopeless(members):
            return plan
        search = JointSearch(self._candidates, self._shapes, self._placed, self._allowances)
        found = search.find(members)
        self.gave_up = search.gave_up
        return None if found is None else GangPlan(found[0], tuple(found[1]))

    def _hopeless(self, members: Sequence[Pod]) -> bool:
        """Return whether it is sure that there is no plan: a member has no node even by itself, or there is no room.

        The first is not sure where the victims of other members make room under a max, and the second is known only of
        members that differ in identity alone.
        """
        shapes = {self._shapes.shape_of(pod): pod for pod in members}
        if not all(checks.local for checks in self._checks.values()):
            return False
        if self._under_max(members) and any(
            next(self._level(pod, []).options, None) is None for pod in shapes.values()
        ):
            return not self.gave_up
        return len(shapes) == 1 and self._room_at_most(members[0], len(members)) < len(members)

    def _has_node(self, pod: Pod) -> bool:
        """Return whether victims are found on some node for a member by itself, or whether that is not known."""
        try:
            return next(self._level(pod, []).options, None) is not None
        except LimitReachedError:
            self.gave_up = True
            return True

    def _under_max(self, members: Sequence[Pod]) -> bool:
        """Return whether all members would be under every max without any eviction."""
        for pod in members:
            self._allowances.ask(pod.requests)
        enough = self._allowances.under_max()
        for pod in members:
            self._allowances.ask(pod.requests, -1)
        return enough

    def _room_at_most(self, pod: Pod, enough: int) -> int:
        """Return how many pods like this one fit at once without all candidates, up to a number that is enough."""
        gone = np.union1d(self._columns.leaving, np.flatnonzero(self._candidates.may_go))
        checks = self._shapes.checks_of(pod, DepartingPods(self._columns, gone), ~self._attempt.open)
        for other, place in self._placed:
            checks.bind(other, place)
        for number in range(enough):
            allowed = checks.allowed()
            if not allowed.any():
                return number
            checks.bind(pod, int(allowed.argmax()))
        return enough

    def _one_by_one(self, members: Sequence[Pod]) -> GangPlan | None:
        levels: list[_Level] = []
        try:
            return self._descend(members, levels)
        except LimitReachedError:
            self.gave_up = True
            for pod, level in reversed(list(zip(members, levels, strict=False))):
                self._undo(pod, level)
            return None

    def _descend(self, members: Sequence[Pod], levels: list[_Level]) -> GangPlan | None:
        levels.append(self._level(members[0], levels))
        while levels:
            level, pod = levels[-1], members[len(levels) - 1]
            if level.chosen is not None:
                self._undo(pod, level)
                self._returns -= 1
            option = next(level.options, None)
            if option is None:
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
        level.chosen = None

    def _move(self, unit: Unit, times: int) -> None:
        for row, place in unit.pods:
            for checks in self._checks.values():
                checks.put_back(self._columns.pods[row], place, times)

    def _level(self, pod: Pod, before: Sequence[_Level]) -> _Level:
        """Return a new level for a member: on the nodes that no level before it touched, little can have changed."""
        shape = self._shapes.shape_of(pod)
        same = next((number for number in range(len(before) - 1, -1, -1) if before[number].shape == shape), None)
        if not self._checks[shape].local:
            order = NodeOrder((), nothing_known(np.flatnonzero(self._checks[shape].open).tolist()))
        elif same is None:
            order = self._first_order(pod, shape).after({place for level in before for place in level.touched})
        else:
            order = before[same].order.after({place for level in before[same:] for place in level.touched})
        return _Level(shape, order, order.walk(partial(self._look, pod, shape)))

    def _first_order(self, pod: Pod, shape: bytes) -> NodeOrder:
        """Return the nodes by the costs of victims that are found without looking at groups, and by bounds with groups.

        Nodes on which members were placed, or have room, are looked at first.
        """
        attempt = PreemptionAttempt(self._attempt.snapshot, self._attempt.tree, pod)
        found = self._known or find_node_candidates(attempt, self._candidates.claim, self._candidates.amounts)
        self.gave_up |= found.gave_up
        blocked = blocked_nodes(attempt, found.refusing)
        bounds = {place: cost for place, cost in found.costs.each().items() if not blocked[place]}
        for place, cost in self._with_whole_groups(attempt).items():
            self._whole_bounds[shape, place] = cost
            bounds[place] = min(cost, bounds.get(place, cost))
        first = sorted((cost, place) for place, cost in bounds.items() if self._checks[shape].open[place])
        order = NodeOrder(first, nothing_known(np.flatnonzero(self._checks[shape].allowed()).tolist()))
        return order.after(place for _pod, place in self._placed if self._checks[shape].open[place])

    def _with_whole_groups(self, attempt: PreemptionAttempt) -> dict[int, Cost]:
        """Return what victims cost at least on each node if a whole group is among them."""
        smallest = self._candidates.smallest_whole
        if not smallest:
            return {}
        least = least_costs(attempt, attempt.feasibility.limits, self._candidates.may_go)
        least[_COUNT] = np.maximum(least[_COUNT], [smallest.get(place, 0) for place in range(least.shape[1])])
        return {place: (*least[:, place].tolist(), place) for place in smallest}

    def _look(self, pod: Pod, shape: bytes, place: int) -> Option | None:
        """Return the victims on a node for a member, None if none were found.

        They are the least of those with and those without whole groups, which may be many pods for little room.
        Raises LimitReachedError.
        """
        if not self._checks[shape].open[place]:
            return None
        if self._looks <= 0:
            raise LimitReachedError
        self._looks -= 1
        checks, whole = self._checks[shape], self._candidates.units.whole
        make = LocalMember if checks.local else MemberOnNode
        member = make(self._columns, checks, place)
        leads = [lead for lead in self._candidates.leads_on(place) if lead not in self._taken]
        alone = [lead for lead in leads if not whole[lead]]
        self._allowances.ask(pod.requests)
        found = self._among(alone, member, mends=checks.mends)
        if len(alone) < len(leads) and (found is None or found.cost > self._whole_bounds.get((shape, place), ())):
            with_groups = self._among(leads, member, mends=checks.mends)
            found = min((one for one in (found, with_groups) if one), key=lambda one: one.cost, default=None)
        self._allowances.ask(pod.requests, -1)
        return found

    def _among(self, leads: Sequence[int], member: MemberOnNode, *, mends: bool) -> Option | None:
        choice = UnitChoice(member, LazyUnits(self._candidates, leads), self._allowances, mends=mends)
        found = choice.find()
        self.gave_up |= choice.gave_up
        return None if found is None else Option(member.place, tuple(found), cost_of(found, member.place))

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
            valid = valid and not (under_max and members.fit_beside(unit.pods, nearby=unit.places))
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
