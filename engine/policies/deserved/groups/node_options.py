"""The nodes for one member of a gang with their victims, the least first, looked at only as far as needed."""

import heapq
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from engine.model.columns.node_columns import Numbers
from engine.model.objects import Pod
from engine.policies.common.groups.members_in_place import LocalMember, MemberOnNode
from engine.policies.deserved.groups.costs_at_once import CostsAtOnce
from engine.policies.deserved.groups.member_victims import MemberVictims
from engine.policies.deserved.groups.queue_bounds import Bound, QueueBounds
from engine.policies.deserved.groups.search_state import SearchState
from engine.policies.deserved.groups.terms import MemberTerms
from engine.policies.deserved.groups.units import ReclaimUnit
from engine.policies.deserved.node_bounds import Cost
from engine.policies.deserved.shares.balances import Rank, ShareBalances

_LOOKS = 50_000
"""How many nodes are looked at, at most."""
_LEAST = -(2**63)
_NO_RANK: Rank = (_LEAST, ())

NodeOption = tuple[Cost, int, list[ReclaimUnit]]
"""What victims on a node cost, the index of the node, and the units that go."""


class TooManyNodesError(Exception):
    """The search ends because the largest number of nodes was tried."""


class NodeOptions:
    """The nodes for members. With ``below``, queues give also after they came down to what they deserve."""

    def __init__(self, state: SearchState, *, below: bool) -> None:
        self._state, self._below, self._looks = state, below, _LOOKS
        self._seen: dict[tuple[bytes, int], tuple[int, tuple[int, int, int] | None]] = {}
        """Shape of a member and index of a node -> how often the node had changed when it was looked at, and the cost.

        While the node does not change, that is taken for the least that victims cost there with more members placed:
        looking again at all nodes for each member would take too long. None: no victims were found.
        """
        self._costs: dict[int, Numbers | None] = {}
        """Identity of the terms of a member -> what victims cost on all nodes at first, if that is known at once.

        It is used as if all these nodes had been looked at.
        """
        self._changed: dict[int, tuple[int, dict[int, Bound]]] = {}
        """Identity of terms -> how many of the moves are considered, and the bounds of the nodes that they changed."""
        self._by_queue: dict[tuple[int, str], QueueBounds] = {}

    def forget(self) -> None:
        """Forget what nodes cost, as members are taken back."""
        self._seen.clear()

    def of(self, pod: Pod) -> Iterator[NodeOption]:
        """Yield the options of a member, the least first. Raises TooManyNodesError."""
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
        state, shape = self._state, self._state.shapes.shape_of(pod)
        changes, cost = self._seen.get((shape, place), (-1, None))
        if changes != state.changes[place] or state.allowances.capped or not state.checks_of(pod).local:
            return bound
        return None if cost is None else max(bound, (bound[0], *cost, place))

    def _bounds(self, pod: Pod) -> Iterator[tuple[Cost, int]]:
        """Yield the nodes where a member may get room, with what its victims cost there at least, the least first."""
        state = self._state
        terms, checks = state.terms_of(pod), state.checks_of(pod)
        known = checks.allowed().copy()
        for place in np.flatnonzero(known).tolist():
            yield (_NO_RANK, _LEAST, 0, _LEAST, place), place
        balances, changed = state.allowances.balances(terms.attempt), self._bounds_of_changed(terms)
        for rank, queue in sorted((balances.rank(queue), queue) for queue in terms.units.queues):
            bounds = self._bounds_of(pod, queue)
            again = sorted(bound for place, bound in changed.items() if bounds.has(place))
            for bound in heapq.merge((bound for bound in bounds if bound[3] not in changed), again):
                if not known[bound[3]] and checks.open[bound[3]]:
                    known[bound[3]] = True
                    yield (rank, *bound), bound[3]

    def _bounds_of_changed(self, terms: MemberTerms) -> dict[int, Bound]:
        """Return what victims cost at least on the nodes (by index) on which anything has changed, without the rank."""
        passed, before = self._changed.get(id(terms), (0, {}))
        bounds = before.copy()  # options of the members before this one may still read theirs
        for place in {*self._state.moves[passed:]}:
            bounds[place] = self._bound_of_changed(terms, place)
        self._changed[id(terms)] = len(self._state.moves), bounds
        return bounds

    def _bound_of_changed(self, terms: MemberTerms, place: int) -> Bound:
        state, columns, leads = self._state, self._state.columns, terms.units.units.lead
        going = (row for row in terms.units.rows_on(place).tolist() if int(leads[row]) not in state.taken)
        pods = [columns.pods[row] for row in going]
        free, fewest = state.free(terms, place), 1
        for name, amount in terms.attempt.wanted.items():
            largest = max((pod.requests.get(name, 0) for pod in pods), default=0)
            fewest = max(fewest, -(-(amount - free[name]) // max(1, largest)))
        lowest = heapq.nsmallest(fewest, (pod.priority for pod in pods))
        newest = max((pod.created_ms for pod in pods), default=0)
        return lowest[-1] if lowest else _LEAST, fewest, -newest, place

    def _bounds_of(self, pod: Pod, queue: str) -> QueueBounds:
        terms = self._state.terms_of(pod)
        if (id(terms), queue) not in self._by_queue:
            lacks = {name: amount - terms.attempt.free[name] for name, amount in terms.attempt.wanted.items()}
            costs = self._costs_at_once(terms, lacks)
            self._by_queue[id(terms), queue] = QueueBounds(terms.units, queue, lacks, costs)
        return self._by_queue[id(terms), queue]

    def _costs_at_once(self, terms: MemberTerms, lacks: Mapping[str, Numbers]) -> Numbers | None:
        """Return what victims cost on all nodes with nobody placed, None if that is not known at once."""
        if id(terms) not in self._costs:
            at_once = CostsAtOnce(terms.units.candidates, terms.units.units, terms.units.may_go)
            usable = at_once.known and not self._below and not self._state.allowances.capped
            self._costs[id(terms)] = at_once.least(lacks) if usable else None
        return self._costs[id(terms)]

    def _look(self, pod: Pod, place: int) -> NodeOption | None:
        """Return the victims on a node for a member with their cost, None if none were found.

        They are the least of those with and those without whole groups, which may be many pods for little room.
        Raises TooManyNodesError.
        """
        if self._looks <= 0:
            raise TooManyNodesError
        self._looks -= 1
        state, terms, checks = self._state, self._state.terms_of(pod), self._state.checks_of(pod)
        make = LocalMember if checks.local else MemberOnNode
        member = make(state.columns, checks, place)
        choice = MemberVictims(member, terms, state.allowances, state.free(terms, place), below=self._below)
        units = [unit for unit in terms.units.in_order_on(place) if unit.lead not in state.taken]
        state.allowances.ask(pod.requests)
        best = _least(choice, units, place, state.allowances.balances(terms.attempt))
        state.allowances.ask(pod.requests, -1)
        seen = None if best is None else best[0][1:4]
        self._seen[state.shapes.shape_of(pod), place] = state.changes[place], seen
        return best


def _least(
    choice: MemberVictims, units: Sequence[ReclaimUnit], place: int, balances: ShareBalances
) -> NodeOption | None:
    """Return the least of the victims with and those without whole groups, None if there are none."""
    alone = [unit for unit in units if len(unit.rows) == 1]
    found = choice.find(alone)
    best = None if found is None else (_cost(found, place, balances), place, found)
    if len(alone) < len(units) and (best is None or best[0][:3] > _least_with_group(choice, units, balances)):
        found = choice.find(units)
        with_groups = None if found is None else (_cost(found, place, balances), place, found)
        best = min((one for one in (best, with_groups) if one), key=lambda one: one[0], default=None)
    return best


def _least_with_group(
    choice: MemberVictims, units: Sequence[ReclaimUnit], balances: ShareBalances
) -> tuple[Rank, int, int]:
    """Return what units cost at least by the first criteria if a whole group of several pods is among them."""
    groups = [unit for unit in units if len(unit.rows) > 1]
    rank = min(unit.rank(balances) for unit in units)
    lowest = max(choice.lowest_priority(units), min(unit.priority for unit in groups))
    return rank, lowest, min(len(unit.rows) for unit in groups)


def _cost(units: Sequence[ReclaimUnit], place: int, balances: ShareBalances) -> Cost:
    """Return what units cost that are evicted for a pod on one node (by index), by the criteria of the policy."""
    if not units:
        return _NO_RANK, _LEAST, 0, _LEAST, place
    count, newest = sum(len(unit.rows) for unit in units), max(unit.created_ms for unit in units)
    return units[0].rank(balances), max(unit.priority for unit in units), count, -newest, place
