"""Selects victims: always from the queue that exceeds what it deserves the most, recalculated after each victim."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from engine.feasibility import FITS
from engine.model.columns.departures import IncrementalDepartingPods
from engine.model.objects import Pod
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.node_bounds import Cost, bounds
from engine.policies.deserved.node_pruning import hopeless_places
from engine.policies.deserved.other_sets import search
from engine.policies.deserved.placement_goal import AnyNode, PlacementGoal, SingleNode
from engine.policies.deserved.share_balances import Rank, ShareBalances

if TYPE_CHECKING:
    from engine.model.columns.node_columns import Flags

MAX_SEARCHED_NODES = 50
"""The maximum number of nodes on which other sets of victims are tried; the cheapest nodes are tried."""
CRITERIA = ("overused", "priority", "victims", "age", "name")
"""The criteria by which nodes are compared, in this order; the least cost wins."""


class NodeVictims(NamedTuple):
    """The victims on one node, or anywhere in the cluster, in the order in which they were selected."""

    victims: tuple[Pod, ...]
    put_back: tuple[Pod, ...]
    """Pods that were selected first, but that proved unnecessary."""
    cost: Cost
    """The cost by CRITERIA."""
    place: int | None
    """The node's index, or None if victims may come from any node."""

    def loses(self, best: "NodeVictims") -> str:
        """Return the first of CRITERIA by which this costs more than ``best``."""
        pairs = zip(CRITERIA, self.cost, best.cost, strict=True)
        return next((name for name, own, other in pairs if own != other), CRITERIA[-1])


class NodeCandidates:
    """The victims that each node would need for the pending pod, and what they cost."""

    def __init__(self, attempt: ReclaimAttempt, candidates: Candidates) -> None:
        self.attempt, self.candidates = attempt, candidates
        there = attempt.nodes
        gone = _candidate_departures(attempt, candidates)
        self.counts = gone.counts
        """Node index -> the number of candidates on the node."""
        self.refusing = there.feasibility.refusing(gone, surely=there.leaving)
        """Node index -> the number of the check that rejects the pending pod, whichever candidates are preempted."""
        self.dearer = there.open & (self.refusing == FITS) & (self.counts > 0)
        """Node index -> whether the node was not examined closely because another node is cheaper in any case."""
        self._useful = self.dearer.copy()
        self.gave_up = False
        """Whether not all sets were tried, so that an allowed set may exist although none was found."""
        self.found = sorted(self._found(), key=lambda one: one.cost)
        """The victims on every examined node that makes room for the pending pod, the cheapest first."""

    def end_below(self) -> bool:
        """Search again, allowing queues to end below what they deserve, and return whether that makes room.

        Queues may have to end below because pods cannot be divided.
        """
        if self.attempt.outranks or not self._useful.any():
            return False
        self.dearer = self._useful.copy()
        self.found = sorted(self._found(below=True), key=lambda one: one.cost)
        return self.best is not None

    @property
    def best(self) -> NodeVictims | None:
        """Return the cheapest victims, or None if no node can make room."""
        return self.found[0] if self.found else None

    def other_sets(self) -> bool:
        """Try sets outside the usual order of victims on the cheapest nodes, and return whether one makes room.

        Sets ``gave_up`` if not all sets were tried.
        """
        if not self.attempt.parameters.node_fit:
            self.gave_up = bool(self._useful.any()) and not _lacks_all(self.attempt, self.candidates)
            return False
        places = [place for _least, place in bounds(self.attempt, self.candidates, self._useful)]
        self.gave_up = len(places) > MAX_SEARCHED_NODES
        for place in places[:MAX_SEARCHED_NODES]:
            pods = sorted(self.candidates.on(place), key=self._first)
            tried = search(self.attempt, self.candidates, place, pods)
            rows, put_back = tried.victims() or ([], [])
            self.gave_up |= tried.gave_up
            if rows:
                going, kept = ([pods[row] for row in some] for some in (rows, put_back))
                self.found.append(NodeVictims(tuple(going), tuple(kept), _cost(self.candidates, going, place), place))
        self.found.sort(key=lambda one: one.cost)
        return self.best is not None

    def _first(self, pod: Pod) -> tuple[Rank, int, int, str]:
        return self.candidates.balances.rank(pod.queue or ""), pod.priority, -pod.created_ms, pod.key

    def _found(self, *, below: bool = False) -> Iterator[NodeVictims]:
        if not self.attempt.parameters.node_fit:
            self.dearer[:] = False
            if anywhere := _find_victims(self.attempt, self.candidates, None, self.candidates.pods, below=below):
                yield anywhere
            return
        best: Cost | None = None
        hopeless: Flags | None = None
        for least, place in bounds(self.attempt, self.candidates, self.dearer):
            if best is not None and least > best:
                return
            self.dearer[place] = False
            if hopeless is not None and hopeless[place]:
                continue
            if one := victims_on_node(self.attempt, self.candidates, place, below=below):
                best = one.cost if best is None else min(best, one.cost)
                yield one
            elif hopeless is None and not below:  # computed only on a failure: usually the first node makes room
                hopeless = hopeless_places(self.attempt, self.candidates)


def _candidate_departures(attempt: ReclaimAttempt, candidates: Candidates) -> IncrementalDepartingPods:
    """Return all candidates as pods that are evicted together, updated incrementally from the previous call."""
    there = attempt.nodes
    kept: dict[str, IncrementalDepartingPods] = attempt.snapshot.once("deserved going", attempt.tree, dict)
    kept["latest"] = found = IncrementalDepartingPods(
        there.columns, candidates.going, also=there.leaving, before=kept.get("latest")
    )
    return found


def victims_on_node(
    attempt: ReclaimAttempt, candidates: Candidates, place: int, *, below: bool = False
) -> NodeVictims | None:
    """Return the victims that a node would need, or None if it cannot make room for the pending pod.

    With ``below``, pods of a queue are preempted even after it has come down to what it deserves.
    """
    return _find_victims(attempt, candidates, place, candidates.on(place), below=below)


def _find_victims(
    attempt: ReclaimAttempt, candidates: Candidates, place: int | None, pods: Sequence[Pod], *, below: bool
) -> NodeVictims | None:
    room: PlacementGoal = AnyNode(attempt) if place is None else SingleNode(attempt, place)
    turn = _VictimSelection(attempt, candidates, room, below=below)
    taken = turn.take(pods)
    if not taken:
        return None
    victims = turn.needed(taken)
    put_back = tuple(pod for pod in taken if pod not in victims)
    return NodeVictims(tuple(victims), put_back, _cost(candidates, victims, place), place)


def _cost(candidates: Candidates, victims: Sequence[Pod], place: int | None) -> Cost:
    return (
        candidates.balances.rank(victims[0].queue or ""),
        max(pod.priority for pod in victims),
        len(victims),
        -max(pod.created_ms for pod in victims),
        -1 if place is None else place,  # nodes are sorted by name
    )


def _lacks_all(attempt: ReclaimAttempt, candidates: Candidates) -> bool:
    """Return whether the pending pod would have no room anywhere even if all candidates were preempted."""
    return _VictimSelection(attempt, candidates, AnyNode(attempt), below=True).lacks(candidates.pods)


class _VictimSelection:
    """One selection of victims for the pending pod, from one node or from anywhere."""

    def __init__(self, attempt: ReclaimAttempt, candidates: Candidates, room: PlacementGoal, *, below: bool) -> None:
        self.attempt, self.candidates, self.room, self._below = attempt, candidates, room, below

    def take(self, pods: Sequence[Pod]) -> list[Pod]:
        """Return the victims, in order, that make room for the pending pod; empty if it cannot have room."""
        balances, taken, lines = ShareBalances(self.attempt), list[Pod](), _pods_by_queue(pods)
        while self.lacks(taken):
            pod = next(self._open(balances, taken, lines), None)
            if pod is None:
                return []
            balances.give(pod)
            taken.append(pod)
        return taken

    def needed(self, taken: Sequence[Pod]) -> list[Pod]:
        """Return the victims that are really needed. Victims are tried in reverse order of selection."""
        needed = list(taken)
        for pod in reversed(taken):
            others = [one for one in needed if one is not pod]
            if others and not self.lacks(others):
                needed = others
        return needed

    def _open(self, balances: ShareBalances, taken: list[Pod], lines: Mapping[str, "_QueuePods"]) -> Iterator[Pod]:
        """Yield the pods that may be preempted next, those of the most overused queue first."""
        short, gone = self.room.short(taken), {pod.uid for pod in taken}
        helps = self.room.helping(taken) if self.room.lacks(taken) else self._lies_under_hard
        for queue in sorted(lines, key=balances.rank):
            beyond = self._beyond(balances, queue, short)
            for pod in lines[queue].ordered if beyond else ():
                if (
                    (self.attempt.outranks or any(pod.requests.get(name, 0) > 0 for name in beyond))
                    and pod.uid not in gone
                    and helps(pod)
                    and not balances.below_reserved(pod)
                    and self.candidates.budgets.allow([*taken, pod])
                ):
                    yield pod

    def _beyond(self, balances: ShareBalances, queue: str, short: Collection[str]) -> Collection[str]:
        """Return the short resources for which a queue may be preempted from.

        A pending pod with a high-priority class may preempt for any of them.
        """
        if self.attempt.outranks:
            return short
        overused = balances.was_overused if self._below else balances.overused
        return [name for name in short if overused(queue, name)]

    def lacks(self, gone: Sequence[Pod]) -> bool:
        """Return whether the pending pod still cannot be placed once the pods ``gone`` are evicted.

        It cannot be placed if it has no room, or if an ancestor of its queue would exceed its hard limit.
        """
        return self.room.lacks(gone) or any(
            self._gone(path, name, gone) < more for (path, name), more in self.attempt.excess.items()
        )

    def _gone(self, path: str, name: str, gone: Sequence[Pod]) -> int:
        tree = self.attempt.tree
        return sum(pod.requests.get(name, 0) for pod in gone if tree.contains(path, pod.queue or ""))

    def _lies_under_hard(self, pod: Pod) -> bool:
        """Return whether evicting a pod reduces the excess of any ancestor over its hard limit."""
        tree = self.attempt.tree
        return any(
            pod.requests.get(name, 0) > 0 and tree.contains(path, pod.queue or "") for path, name in self.attempt.excess
        )


class _QueuePods:
    """The pods of one queue. Sorting is deferred, because there may be many and few queues are ever reached."""

    def __init__(self) -> None:
        self.pods: list[Pod] = []

    @cached_property
    def ordered(self) -> list[Pod]:
        """Return the pods with the lowest priority first, then the newest."""
        return sorted(self.pods, key=lambda pod: (pod.priority, -pod.created_ms, pod.key))


def _pods_by_queue(pods: Iterable[Pod]) -> dict[str, _QueuePods]:
    found: defaultdict[str, _QueuePods] = defaultdict(_QueuePods)
    for pod in pods:
        found[pod.queue or ""].pods.append(pod)
    return found
