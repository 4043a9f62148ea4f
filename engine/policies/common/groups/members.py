"""The pods of a group: which of them wait, and which have a node."""

from engine.model.objects import Pod, SchedulingGroup
from engine.model.objects.pod_groups import GroupKind
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


def gated_member(snapshot: Snapshot, group: SchedulingGroup) -> Pod | None:
    """Return a pending member of a PodGroup with scheduling gates, None if there is none.

    While there is one, kube-scheduler 1.37 tries no pod of the group, even if enough others exist. Source:
    runPreEnqueuePlugins of its PriorityQueue. Other schedulers start the others.
    """
    if group.kind is not GroupKind.POD_GROUP:
        return None
    gated = (pod for pod in snapshot.unbound if pod.gated and is_member(group, pod))
    return next((pod for pod in gated if not (pod.terminating or pod.finished)), None)
