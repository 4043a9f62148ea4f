"""A gang whose waiting members want nodes at once: who they are, and where those go that need no eviction.

That a gang is decided whole or not at all, with its members on any nodes, is this product's own.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from engine.model.columns.departures import DepartingPods
from engine.model.objects import Pod, SchedulingGroup
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import group_of
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.groups.members import bound_members, is_member
from engine.policies.common.groups.members_in_place import Placed
from engine.policies.common.groups.placing import GroupState, MemberShapes


class Gang(NamedTuple):
    """A gang that is decided as a whole."""

    group: SchedulingGroup
    members: tuple[Pod, ...]
    """The members that wait, in their order; the decision is made with the first."""
    placed: int
    """How many others have a node."""


class FoundGang(NamedTuple):
    """What a pending pod is decided with: a gang, or another pod of it; if there is neither, it is decided alone."""

    snapshot: Snapshot
    """The snapshot without what is reserved for the gang."""
    gang: Gang | None = None
    decided_with: Pod | None = None
    """The pod of the gang with which the decision is made, if it is not the pending pod."""


def find_gang(snapshot: Snapshot, ask: Pod) -> FoundGang:
    """Return the gang that a pending pod is decided with.

    A pod beyond the number that a gang needs at once is decided alone, once the gang runs. So is a pod whose group does
    not exist or needs no number: other schedulers may start it alone.
    """
    group = group_of(snapshot, ask)
    if group is None or group.min_count is None:
        return FoundGang(snapshot)
    waiting, kept = waiting_members(snapshot, group), snapshot.kept_for
    members = tuple(pod for pod in waiting if (pod.uid in kept) == (ask.uid in kept))
    for pod in members:
        snapshot = snapshot.without_reservation(pod.uid)
    placed = placed_members(snapshot, group)
    reserved = next((pod for pod in waiting if pod.uid in snapshot.kept_for), None)
    if reserved is not None and len(bound_members(snapshot, group)) < group.needed <= placed:
        return FoundGang(snapshot, decided_with=reserved)  # whether these start is not known yet
    if placed >= group.needed or all(pod.uid != ask.uid for pod in members):  # it may not be in the snapshot yet
        return FoundGang(snapshot)
    if members[0].uid != ask.uid:
        return FoundGang(snapshot, decided_with=members[0])
    return FoundGang(snapshot, Gang(group, members, placed))


def waiting_members(snapshot: Snapshot, group: SchedulingGroup) -> tuple[Pod, ...]:
    """Return the members that want a node, in their order: the highest priority first, then the oldest."""
    members = (pod for pod in snapshot.asks if is_member(group, pod))
    return tuple(sorted(members, key=lambda pod: (-pod.priority, pod.created_ms, pod.name)))


def placed_members(snapshot: Snapshot, group: SchedulingGroup) -> int:
    """Return how many members have a node, or have one reserved by an open decision."""
    reserved = sum(pod.uid in snapshot.kept_for for pod in waiting_members(snapshot, group))
    return len(bound_members(snapshot, group)) + reserved


class PendingGang:
    """The members of a gang that wait, and the nodes that they get without any eviction."""

    def __init__(
        self, snapshot: Snapshot, tree: QueueTree, group: SchedulingGroup, members: Sequence[Pod], placed: int
    ) -> None:
        """Prepare the gang. ``members``: those that wait, at least one. ``placed``: how many others have a node."""
        self.snapshot, self.tree, self.group, self.members, self.placed = snapshot, tree, group, members, placed
        self.first = PreemptionAttempt(snapshot, tree, members[0])
        self.wanted = max(1, group.needed - placed)
        """How many of the members need a node at once."""

    @cached_property
    def shapes(self) -> MemberShapes:
        """Return the checks of the members."""
        return MemberShapes(self.snapshot, self.members)

    def place_free(self, *, leaving_counted: bool) -> tuple[GroupState, Placed]:
        """Place the members that need no eviction, as many as are wanted, where the scheduler would place them.

        With ``leaving_counted``, terminating pods are gone already.
        """
        columns = self.first.columns
        nobody = DepartingPods(columns, np.zeros(0, np.intp))
        state = self.shapes.without(self.first.leaving if leaving_counted else nobody, ~self.first.open)
        placed: list[tuple[Pod, int]] = []
        for pod in self.members:
            place = state.best(pod) if len(placed) < self.wanted else None
            if place is not None:
                state.bind(pod, place)
                placed.append((pod, place))
        return state, placed

    @cached_property
    def free(self) -> tuple[GroupState, Placed]:
        """Return what ``place_free`` does once terminating pods are gone. A search leaves the state as it was."""
        return self.place_free(leaving_counted=True)

    def choices(self, placed: Placed) -> Iterator[tuple[Pod, ...]]:
        """Yield the members that could be served by preemption beside those that are ``placed``, in their order.

        Of members that differ in identity alone, the first are taken.
        """
        served = {pod.uid for pod, _place in placed}
        others = [pod for pod in self.members if pod.uid not in served]
        missing = self.wanted - len(served)
        if missing == len(others):
            yield tuple(others)
            return
        shapes: dict[bytes, list[Pod]] = {}
        for pod in others:
            shapes.setdefault(self.shapes.shape_of(pod), []).append(pod)
        for counts in _shares([len(pods) for pods in shapes.values()], missing):
            chosen = {pod.uid for pods, count in zip(shapes.values(), counts, strict=True) for pod in pods[:count]}
            yield tuple(pod for pod in others if pod.uid in chosen)

    def of(self, pod: Pod) -> PreemptionAttempt:
        """Return the attempt of one member."""
        return PreemptionAttempt(self.snapshot, self.tree, pod)


def _shares(sizes: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    """Yield how many of each of some groups are taken so that there are ``count``, more of the first groups first."""
    if not sizes:
        yield ()
        return
    for number in range(min(sizes[0], count), max(0, count - sum(sizes[1:])) - 1, -1):
        yield from ((number, *rest) for rest in _shares(sizes[1:], count - number))
