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
        self._columns = shapes.snapshot.columns
        self._members: list[tuple[MovingChecks, int]] = []
        """The checks of each member, and the index of its node."""
        self._on: dict[int, list[tuple[MovingChecks, int]]] = {}
        """Index of a node -> the members there."""
        for number, (pod, place) in enumerate(placed):
            checks = shapes.checks_of(pod, gone)
            for other, there in placed[:number]:
                if there == place or not checks.local:
                    checks.bind(other, there, 1)
            self._members.append((checks, place))
            self._on.setdefault(place, []).append((checks, place))
        self.counted_elsewhere: Flags = np.zeros(len(self._columns.pods), np.bool_)
        """Row -> whether the pod may make a difference to members on other nodes than its own."""
        for checks, _place in {id(checks.shape): (checks, place) for checks, place in self._members}.values():
            self.counted_elsewhere |= checks.counted_elsewhere()

    def take_back(self, pods: Sequence[tuple[int, int]]) -> bool:
        """Put the pods of a unit back if all members still fit; return whether they do.

        Each item is the row of a pod and the index of its node.
        """
        asked = self._asked(pods)
        for row, place in pods:
            for checks, _there in asked:
                checks.put_back(self._columns.pods[row], place, 1)
        if all(checks.allowed_on(there) for checks, there in asked):
            return True
        for row, place in pods:
            for checks, _there in asked:
                checks.put_back(self._columns.pods[row], place, -1)
        return False

    def _asked(self, pods: Sequence[tuple[int, int]]) -> list[tuple[MovingChecks, int]]:
        """Return the members to which these pods may make a difference."""
        if any(self.counted_elsewhere[row] for row, _place in pods):
            return self._members
        return [member for place in dict.fromkeys(place for _row, place in pods) for member in self._on.get(place, ())]
