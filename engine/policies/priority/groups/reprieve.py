"""Which units stay after all: each is put back in its turn, and goes for good if a member no longer fits.

Source: SelectVictimsOnDomain of kube-scheduler 1.37 (pkg/scheduler/framework/preemption, podgrouppreemption.go).
"""

from collections.abc import Sequence

import numpy as np

from engine.feasibility.moving_checks import MovingChecks
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Columns, Flags, Rows
from engine.model.objects import Pod
from engine.model.snapshot.eviction_units import Units
from engine.policies.priority.groups.placing import MemberShapes

Placed = Sequence[tuple[Pod, int]]
"""The members with the index of their node, in the order in which they were placed."""


def find_victims(shapes: MemberShapes, gone: DepartingPods, units: Units, turns: Rows, placed: Placed) -> list[int]:
    """Return the units (leads) that have to go, in the order in which they were put back.

    ``gone``: all units. ``turns``: the units in the order in which they are put back.
    """
    columns = shapes.snapshot.columns
    members = _MembersInPlace(shapes, gone, placed)
    used = np.zeros(len(columns.nodes), np.bool_)
    used[[place for _pod, place in placed]] = True
    matter = np.zeros(len(columns.pods), np.bool_)
    matter[units.lead[used[columns.node] | members.counted_elsewhere]] = True
    return [lead for lead in turns[matter[turns]].tolist() if not members.take_back(_on_nodes(columns, units, lead))]


def _on_nodes(columns: Columns, units: Units, lead: int) -> list[tuple[int, int]]:
    """Return the rows of a unit, each with the index of its node."""
    return [(row, int(columns.node[row])) for row in units.rows(lead)]


class _MembersInPlace:
    """The members on their nodes, each with the cluster as it is for it: with the members before it in place."""

    def __init__(self, shapes: MemberShapes, gone: DepartingPods, placed: Placed) -> None:
        columns = shapes.snapshot.columns
        self._members: list[_Member] = []
        self._on: dict[int, list[_Member]] = {}
        """Index of a node -> the members there."""
        self.counted_elsewhere: Flags = np.zeros(len(columns.pods), np.bool_)
        """Row -> whether the pod may make a difference to members on other nodes than its own."""
        seen = set()
        for number, (pod, place) in enumerate(placed):
            checks = shapes.checks_of(pod, gone)
            for other, there in placed[:number]:
                if there == place or not checks.local:
                    checks.bind(other, there)
            member = _LocalMember(columns, checks, place) if checks.local else _Member(columns, checks, place)
            self._members.append(member)
            self._on.setdefault(place, []).append(member)
            if checks.shape not in seen:
                seen.add(checks.shape)
                self.counted_elsewhere |= checks.counted_elsewhere()

    def take_back(self, pods: Sequence[tuple[int, int]]) -> bool:
        """Put the pods of a unit back if all members still fit; return whether they do.

        Each item is the row of a pod and the index of its node.
        """
        asked = self._asked(pods)
        for row, place in pods:
            for member in asked:
                member.put_back(row, place, 1)
        if all(member.fits() for member in asked):
            return True
        for row, place in pods:
            for member in asked:
                member.put_back(row, place, -1)
        return False

    def _asked(self, pods: Sequence[tuple[int, int]]) -> "list[_Member]":
        """Return the members to which these pods may make a difference."""
        if any(self.counted_elsewhere[row] for row, _place in pods):
            return self._members
        return [member for place in dict.fromkeys(place for _row, place in pods) for member in self._on.get(place, ())]


class _Member:
    """A member on its node, while pods are put back."""

    def __init__(self, columns: Columns, checks: MovingChecks, place: int) -> None:
        self._columns, self._checks, self.place = columns, checks, place

    def put_back(self, row: int, place: int, times: int) -> None:
        """Let a pod come back to its node (``times`` 1), or go again (-1)."""
        self._checks.put_back(self._columns.pods[row], place, times)

    def fits(self) -> bool:
        """Return whether the member can run on its node now."""
        return self._checks.allowed_on(self.place)


class _LocalMember(_Member):
    """The same where a pod matters on its own node alone: what is left of each limit there, in plain integers."""

    def __init__(self, columns: Columns, checks: MovingChecks, place: int) -> None:
        super().__init__(columns, checks, place)
        rows, limits = columns.rows(place), checks.left_on(place)
        self._first = rows.start
        self._left = [left for _weight, left in limits]
        weights = [weight[rows.start : rows.stop].tolist() for weight, _left in limits]
        self._weights: list[tuple[int, ...]] = list(zip(*weights, strict=True)) or [()] * len(rows)

    def put_back(self, row: int, place: int, times: int) -> None:
        if place == self.place:
            weights = self._weights[row - self._first]
            self._left = [left - times * weight for left, weight in zip(self._left, weights, strict=True)]

    def fits(self) -> bool:
        return min(self._left, default=0) >= 0
