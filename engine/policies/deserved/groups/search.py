"""The search for nodes and victims of the members of a gang, one member after the other.

Each member gets the least node by the order of the policy, in the cluster that the members before it leave. If one
finds no node, the member before it moves on to its next node. What is found is minimal: if any unit stays, some member
no longer fits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from engine.feasibility.moving_checks import MovingChecks
from engine.model.columns.departures import DepartingPods
from engine.model.objects import Pod
from engine.policies.common.groups.joint_search import JointSearch
from engine.policies.common.groups.members_in_place import MembersInPlace, Placed
from engine.policies.common.groups.placing import MemberShapes
from engine.policies.deserved.groups.node_options import NodeOption, NodeOptions, TooManyNodesError
from engine.policies.deserved.groups.search_state import SearchState
from engine.policies.deserved.groups.terms import Terms
from engine.policies.deserved.groups.units import ReclaimUnit

_RETURNS = 500
"""How often a member moves on to its next node, at most."""


@dataclass(frozen=True)
class ReclaimPlan:
    """Where the members get a node, in the order in which they were placed, and the units that are evicted."""

    placed: Placed
    units: tuple[ReclaimUnit, ...]
    outranked: frozenset[int]
    """Those of the units (leads) that go for members whose priority class may exceed what is deserved."""


@dataclass
class _Step:
    """One member of the search, with its nodes, the least first."""

    pod: Pod
    options: Iterator[NodeOption]
    chosen: NodeOption | None = None


class ReclaimSearch:
    """The search for some members that all need a node. ``placed``: members that have one without any eviction."""

    def __init__(
        self, terms: Terms, shapes: MemberShapes, checks: dict[bytes, MovingChecks], placed: Placed = ()
    ) -> None:
        """Prepare the search. ``checks``: of each shape, in the cluster with the ``placed`` members."""
        self._state = SearchState(terms, shapes, checks, placed)
        self._shapes, self._columns = shapes, shapes.snapshot.columns
        self.gave_up = False
        """Whether nothing was found and not all sets were tried."""

    def find(self, members: Sequence[Pod], *, below: bool) -> ReclaimPlan | None:
        """Return a plan for all members, one after the other, None if none was found. There must be a member.

        With ``below``, queues give also after they came down to what they deserve.
        """
        steps: list[_Step] = []
        try:
            return self._descend(members, steps, NodeOptions(self._state, below=below))
        except TooManyNodesError:
            self.gave_up = True
            return None
        finally:
            for step in reversed(steps):
                self._take_back(step)

    def find_jointly(self, members: Sequence[Pod]) -> ReclaimPlan | None:
        """Return a plan after a search over all sets of units for all members, None if none was found.

        Only members on the same terms are searched for; for others, it is not known whether there is a plan.
        """
        each = [self._state.terms_of(pod) for pod in members]
        if self._hopeless(members):
            return None
        if not all(one.same(other) for one, other in pairwise(each)):
            self.gave_up = True
            return None
        search = JointSearch(each[0].units, self._shapes, self._state.placed, self._state.fresh_allowances())
        found = search.find(members)
        if found is None:
            self.gave_up |= search.gave_up
            return None
        leads = frozenset(unit.lead for unit in found[1])
        return ReclaimPlan(found[0], tuple(found[1]), leads if each[0].attempt.outranks else frozenset())

    def _hopeless(self, members: Sequence[Pod]) -> bool:
        """Return whether it is sure that there is no plan: without all candidates, too few members fit at once.

        That is known only where pods of other nodes make no difference.
        """
        if not self._state.local:
            return False
        by_shape: dict[bytes, list[Pod]] = {}
        for pod in members:
            by_shape.setdefault(self._shapes.shape_of(pod), []).append(pod)
        return any(self._room_at_most(pods[0], len(pods)) < len(pods) for pods in by_shape.values())

    def _room_at_most(self, pod: Pod, enough: int) -> int:
        """Return how many pods like this one fit at once without all candidates, up to a number that is enough."""
        terms = self._state.terms_of(pod)
        gone = np.union1d(self._columns.leaving, np.flatnonzero(terms.units.may_go)).astype(np.intp)
        checks = self._shapes.checks_of(pod, DepartingPods(self._columns, gone), ~terms.attempt.nodes.open)
        for other, place in self._state.placed:
            checks.bind(other, place)
        for number in range(enough):
            allowed = checks.allowed()
            if not allowed.any():
                return number
            checks.bind(pod, int(allowed.argmax()))
        return enough

    def _descend(self, members: Sequence[Pod], steps: list[_Step], options: NodeOptions) -> ReclaimPlan | None:
        returns = _RETURNS
        steps.append(_Step(members[0], options.of(members[0])))
        while steps:
            step = steps[-1]
            if step.chosen is not None:
                self._take_back(step)
                options.forget()
                returns -= 1
            option = next(step.options, None)
            if option is None:
                steps.pop()
                continue
            if returns < 0:
                raise TooManyNodesError
            step.chosen = option
            self._state.place(step.pod, option[1], option[2])
            if len(steps) < len(members):
                following = members[len(steps)]
                steps.append(_Step(following, options.of(following)))
                continue
            placed = [*self._state.placed, *((one.pod, one.chosen[1]) for one in steps if one.chosen)]
            if (plan := self._settled(placed)) is not None:
                return plan
        return None

    def _take_back(self, step: _Step) -> None:
        if step.chosen is not None:
            _cost, place, units = step.chosen
            self._state.take_back(step.pod, place, units)
            step.chosen = None

    def _settled(self, placed: Placed) -> ReclaimPlan | None:
        """Return the plan in which every unit stays that may, starting with the last that was taken.

        Return None if a unit is needed by members on other nodes alone: nobody is evicted for those. Also if a member
        no longer fits, because a unit that went for a later one is missing near it.
        """
        taken, allowances = self._state.taken, self._state.allowances
        rows = np.array([row for unit, _terms in taken.values() for row in unit.rows], np.intp)
        gone = DepartingPods(self._columns, np.union1d(self._columns.leaving, rows))
        members = MembersInPlace(self._shapes, gone, placed)
        needed, reprieved, valid = list[ReclaimUnit](), list[ReclaimUnit](), True
        for unit, _terms in reversed(taken.values()):
            allowances.take(unit, -1)
            under_max = allowances.under_max()
            if under_max and members.take_back(unit.pods):
                reprieved.append(unit)
                continue
            allowances.take(unit)
            needed.append(unit)
            valid = valid and not (under_max and members.fit_beside(unit.pods, nearby=unit.places))
        for unit in reprieved:
            allowances.take(unit)
        if not (valid and members.fit_beside(())):
            return None
        outranked = (unit.lead for unit in needed if taken[unit.lead][1].attempt.outranks)
        return ReclaimPlan(placed, tuple(reversed(needed)), frozenset(outranked))
