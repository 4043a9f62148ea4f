"""One attempt to place the waiting members of a gang: who they are, and which of them claim a guarantee.

Source: the entitlement is rule 4 of YuniKorn's design document "Preemption"; that a gang is decided whole or not at all
is this product's own.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import msgspec
import numpy as np

from engine.model.columns.departures import DepartingPods
from engine.model.decision import Reason
from engine.model.objects import Pod, SchedulingGroup
from engine.model.quantities import Amounts, add, total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.eligibility import WAITS, due_ms
from engine.policies.common.groups.members import bound_members, is_member
from engine.policies.common.groups.members_in_place import Placed
from engine.policies.common.groups.placing import GroupState, MemberShapes
from engine.policies.fence.candidates import GuaranteeClaim
from engine.policies.fence.preemptable_amounts import AmountsByQueue, find_preemptable_amounts

Refusal = tuple[Reason, str, int | None]
"""Why a gang may not preempt: the reason, its detail, and from when on it may."""


def waiting_members(snapshot: Snapshot, group: SchedulingGroup) -> tuple[Pod, ...]:
    """Return the members that want a node, in their order: the highest priority first, then the oldest."""
    members = (pod for pod in snapshot.asks if is_member(group, pod))
    return tuple(sorted(members, key=lambda pod: (-pod.priority, pod.created_ms, pod.name)))


def placed_members(snapshot: Snapshot, group: SchedulingGroup) -> int:
    """Return how many members have a node, or have one reserved by an open decision."""
    reserved = sum(pod.uid in snapshot.kept_for for pod in waiting_members(snapshot, group))
    return len(bound_members(snapshot, group)) + reserved


class GangAttempt:
    """The state of preemption for one gang, computed on demand. At least one member must be waiting."""

    def __init__(
        self, snapshot: Snapshot, tree: QueueTree, group: SchedulingGroup, members: Sequence[Pod], placed: int
    ) -> None:
        """Prepare the attempt. ``members``: those that wait. ``placed``: how many others have a node."""
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

    def refusal(self, placed: Placed, chosen: Sequence[Pod], *, check_delay: bool) -> Refusal | None:
        """Return why some members may not preempt beside those that are ``placed``, None if they may.

        Invariant 4 holds for each of them with the members before it in their queue.
        """
        before = total(pod.requests for pod, _place in placed)
        for pod in chosen:
            attempt = self.of(pod)
            if not attempt.entitling:
                return Reason.NO_GUARANTEE, attempt.leaf, None
            for resource, path in attempt.entitling.items():
                if attempt.used(path, resource) + before.get(resource, 0) >= self.tree[path].guaranteed[resource]:
                    return Reason.AT_GUARANTEE, f"{path} {resource}", None
            for resource in self.tree[attempt.leaf].max:
                if pod.requests.get(resource, 0) > 0 and attempt.over_max(attempt.leaf, resource) > -before.get(
                    resource, 0
                ):
                    return Reason.OVER_MAX, f"{attempt.leaf} {resource}", None
            before = add(before, pod.requests)
        return self._waits((*(pod for pod, _place in placed), *chosen)) if check_delay else None

    def _waits(self, wanted: Iterable[Pod]) -> Refusal | None:
        """Return whether one of the wanted members was not tried yet, or until when the youngest has to wait."""
        attempts = [self.of(pod) for pod in wanted]
        for reason, guard in WAITS.items():
            if any(guard(attempt) is not None for attempt in attempts):
                due = max((due for attempt in attempts if (due := due_ms(attempt)) is not None), default=None)
                return reason, "", due if reason is Reason.DELAY else None
        return None

    def of(self, pod: Pod) -> PreemptionAttempt:
        """Return the attempt of one member."""
        return PreemptionAttempt(self.snapshot, self.tree, pod)

    def claim(self, chosen: Iterable[Pod], *, opted_out: bool) -> GuaranteeClaim:
        """Return the guarantees that some members claim together. No victim has a higher priority than any of them."""
        entitling = {name: path for pod in chosen for name, path in self.of(pod).entitling.items()}
        priority = min(self.group.priority, *(pod.priority for pod in self.members))
        return GuaranteeClaim(
            ask=msgspec.structs.replace(self.members[0], priority=priority),
            leaf=self.first.leaf,
            fence=self.tree.fence(self.first.leaf),
            entitling=dict(sorted(entitling.items())),
            opted_out=opted_out,
        )

    def amounts(self, requests: Amounts) -> AmountsByQueue:
        """Return what may be preempted from each queue if the members that are placed request so much."""
        asking = msgspec.structs.replace(self.members[0], requests=requests)
        return find_preemptable_amounts(self.first.pod_index, self.first.usage, self.first.leaf, asking)


def _shares(sizes: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    """Yield how many of each of some groups are taken so that there are ``count``, more of the first groups first."""
    if not sizes:
        yield ()
        return
    for number in range(min(sizes[0], count), max(0, count - sum(sizes[1:])) - 1, -1):
        yield from ((number, *rest) for rest in _shares(sizes[1:], count - number))
