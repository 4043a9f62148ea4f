"""The search for nodes and victims of the members of a gang, one member after the other.

Each member gets the least node by the order of the policy, in the cluster that the members before it leave. If one
finds no node, the member before it moves on to its next node. What is found is minimal: if any unit stays, some member
no longer fits.
"""

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from engine.feasibility.moving_checks import MovingChecks
from engine.model.columns.departures import DepartingPods
from engine.model.objects import Pod
from engine.policies.common.groups.joint_search import JointSearch
from engine.policies.common.groups.members_in_place import LocalMember, MemberOnNode, MembersInPlace, Placed
from engine.policies.common.groups.placing import MemberShapes
from engine.policies.deserved.groups.allowances import ReclaimAllowances
from engine.policies.deserved.groups.member_victims import MemberVictims
from engine.policies.deserved.groups.terms import MemberTerms, Terms
from engine.policies.deserved.groups.units import ReclaimUnit
from engine.policies.deserved.node_bounds import Cost
from engine.policies.deserved.shares.balances import Rank, ShareBalances

_RETURNS = 500
"""How often a member moves on to its next node, at most."""
_LOOKS = 50_000
"""How many nodes are looked at, at most."""
_LEAST = -(2**63)
_NO_RANK: Rank = (_LEAST, ())


class TooManyNodesError(Exception):
    """The search ends because the largest number of nodes was tried."""


@dataclass(frozen=True)
class ReclaimPlan:
    """Where the members get a node, in the order in which they were placed, and the units that are evicted."""

    placed: Placed
    units: tuple[ReclaimUnit, ...]
    outranked: frozenset[int]
    """Those of the units (leads) that go for members whose priority class may exceed what is deserved."""


@dataclass
class _Level:
    """One member of the search, with its nodes, the least first."""

    pod: Pod
    options: Iterator[tuple[Cost, int, list[ReclaimUnit]]]
    place: int | None = None
    units: Sequence[ReclaimUnit] = ()


class ReclaimSearch:
    """The search for some members that all need a node. ``placed``: members that have one without any eviction."""

    def __init__(
        self, terms: Terms, shapes: MemberShapes, checks: dict[bytes, MovingChecks], placed: Placed = ()
    ) -> None:
        """Prepare the search. ``checks``: of each shape, in the cluster with the ``placed`` members."""
        self._terms, self._shapes, self._checks, self._placed = terms, shapes, checks, list(placed)
        self._columns = shapes.snapshot.columns
        self._allowances = self._fresh()
        self._taken: dict[int, tuple[ReclaimUnit, MemberTerms]] = {}
        """Lead of a unit -> the unit, and for whom it goes, in the order in which they were taken."""
        self._here: dict[int, list[tuple[Pod, int]]] = {}
        """Index of a node -> the pods that come there (-1) or leave it (1)."""
        for pod, place in placed:
            self._here.setdefault(place, []).append((pod, -1))
        self._seen: dict[tuple[bytes, int], tuple[int, tuple[int, int, int] | None]] = {}
        """Shape of a member and index of a node -> how often the node had changed when it was looked at, and the cost.

        While the node does not change, costs only rise with more members placed; None: no victims were found.
        """
        self._changes: Counter[int] = Counter()
        """Index of a node -> how often pods came there, or left it."""
        self._looks, self._below = _LOOKS, False
        self.gave_up = False
        """Whether nothing was found and not all sets were tried."""

    def _fresh(self) -> ReclaimAllowances:
        attempts = [terms.attempt for terms in self._terms.values()]
        allowances = ReclaimAllowances(attempts, next(iter(self._terms.values())).candidates.budgets)
        for pod, _place in self._placed:
            allowances.ask(pod.requests)
        return allowances

    def find(self, members: Sequence[Pod], *, below: bool) -> ReclaimPlan | None:
        """Return a plan for all members, one after the other, None if none was found. There must be a member.

        With ``below``, queues give also after they came down to what they deserve.
        """
        self._below = below
        self._seen.clear()
        levels: list[_Level] = []
        try:
            return self._descend(members, levels)
        except TooManyNodesError:
            self.gave_up = True
            for level in reversed(levels):
                self._undo(level)
            return None

    def find_jointly(self, members: Sequence[Pod]) -> ReclaimPlan | None:
        """Return a plan after a search over all sets of units for all members, None if none was found.

        Only members on the same terms are searched for; for others, it is not known whether there is a plan.
        """
        each = [self._terms[pod.uid] for pod in members]
        if self._hopeless(members):
            return None
        if not all(one.same(other) for one, other in pairwise(each)):
            self.gave_up = True
            return None
        search = JointSearch(each[0].units, self._shapes, self._placed, self._fresh())
        found = search.find(members)
        self.gave_up |= search.gave_up
        if found is None:
            return None
        self.gave_up = False
        leads = frozenset(unit.lead for unit in found[1])
        return ReclaimPlan(found[0], tuple(found[1]), leads if each[0].attempt.outranks else frozenset())

    def _hopeless(self, members: Sequence[Pod]) -> bool:
        """Return whether it is sure that there is no plan: without all candidates, too few members fit at once.

        That is known only where pods of other nodes make no difference.
        """
        if not all(checks.local for checks in self._checks.values()):
            return False
        by_shape: dict[bytes, list[Pod]] = {}
        for pod in members:
            by_shape.setdefault(self._shapes.shape_of(pod), []).append(pod)
        return any(self._room_at_most(pods[0], len(pods)) < len(pods) for pods in by_shape.values())

    def _room_at_most(self, pod: Pod, enough: int) -> int:
        """Return how many pods like this one fit at once without all candidates, up to a number that is enough."""
        terms = self._terms[pod.uid]
        gone = np.union1d(self._columns.leaving, np.flatnonzero(terms.units.may_go)).astype(np.intp)
        checks = self._shapes.checks_of(pod, DepartingPods(self._columns, gone), ~terms.attempt.nodes.open)
        for other, place in self._placed:
            checks.bind(other, place)
        for number in range(enough):
            allowed = checks.allowed()
            if not allowed.any():
                return number
            checks.bind(pod, int(allowed.argmax()))
        return enough

    def _descend(self, members: Sequence[Pod], levels: list[_Level]) -> ReclaimPlan | None:
        returns = _RETURNS
        levels.append(self._level(members[0]))
        while levels:
            level = levels[-1]
            if level.place is not None:
                self._undo(level)
                self._seen.clear()
                returns -= 1
            option = next(level.options, None)
            if option is None:
                levels.pop()
                continue
            if returns < 0:
                raise TooManyNodesError
            self._apply(level, option[1], option[2])
            if len(levels) < len(members):
                levels.append(self._level(members[len(levels)]))
                continue
            placed = [*self._placed, *((one.pod, one.place) for one in levels if one.place is not None)]
            if (plan := self._settled(placed)) is not None:
                for one in reversed(levels):
                    self._undo(one)
                return plan
        return None

    def _level(self, pod: Pod) -> _Level:
        return _Level(pod, self._options(pod))

    def _apply(self, level: _Level, place: int, units: Sequence[ReclaimUnit]) -> None:
        level.place, level.units = place, units
        self._allowances.ask(level.pod.requests)
        for unit in units:
            self._allowances.take(unit)
            self._taken[unit.lead] = unit, self._terms[level.pod.uid]
            self._move(unit, -1)
        for checks in self._checks.values():
            checks.bind(level.pod, place)
        self._here.setdefault(place, []).append((level.pod, -1))
        self._changes[place] += 1

    def _undo(self, level: _Level) -> None:
        if level.place is None:
            return
        self._here[level.place].remove((level.pod, -1))
        for checks in self._checks.values():
            checks.bind(level.pod, level.place, -1)
        for unit in level.units:
            self._move(unit, 1)
            del self._taken[unit.lead]
            self._allowances.take(unit, -1)
        self._allowances.ask(level.pod.requests, -1)
        level.place, level.units = None, ()

    def _move(self, unit: ReclaimUnit, times: int) -> None:
        """Let a unit leave (``times`` -1), or come back (1)."""
        for row, place in unit.pods:
            pod = self._columns.pods[row]
            self._changes[place] += 1
            if times < 0:
                self._here.setdefault(place, []).append((pod, 1))
            else:
                self._here[place].remove((pod, 1))
            for checks in self._checks.values():
                checks.put_back(pod, place, times)

    def _options(self, pod: Pod) -> Iterator[tuple[Cost, int, list[ReclaimUnit]]]:
        """Yield the nodes for a member with their victims, the least first, looked at only as far as needed."""
        waiting: list[tuple[Cost, int, list[ReclaimUnit] | None]] = []
        bounds = self._bounds(pod)
        following = next(bounds, None)
        while waiting or following is not None:
            if following is not None and (not waiting or following[0] < waiting[0][0]):
                if (bound := self._bound_as_seen(pod, *following)) is not None:
                    heapq.heappush(waiting, (bound, following[1], None))
                following = next(bounds, None)
                continue
            cost, place, units = heapq.heappop(waiting)
            if units is not None:
                yield cost, place, units
            elif (option := self._look(pod, place)) is not None:
                heapq.heappush(waiting, option)

    def _bound_as_seen(self, pod: Pod, bound: Cost, place: int) -> Cost | None:
        """Return a better bound for a node that was looked at for an earlier member; None: no victims are found there.

        The rank of the queue that gives first is that of now. Where limits above the members, or pods of other nodes,
        make a difference, nothing is known.
        """
        shape = self._shapes.shape_of(pod)
        changes, cost = self._seen.get((shape, place), (-1, None))
        if changes != self._changes[place] or self._allowances.capped or not self._checks[shape].local:
            return bound
        return None if cost is None else max(bound, (bound[0], *cost, place))

    def _bounds(self, pod: Pod) -> Iterator[tuple[Cost, int]]:
        """Yield the nodes where a member may get room, with what its victims cost there at least, the least first."""
        terms, checks = self._terms[pod.uid], self._checks[self._shapes.shape_of(pod)]
        known = checks.allowed().copy()
        for place in np.flatnonzero(known).tolist():
            yield (_NO_RANK, _LEAST, 0, _LEAST, place), place
        balances = self._allowances.balances(terms.attempt)
        freed = {place for place, pods in self._here.items() if any(times > 0 for _pod, times in pods)}
        short = {name: amount - terms.attempt.free[name] for name, amount in terms.attempt.wanted.items()}
        for rank, queue in sorted((balances.rank(queue), queue) for queue in terms.units.queues):
            places = terms.units.least_on_nodes(queue, self._shapes.shape_of(pod), short)
            again = sorted((least, 1, new, place) for _low, _few, new, place, least in places if place in freed)
            others = (each[:4] for each in places if each[3] not in freed)
            for low, few, new, place in heapq.merge(others, again):
                if not known[place] and checks.open[place]:
                    known[place] = True
                    yield (rank, low, few, new, place), place

    def _look(self, pod: Pod, place: int) -> tuple[Cost, int, list[ReclaimUnit]] | None:
        """Return the victims on a node for a member with their cost, None if none were found.

        They are the least of those with and those without whole groups, which may be many pods for little room.
        Raises TooManyNodesError.
        """
        if self._looks <= 0:
            raise TooManyNodesError
        self._looks -= 1
        terms, checks = self._terms[pod.uid], self._checks[self._shapes.shape_of(pod)]
        make = LocalMember if checks.local else MemberOnNode
        member = make(self._columns, checks, place)
        choice = MemberVictims(member, terms, self._allowances, self._free(terms, place), below=self._below)
        units = [terms.units.unit(lead) for lead in terms.units.leads_on(place) if lead not in self._taken]
        alone = [unit for unit in units if len(unit.rows) == 1]
        balances = self._allowances.balances(terms.attempt)
        self._allowances.ask(pod.requests)
        found = choice.find(alone)
        best = None if found is None else (_cost(found, place, balances), place, found)
        if len(alone) < len(units) and (best is None or best[0][:3] > _least_with_group(units, balances)):
            found = choice.find(units)
            with_groups = None if found is None else (_cost(found, place, balances), place, found)
            best = min((one for one in (best, with_groups) if one), key=lambda one: one[0], default=None)
        self._allowances.ask(pod.requests, -1)
        seen = None if best is None else best[0][1:4]
        self._seen[self._shapes.shape_of(pod), place] = self._changes[place], seen
        return best

    def _free(self, terms: MemberTerms, place: int) -> dict[str, int]:
        """Return what a node has left of each requested resource now."""
        here = self._here.get(place, ())
        return {
            name: int(terms.attempt.free[name][place]) + sum(times * pod.requests.get(name, 0) for pod, times in here)
            for name in terms.attempt.wanted
        }

    def _settled(self, placed: Placed) -> ReclaimPlan | None:
        """Return the plan in which every unit stays that may, starting with the last that was taken.

        Return None if a unit is needed by members on other nodes alone: nobody is evicted for those. Also if a member
        no longer fits, because a unit that went for a later one is missing near it.
        """
        rows = np.array([row for unit, _terms in self._taken.values() for row in unit.rows], np.intp)
        gone = DepartingPods(self._columns, np.union1d(self._columns.leaving, rows))
        members = MembersInPlace(self._shapes, gone, placed)
        needed, reprieved, valid = list[ReclaimUnit](), list[ReclaimUnit](), True
        for unit, _terms in reversed(self._taken.values()):
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
        if not (valid and members.fit_beside(())):
            return None
        outranked = (unit.lead for unit in needed if self._taken[unit.lead][1].attempt.outranks)
        return ReclaimPlan(placed, tuple(reversed(needed)), frozenset(outranked))


def _least_with_group(units: Sequence[ReclaimUnit], balances: ShareBalances) -> tuple[Rank, int, int]:
    """Return what units cost at least by the first criteria if a whole group of several pods is among them."""
    groups = [unit for unit in units if len(unit.rows) > 1]
    rank = min(unit.rank(balances) for unit in units)
    return rank, min(unit.priority for unit in groups), min(len(unit.rows) for unit in groups)


def _cost(units: Sequence[ReclaimUnit], place: int, balances: ShareBalances) -> Cost:
    """Return what units cost that are evicted for a pod on one node (by index), by the criteria of the policy."""
    if not units:
        return _NO_RANK, _LEAST, 0, _LEAST, place
    count = sum(len(unit.rows) for unit in units)
    return (
        units[0].rank(balances),
        max(unit.priority for unit in units),
        count,
        -max(unit.created_ms for unit in units),
        place,
    )
