"""Groups of pods that a scheduler starts together: PodGroups of Kubernetes and Volcano, applications of YuniKorn.

All of them are read as one kind of group. kube-scheduler knows the PodGroup of scheduling.k8s.io alone.
"""

from enum import StrEnum

import msgspec


class DisruptionMode(StrEnum):
    """Which pods of a group are evicted together."""

    SINGLE = "single"
    """Each pod may be evicted alone."""
    ALL = "all"
    """All bound pods of the group are evicted, or none."""


class GroupKind(StrEnum):
    """What a group of pods is in the cluster."""

    POD_GROUP = "pod-group"
    """A PodGroup of scheduling.k8s.io, which pods name in ``spec.schedulingGroup``."""
    VOLCANO = "volcano"
    """A PodGroup of Volcano, which pods name in an annotation."""
    YUNIKORN = "yunikorn"
    """An application of YuniKorn with task groups. The members that wait are its placeholders."""


_SEPARATOR = ":"
"""Separates the kind from the name in a reference. No name of a Kubernetes object has it."""


def group_reference(kind: GroupKind, name: str) -> str:
    """Return how pods refer to a group: by its name alone, or by kind and name if kube-scheduler does not know it."""
    return name if kind is GroupKind.POD_GROUP or not name else f"{kind}{_SEPARATOR}{name}"


def referenced_group(reference: str) -> tuple[GroupKind, str]:
    """Return the kind and the name of the group that a reference is to."""
    kind, separator, name = reference.partition(_SEPARATOR)
    return (GroupKind(kind), name) if separator else (GroupKind.POD_GROUP, reference)


class TaskGroup(msgspec.Struct, frozen=True, gc=False):
    """A task group of an application of YuniKorn, with the number of its pods that must start together."""

    name: str
    min_member: int


class CompositeGroup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A CompositePodGroup of scheduling.k8s.io: a group of groups. It is shown, and not evaluated."""

    namespace: str
    name: str
    parent: str = ""
    """The composite group that it is part of; empty: it is a root."""
    min_groups: int | None = None
    """The number of its groups that must run together; None: any number may (policy ``basic``)."""
    disruption_mode: DisruptionMode = DisruptionMode.SINGLE
    """Whether its groups may be evicted one by one."""
    priority: int = 0


class SchedulingGroup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A group of pods that start together. Its pods name it in ``Pod.scheduling_group`` by its reference."""

    namespace: str
    name: str
    kind: GroupKind = GroupKind.POD_GROUP
    uid: str = ""
    created_ms: int = 0
    min_count: int | None = None
    """The number of pods that must run together, at least 1; None: any number may (policy ``basic``)."""
    disruption_mode: DisruptionMode = DisruptionMode.SINGLE
    priority: int = 0
    """The priority that counts for the whole group, whatever its pods say."""
    priority_class: str = ""
    unread_rules: tuple[str, ...] = ()
    """Fields of its spec that are not evaluated here; a group with any is skipped rather than misjudged."""
    scheduled: bool | None = None
    """Whether kube-scheduler has placed the group once; None: it has not tried to, or does not schedule groups."""
    unschedulable_message: str = ""
    """Why it could not be placed, in the scheduler's words. Its pods' own messages often do not say this."""
    unread: bool = False
    """Whether it can't be read in its current form. Nothing is decided for its pods."""
    parent: str = ""
    """The CompositePodGroup, in its namespace, that it is part of; empty: none."""
    workload: str = ""
    """The Workload of scheduling.k8s.io, in its namespace, that it was made for; empty: none."""
    task_groups: tuple[TaskGroup, ...] = ()
    """The task groups of an application of YuniKorn."""
    hard: bool = False
    """Whether YuniKorn fails the application once its placeholders time out, instead of starting what fits."""
    # The following field is known only within a snapshot:
    composites: tuple[CompositeGroup, ...] = ()
    """The composite groups that it is part of, the nearest first, as far as they are known."""

    @property
    def key(self) -> str:
        """Return the group's ``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def reference(self) -> str:
        """Return how its pods refer to it."""
        return group_reference(self.kind, self.name)

    @property
    def needed(self) -> int:
        """Return how many pods must have a node before any of them is bound."""
        return 1 if self.min_count is None else self.min_count


class GroupEvidence(StrEnum):
    """What shows whether kube-scheduler schedules the pods of a PodGroup together."""

    NOTHING = ""
    API = "api"
    """The API server does not serve PodGroups."""
    METRICS = "metrics"
    """The scheduler's metrics list its feature gates."""
    FLAGS = "flags"
    """The command line of the scheduler's pod sets its feature gates, or leaves the default."""
    TRACES = "traces"
    """The scheduler has reported on a PodGroup, or has preempted pods for one."""
    SETTING = "setting"
    """An administrator says so, because the cluster does not show it."""


class GroupScheduling(msgspec.Struct, frozen=True, kw_only=True):
    """Whether kube-scheduler schedules and preempts PodGroups as a whole: its feature gate GenericWorkload."""

    on: bool | None = None
    """None if it is unknown."""
    evidence: GroupEvidence = GroupEvidence.NOTHING
