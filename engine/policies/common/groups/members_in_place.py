"""The members of a group on their nodes, while pods are put back one unit after the other."""

from collections.abc import Iterable, Sequence

import numpy as np

from engine.feasibility.moving_checks import MovingChecks
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Columns, Flags
from engine.model.objects import Pod
from engine.policies.common.groups.placing import MemberShapes

Placed = Sequence[tuple[Pod, int]]
"""The members with the index of their node, in the order in which they were placed."""


class MembersInPlace:
    """The members on their nodes, each with the cluster as it is for it: with the members before it in place."""

    def __init__(self, shapes: MemberShapes, gone: DepartingPods, placed: Placed) -> None:
        columns = shapes.snapshot.columns
        self._members: list[MemberOnNode] = []
        self._on: dict[int, list[MemberOnNode]] = {}
        """Index of a node -> the members there."""
        self.counted_elsewhere: Flags = np.zeros(len(columns.pods), np.bool_)
        """Row -> whether the pod may make a difference to members on other nodes than its own."""
        self.local = True
        """Whether pods of other nodes make no difference to any member."""
        seen = set()
        shared: dict[bytes, MovingChecks] = {}
        before: dict[int, list[tuple[Pod, int]]] = {}
        for number, (pod, place) in enumerate(placed):
            shape = shapes.shape_of(pod)
            checks = shared.get(shape) or shapes.checks_of(pod, gone)
            self.local &= checks.local
            others = before.setdefault(place, []) if checks.local else placed[:number]
            for other, there in others:
                checks.bind(other, there)
            member = LocalMember(columns, checks, place) if checks.local else MemberOnNode(columns, checks, place)
            if checks.local:  # what is left on the node is noted: the next member of this shape takes the same checks
                shared[shape] = checks
                for other, there in others:
                    checks.bind(other, there, -1)
            elif checks.shape not in seen:
                seen.add(checks.shape)
                self.counted_elsewhere |= checks.counted_elsewhere()
            self._members.append(member)
            self._on.setdefault(place, []).append(member)
            before.setdefault(place, []).append((pod, place))

    def take_back(self, pods: Sequence[tuple[int, int]]) -> bool:
        """Put the pods of a unit back if all members still fit; return whether they do.

        Each item is the row of a pod and the index of its node.
        """
        asked = self._asked(pods)
        self._put_back(pods, asked, 1)
        if all(member.fits() for member in asked):
            return True
        self._put_back(pods, asked, -1)
        return False

    def fit_beside(self, pods: Sequence[tuple[int, int]], *, nearby: Sequence[int] | None = None) -> bool:
        """Return whether all members would fit if some pods were back, or those on the nodes ``nearby`` (indexes)."""
        asked = self._members if nearby is None else self._on_nodes(nearby)
        self._put_back(pods, asked, 1)
        fit = all(member.fits() for member in asked)
        self._put_back(pods, asked, -1)
        return fit

    def last_on_nodes(self) -> "dict[int, LocalMember]":
        """Return the last member on each node (by index), for which there is the least room; only if they are local."""
        last = {place: members[-1] for place, members in self._on.items()}
        return {place: member for place, member in last.items() if isinstance(member, LocalMember)}

    def alike(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """Return whether it makes no difference to the members which of two pods of the same node leaves.

        Each is the row of a pod and the index of its node. False if that is not known.
        """
        weights = [(member.weights_of(*one), member.weights_of(*other)) for member in self._on_nodes((one[1],))]
        return self.local and all(first is not None and first == second for first, second in weights)

    def _put_back(self, pods: Sequence[tuple[int, int]], members: "Sequence[MemberOnNode]", times: int) -> None:
        for row, place in pods:
            for member in members:
                member.put_back(row, place, times)

    def _on_nodes(self, places: Iterable[int]) -> "list[MemberOnNode]":
        return [member for place in dict.fromkeys(places) for member in self._on.get(place, ())]

    def _asked(self, pods: Sequence[tuple[int, int]]) -> "list[MemberOnNode]":
        """Return the members to which these pods may make a difference."""
        if not self.local and any(self.counted_elsewhere[row] for row, _place in pods):
            return self._members
        return self._on_nodes(place for _row, place in pods)


class MemberOnNode:
    """A pending pod on one node, while pods leave and are put back."""

    local = False
    """Whether pods of other nodes make no difference."""

    def __init__(self, columns: Columns, checks: MovingChecks, place: int) -> None:
        self._columns, self._checks, self.place = columns, checks, place

    def put_back(self, row: int, place: int, times: int) -> None:
        """Let a pod come back to its node (``times`` 1), or go again (-1)."""
        self._checks.put_back(self._columns.pods[row], place, times)

    def fits(self) -> bool:
        """Return whether the member can run on its node now."""
        return self._checks.allowed_on(self.place)

    def helps(self, _row: int, _place: int) -> bool:
        """Return whether it may help the member if a pod leaves."""
        return True

    def weights_of(self, _row: int, _place: int) -> tuple[int, ...] | None:
        """Return what a pod holds of each limit of the node; None if that does not tell what it means to the member."""
        return None


class LocalMember(MemberOnNode):
    """The same where a pod matters on its own node alone: what is left of each limit there, in plain integers."""

    local = True

    def __init__(self, columns: Columns, checks: MovingChecks, place: int) -> None:
        super().__init__(columns, checks, place)
        rows, limits = columns.rows(place), checks.left_on(place)
        self._first = rows.start
        self._left = [left for _weight, left in limits]
        weights = [weight[rows.start : rows.stop].tolist() for weight, _left in limits]
        self._weights: list[tuple[int, ...]] = list(zip(*weights, strict=True)) or [()] * len(rows)
        self._short = [left < 0 for left in self._left]
        """For each limit, whether it was exceeded before any pod left."""

    def put_back(self, row: int, place: int, times: int) -> None:
        if place == self.place:
            weights = self._weights[row - self._first]
            self._left = [left - times * weight for left, weight in zip(self._left, weights, strict=True)]

    def fits(self) -> bool:
        return min(self._left, default=0) >= 0

    @property
    def left(self) -> tuple[int, ...]:
        """Return what is left of each limit of the node now; negative: by how much it is exceeded."""
        return tuple(self._left)

    def freed_by(self, pods: Iterable[tuple[int, int]]) -> tuple[int, ...]:
        """Return what some pods of the node hold of each limit. Each is the row of a pod and the index of its node."""
        return tuple(map(sum, zip(*(self.weights_of(*pod) for pod in pods), strict=True)))

    def helps(self, row: int, place: int) -> bool:
        """Return whether a pod holds some of what is missing, or nothing is missing on the node itself."""
        if not any(self._short):
            return True
        weights = self.weights_of(row, place)
        return any(short and weight > 0 for short, weight in zip(self._short, weights, strict=False))

    def weights_of(self, row: int, place: int) -> tuple[int, ...]:
        return self._weights[row - self._first] if place == self.place else ()
