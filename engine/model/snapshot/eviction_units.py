"""What is evicted together: a pod alone, or all bound pods of a group whose disruption mode is ``all``.

Source: podgrouppreemption.go and util.go of kube-scheduler 1.37 (pkg/scheduler/framework/preemption).
"""

from functools import cached_property

import numpy as np

from engine.model.columns import pod_fields
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.objects import DisruptionMode, GroupKind, Pod, SchedulingGroup, referenced_group
from engine.model.snapshot.snapshot import Snapshot


def group_of(snapshot: Snapshot, pod: Pod) -> SchedulingGroup | None:
    """Return the group that a pod is started with; None if it names none, or one that does not exist."""
    return snapshot.groups.get((pod.namespace, pod.scheduling_group)) if pod.scheduling_group else None


def names_pod_group(pod: Pod) -> bool:
    """Return whether a pod names a PodGroup of scheduling.k8s.io: kube-scheduler knows no other group."""
    return bool(pod.scheduling_group) and referenced_group(pod.scheduling_group)[0] is GroupKind.POD_GROUP


def pod_group_of(snapshot: Snapshot, pod: Pod) -> SchedulingGroup | None:
    """Return the PodGroup of scheduling.k8s.io that a pod is started with; None if there is none."""
    return group_of(snapshot, pod) if names_pod_group(pod) else None


def is_whole(group: SchedulingGroup | None) -> bool:
    """Return whether the bound pods of a group are evicted together or not at all."""
    return group is not None and group.disruption_mode is DisruptionMode.ALL


def units_of(snapshot: Snapshot) -> "Units":
    """Return the units of a snapshot's bound pods."""
    made: Units = snapshot.once("units", None, lambda: Units(snapshot))
    return made


class Units:
    """The units of the bound pods, by row. A unit is identified by its lead: the first of its rows."""

    def __init__(self, snapshot: Snapshot) -> None:
        columns = snapshot.columns
        kinds = self._kinds = columns.kinds(pod_fields.scheduling_group)
        groups = [pod_group_of(snapshot, pod) for pod in kinds.each]
        self.grouped: Flags = kinds.flags(names_pod_group)
        """Row -> whether the pod names a PodGroup."""
        self.whole: Flags = kinds.flags(lambda pod: is_whole(pod_group_of(snapshot, pod)))
        """Row -> whether the pod is of a group that goes or stays as a whole."""
        self.priority: Numbers = columns.priority.copy()
        """Row -> the priority of its unit: that of the group, if there is one."""
        self.lead: Rows = np.arange(len(columns.pods))
        """Row -> the lead of its unit."""
        for number, group in enumerate(groups):
            if group is not None:
                rows = np.flatnonzero(kinds.of == number)
                self.priority[rows] = group.priority
                if is_whole(group):
                    self.lead[rows] = rows[:1]
        self._started = columns.started

    @cached_property
    def size(self) -> Numbers:
        """Return, by lead, the number of pods of the unit."""
        return np.bincount(self.lead, minlength=len(self.lead))

    @cached_property
    def started(self) -> Numbers:
        """Return, by lead, when the first pod of the unit started."""
        started = self._started.copy()
        several = np.flatnonzero(self.lead != np.arange(len(self.lead)))
        np.minimum.at(started, self.lead[several], self._started[several])
        return started

    @cached_property
    def order(self) -> Rows:
        """Return all units (leads) with the most important one first.

        Units that are equal in all of it come in the order of their rows.

        Source: MoreImportantVictim of kube-scheduler.
        """
        leads = np.flatnonzero(self.lead == np.arange(len(self.lead)))
        by = (leads, self.started[leads], -self.size[leads], ~self.grouped[leads], -self.priority[leads])
        ordered: Rows = leads[np.lexsort(by)]
        return ordered

    @cached_property
    def rank(self) -> Rows:
        """Return, by lead, the place of the unit in ``order``; the other rows have none."""
        rank = np.zeros(len(self.lead), np.intp)
        rank[self.order] = np.arange(len(self.order))
        return rank

    @cached_property
    def _together(self) -> tuple[Rows, Rows]:
        """Return the rows ordered by their lead, and these leads."""
        order = np.argsort(self.lead, kind="stable")
        return order, self.lead[order]

    @cached_property
    def whole_by_lead(self) -> Rows:
        """Return the rows of all whole groups, group by group."""
        order, _ = self._together
        return order[self.whole[order]]

    def members(self, group: SchedulingGroup) -> Rows:
        """Return the rows of a group's pods."""
        return self.named(group.namespace, group.reference)

    def named(self, namespace: str, reference: str) -> Rows:
        """Return the rows of the pods that name a group, which need not exist."""
        number = self._number.get((namespace, reference))
        return np.zeros(0, np.intp) if number is None else np.flatnonzero(self._kinds.of == number)

    @cached_property
    def _number(self) -> dict[tuple[str, str], int]:
        """Return the number of each group's kind of pods, by namespace and name."""
        return {(pod.namespace, pod.scheduling_group): number for number, pod in enumerate(self._kinds.each)}

    def rows(self, lead: int) -> list[int]:
        """Return the rows of a unit."""
        if self.size[lead] == 1:
            return [lead]
        order, leads = self._together
        return [int(row) for row in order[slice(*np.searchsorted(leads, (lead, lead + 1)))]]


def whole_rows(snapshot: Snapshot) -> Rows:
    """Return the rows of the pods that go, or stay, with their whole group."""
    return np.flatnonzero(units_of(snapshot).whole) if snapshot.groups else np.zeros(0, np.intp)
