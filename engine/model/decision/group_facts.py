"""What a decision records where pods are placed together, or evicted together: the group, its nodes, and the units."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from engine.model.objects.pod_groups import CompositeGroup, GroupKind, SchedulingGroup, TaskGroup, group_reference


class GroupFacts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A group of pods that is decided as a whole, and where its members get a node."""

    namespace: str
    name: str
    uid: str = ""
    priority: int
    needed: int
    """How many of its pods must have a node before any of them is bound."""
    bound: int = 0
    """How many had one already."""
    nodes: dict[str, str] = {}
    """Uid of a member that gets a node -> the node, in the order in which they were placed."""
    scheduled: int = 0
    """How many members would have a node, those that had one included."""
    untried: int = 0
    """How many had not been tried when it was clear that too few would have one."""
    spared: int = 0
    """How many running pods of lower priority on these nodes may stay after all."""
    kind: GroupKind | UnsetType = UNSET
    """What it is in the cluster; unset for a PodGroup of scheduling.k8s.io."""
    task_groups: tuple[TaskGroup, ...] | UnsetType = UNSET
    """The task groups of an application of YuniKorn."""
    hard: bool | UnsetType = UNSET
    """Whether YuniKorn fails the application once its placeholders time out."""
    workload: str | UnsetType = UNSET
    """The Workload that the PodGroup was made for."""
    composites: tuple[CompositeGroup, ...] | UnsetType = UNSET
    """The composite groups that the PodGroup is part of, the nearest first. Their rules are not evaluated."""

    @classmethod
    def of(cls, group: SchedulingGroup, **placed: Any) -> "GroupFacts":
        """Return the facts of a group, with what was found for its members."""
        own: dict[str, Any] = {}
        if group.kind is not GroupKind.POD_GROUP:
            own["kind"] = group.kind
        if group.kind is GroupKind.YUNIKORN:
            own |= {"task_groups": group.task_groups, "hard": group.hard}
        if group.workload:
            own["workload"] = group.workload
        if group.composites:
            own["composites"] = group.composites
        return cls(
            namespace=group.namespace,
            name=group.name,
            uid=group.uid,
            priority=group.priority,
            needed=group.needed,
            **own,
            **placed,
        )

    @property
    def of_kind(self) -> GroupKind:
        """Return what the group is in the cluster."""
        return self.kind or GroupKind.POD_GROUP

    @property
    def reference(self) -> str:
        """Return how its pods refer to the group."""
        return group_reference(self.of_kind, self.name)

    @property
    def key(self) -> str:
        """Return the group's ``namespace/name``."""
        return f"{self.namespace}/{self.name}"


class UnitFacts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The running pods of a group that are evicted together, or stay together."""

    group: str
    """``namespace/name``."""
    priority: int
    pods: tuple[str, ...]
    """Their uids."""
    evicted: bool
    violations: int = 0
    """How many of its pods exceed a disruption budget."""
