"""The pods of a group: which of them wait, and which have a node."""

from engine.model.objects import Pod, SchedulingGroup
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import units_of


def is_member(group: SchedulingGroup, pod: Pod) -> bool:
    """Return whether a pod names a group."""
    return (pod.namespace, pod.scheduling_group) == (group.namespace, group.reference)


def bound_members(snapshot: Snapshot, group: SchedulingGroup) -> tuple[Pod, ...]:
    """Return the members that have a node. Terminating ones count as long as they exist."""
    columns = snapshot.columns
    rows = units_of(snapshot).members(group).tolist()
    return (*(columns.pods[row] for row in rows), *(pod for pod in columns.stray if is_member(group, pod)))
