"""Groups of pods that kube-scheduler schedules, and preempts, together: the PodGroup of scheduling.k8s.io.

Volcano has objects of the same kind in an API of its own (engine.model.objects.volcano).
"""

from enum import StrEnum

import msgspec


class DisruptionMode(StrEnum):
    """Which pods of a group are evicted together."""

    SINGLE = "single"
    """Each pod may be evicted alone."""
    ALL = "all"
    """All bound pods of the group are evicted, or none."""


class SchedulingGroup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A PodGroup of scheduling.k8s.io. Pods name it in ``spec.schedulingGroup``."""

    namespace: str
    name: str
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

    @property
    def key(self) -> str:
        """Return the group's ``namespace/name``."""
        return f"{self.namespace}/{self.name}"

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
