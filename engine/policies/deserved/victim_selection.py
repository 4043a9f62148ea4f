"""Selects victims: always from the queue that exceeds what it deserves the most, recalculated after each victim."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from engine.model.objects import Pod
from engine.policies.common.queue_usage import UsageChange
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.node_bounds import Cost
from engine.policies.deserved.placement_goal import AnyNode, PlacementGoal, SingleNode
from engine.policies.deserved.shares.balances import ShareBalances

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


def victims_on_node(
    attempt: ReclaimAttempt, candidates: Candidates, place: int, *, below: bool = False
) -> NodeVictims | None:
    """Return the victims that a node would need, or None if it cannot make room for the pending pod.

    With ``below``, pods of a queue are preempted even after it has come down to what it deserves.
    """
    selection = _VictimSelection(attempt, candidates, SingleNode(attempt, place), below=below)
    return _select(selection, candidates.on(place), place)


def victims_anywhere(attempt: ReclaimAttempt, candidates: Candidates, *, below: bool = False) -> NodeVictims | None:
    """Return the victims for which the cluster as a whole has room, or None if there are none.

    ``below``: as for ``victims_on_node``.
    """
    selection = _VictimSelection(attempt, candidates, AnyNode(attempt), below=below)
    return _select(selection, candidates.pods, None)


def _select(selection: "_VictimSelection", pods: Sequence[Pod], place: int | None) -> NodeVictims | None:
    """Select victims among some pods, then put back those that are not needed."""
    taken = selection.take(pods)
    if not taken:
        return None
    victims = selection.needed(taken)
    put_back = tuple(pod for pod in taken if pod not in victims)
    return NodeVictims(tuple(victims), put_back, cost_of(selection.candidates, victims, place), place)


def cost_of(candidates: Candidates, victims: Sequence[Pod], place: int | None) -> Cost:
    """Return the cost of victims by CRITERIA. ``place``: their node's index, None if they may be anywhere."""
    return (
        candidates.balances.rank(victims[0].queue or ""),
        max(pod.priority for pod in victims),
        len(victims),
        -max(pod.created_ms for pod in victims),
        -1 if place is None else place,  # nodes are sorted by name
    )


def can_make_room(attempt: ReclaimAttempt, candidates: Candidates) -> bool:
    """Return whether the pending pod would have room somewhere if all candidates were preempted."""
    return not _VictimSelection(attempt, candidates, AnyNode(attempt), below=True).lacks(candidates.pods)


class _VictimSelection:
    """One selection of victims for the pending pod, from one node or from anywhere."""

    def __init__(self, attempt: ReclaimAttempt, candidates: Candidates, goal: PlacementGoal, *, below: bool) -> None:
        self.attempt, self.candidates, self.goal, self._below = attempt, candidates, goal, below

    def take(self, pods: Sequence[Pod]) -> list[Pod]:
        """Return the victims, in order, that make room for the pending pod; empty if it cannot have room."""
        balances, taken, by_queue = ShareBalances(self.attempt), list[Pod](), _pods_by_queue(pods)
        while self.lacks(taken):
            pod = next(self._next(balances, taken, by_queue), None)
            if pod is None:
                return []
            balances.give(pod)
            taken.append(pod)
        return taken

    def needed(self, taken: Sequence[Pod]) -> list[Pod]:
        """Return the victims that are really needed. Victims are tried in reverse order of selection."""
        needed = list(taken)
        for pod in reversed(taken):
            others = [other for other in needed if other is not pod]
            if others and not self.lacks(others):
                needed = others
        return needed

    def _next(self, balances: ShareBalances, taken: list[Pod], by_queue: Mapping[str, "_QueuePods"]) -> Iterator[Pod]:
        """Yield the pods that may be preempted next, those of the most overused queue first."""
        short, gone = self.goal.short(taken), {pod.uid for pod in taken}
        helps = self.goal.helping(taken) if self.goal.lacks(taken) else self._lies_under_hard
        for queue in sorted(by_queue, key=balances.rank):
            beyond = self._beyond(balances, queue, short)
            for pod in by_queue[queue].ordered if beyond else ():
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
        if self.goal.lacks(gone):
            return True
        if not self.attempt.excess:
            return False
        freed = UsageChange.of_pods(self.attempt.tree, gone)
        return any(freed.of(path, name) < more for (path, name), more in self.attempt.excess.items())

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
    by_queue: defaultdict[str, _QueuePods] = defaultdict(_QueuePods)
    for pod in pods:
        by_queue[pod.queue or ""].pods.append(pod)
    return by_queue
