"""One attempt to place the waiting members of a group: who they are, and which pods have a lower priority."""

from functools import cached_property

import numpy as np

from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Flags, Rows
from engine.model.objects import PREEMPTION_BY_SCHEDULER, Pod, SchedulingGroup
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import units_of
from engine.policies.common.groups.members import bound_members, gated_member, is_member
from engine.policies.common.groups.placing import MemberShapes, Placement
from engine.policies.priority.groups.budget_charges import violations


def waiting_members(snapshot: Snapshot, group: SchedulingGroup) -> tuple[Pod, ...]:
    """Return the members that want a node, in the order in which they are placed: the oldest first."""
    members = (pod for pod in snapshot.asks if is_member(group, pod))
    return tuple(sorted(members, key=lambda pod: (pod.created_ms, pod.name)))


class GroupAttempt:
    """The state of preemption for one group, computed on demand."""

    def __init__(self, snapshot: Snapshot, group: SchedulingGroup) -> None:
        self.snapshot, self.group, self.columns = snapshot, group, snapshot.columns
        self.units = units_of(snapshot)
        self.bound = bound_members(snapshot, group)
        """The members that have a node. Terminating ones count as long as they exist."""
        self.waiting = waiting_members(snapshot, group)
        """The members that want a node, in the order in which they are placed."""

    @cached_property
    def shapes(self) -> MemberShapes:
        """Return the checks of the waiting members."""
        return MemberShapes(self.snapshot, self.waiting)

    @cached_property
    def lower(self) -> Flags:
        """Return for each row whether the pod's unit has a lower priority than the group."""
        return np.asarray(self.units.priority < self.group.priority, np.bool_)

    @cached_property
    def departing(self) -> DepartingPods:
        """Return all units of lower priority as departed."""
        return DepartingPods(self.columns, self.lower)

    @property
    def existing(self) -> int:
        """Return how many pods of the group exist, with or without a node."""
        return len(self.bound) + sum(is_member(self.group, pod) for pod in self.snapshot.unbound)

    @property
    def gated_member(self) -> Pod | None:
        """Return a member with scheduling gates, None if no member has any."""
        return gated_member(self.snapshot, self.group)

    @property
    def odd_member(self) -> Pod | None:
        """Return a member without the group's priority, or the others' scheduler or preemption policy; None: no one."""
        members = (*self.waiting, *self.bound)
        alike = {(self.group.priority, pod.scheduler, pod.never_preempts) for pod in members[:1]}
        return next((pod for pod in members if (pod.priority, pod.scheduler, pod.never_preempts) not in alike), None)

    @property
    def emptying_node(self) -> str:
        """Return a node that a member is nominated to, and where a victim is terminating; empty: there is none."""
        for name in dict.fromkeys(pod.nominated_node for pod in self.waiting):
            place = self.columns.place.get(name)
            for row in () if place is None else self.columns.rows(place):
                pod = self.columns.pods[row]
                if self.lower[row] and pod.terminating and pod.disruption == PREEMPTION_BY_SCHEDULER:
                    return name
        return ""

    def place(self, gone: DepartingPods | None = None) -> Placement:
        """Place the members in the cluster as it is, or without some pods."""
        nobody = DepartingPods(self.columns, np.zeros(0, np.intp))
        return self.shapes.without(nobody if gone is None else gone).place(len(self.bound), self.group.needed)

    @cached_property
    def candidates(self) -> Rows:
        """Return all units (leads) of lower priority, the most important first."""
        order: Rows = self.units.order[self.lower[self.units.order]]
        return order

    @cached_property
    def violating(self) -> dict[int, dict[int, str]]:
        """Return the candidates (leads) that exceed budgets, with their pods (rows) that do and the budget."""
        return violations(self.columns, self.snapshot.budgets, self.units, self.candidates)

    @property
    def turns(self) -> Rows:
        """Return the candidates in the order in which they are put back: those that exceed budgets first."""
        first = np.isin(self.candidates, np.array(list(self.violating), np.intp))
        return np.concatenate([self.candidates[first], self.candidates[~first]])
