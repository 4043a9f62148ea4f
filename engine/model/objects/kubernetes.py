"""Kubernetes objects of a cluster, with the fields that policies read.

Times are integer milliseconds since 1970 (UTC). Requests and allocatable are Amounts; both count ``pods``.
"""

from enum import StrEnum

import msgspec

from engine.model.objects.constraints import (
    AffinityTerm,
    HostPort,
    NodeSelectorTerm,
    PreferredTerm,
    Requirement,
    SpreadConstraint,
    Taint,
    Toleration,
)
from engine.model.objects.pod_groups import TaskGroup
from engine.model.quantities import Amounts

PREEMPTION_BY_SCHEDULER = "PreemptionByScheduler"
"""The reason of a pod's condition DisruptionTarget if kube-scheduler preempted the pod."""
EVICTION_BY_VOLCANO = "Evict"
"""The reason of a pod's condition Ready if Volcano evicted the pod, until its kubelet overwrites the condition."""
DEFAULT_SCHEDULER = "default-scheduler"
"""The scheduler name of pods that request none."""
YUNIKORN_SCHEDULER = "yunikorn"
"""The scheduler name by which pods request YuniKorn."""
KUEUE = "kueue"
"""The system that grants quota to pods, whichever scheduler binds them."""
SYSTEM_PRIORITY = 2_000_000_000
"""Priorities from here on belong to system-cluster-critical and system-node-critical."""


class Node(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    name: str
    uid: str = ""
    allocatable: Amounts = {}
    labels: dict[str, str] = {}
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    ready: bool = True
    unread: bool = False
    """Whether the node can't be read as it is now. The other fields then hold its last readable state, if any."""


HIGHEST_PRIORITY = 1_000_000_000
"""The highest value that a user-defined priority class can have; higher values belong to the cluster's own classes."""


class PriorityClass(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    name: str
    value: int = 0
    never_preempts: bool = False
    opted_out: bool = False
    """Whether the class has the annotation ``yunikorn.apache.org/allow-preemption: "false"``."""
    may_preempt: bool = False
    """Whether the class has the annotation ``scheduler-admin.io/may-preempt: "true"``, so that its preemptionPolicy
    Never binds kube-scheduler but not this engine."""
    # The following fields are for people, who may change them:
    global_default: bool = False
    """Whether new pods that name no priority class get this class."""
    description: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    uid: str = ""
    version: str = ""
    """Its resourceVersion, which identifies the state of the object."""
    unread: bool = False
    """Whether the class can't be read as it is now. The other fields then hold its last readable state, if any."""


class ClassRule(msgspec.Struct, frozen=True):
    """A rule on the priority class of a pod. ``operator`` is In, NotIn, Exists or DoesNotExist."""

    operator: str
    classes: tuple[str, ...] = ()


class ClassQuota(msgspec.Struct, frozen=True, kw_only=True):
    """A ResourceQuota: what the pods of its namespace, or those of some priority classes, may request."""

    namespace: str
    name: str
    rules: tuple[ClassRule, ...] = ()
    """Rules that must all hold for a pod to count; empty if the quota does not depend on the priority class."""
    scopes: tuple[str, ...] = ()
    """Further scopes that a pod must be in to count."""
    hard: dict[str, str] = {}
    used: dict[str, str] = {}
    """What is in use; empty until it was counted. Both ``hard`` and ``used`` are in the API server's notation."""
    requests: Amounts = {}
    """The most that all pods of the namespace may request; empty if the quota is for some of them only."""


class Shield(StrEnum):
    """Why a pod is never a victim of this engine, whatever the policy says."""

    NONE = ""
    MIRROR = "mirror"
    DAEMONSET = "daemonset"
    SYSTEM_PRIORITY = "system-priority"
    NAMESPACE = "namespace"
    NO_QUEUE = "no-queue"
    NO_CONTROLLER = "no-controller"
    JUST_STARTED = "just-started"
    UNREAD = "unread"
    """The pod can't be read, which shields it with or without a protection."""


class Pod(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    uid: str
    namespace: str
    name: str
    created_ms: int = 0
    started_ms: int | None = None
    checkpoint_ms: int | None = None
    """When the pod last wrote a checkpoint, according to its annotation ``scheduler-admin.io/last-checkpoint``."""
    odd_checkpoint: str = ""
    """The beginning of that annotation if it is not a time."""
    requests: Amounts = {}
    scored_requests: Amounts = {}
    """Requests of cpu and memory as kube-scheduler counts them where it compares nodes: a container without a request
    counts as a small one. Empty: the same as ``requests``."""
    labels: dict[str, str] = {}
    node: str | None = None
    """The node that the pod is bound to."""
    finished: bool = False
    """Whether the pod succeeded or failed, so that it holds nothing any more."""
    terminating: bool = False
    """Whether the pod is terminating: it has a deletionTimestamp."""
    deleted_ms: int | None = None
    """Since when the pod is terminating; if its end was not seen, when it was found missing."""
    grace_s: int = 30
    priority: int = 0
    priority_class: str = ""
    never_preempts: bool = False
    """Whether its preemptionPolicy is Never. A PriorityClass with ``may_preempt`` lifts that for this engine."""
    opted_out: bool = False
    """Whether its PriorityClass opted out of being preempted."""
    own_opt_out: bool | None = None
    """Whether the pod's own annotation ``yunikorn.apache.org/allow-preemption`` opts out; None: not annotated."""
    controller: str = ""
    """``Kind/name`` of the controlling owner."""
    mirror: bool = False
    unschedulable_ms: int | None = None
    """Since when PodScheduled is False with reason Unschedulable."""
    unschedulable_message: str = ""
    """The scheduler's own message about why the pod is unschedulable."""
    disruption: str = ""
    """The reason of its condition DisruptionTarget (with Volcano: Ready), which identifies the evictor. Empty: none."""
    disrupted_ms: int | None = None
    """Since when the pod has that condition."""
    disruption_message: str = ""
    """The message of the condition in the evictor's own words; with Volcano, its word for the reason."""
    resize_deferred: bool = False
    """Whether a resize of the running pod waits for room on its node: PodResizePending with reason Deferred."""
    gated: bool = False
    nominated_node: str = ""
    scheduler: str = DEFAULT_SCHEDULER
    node_selector: dict[str, str] = {}
    node_affinity: tuple[NodeSelectorTerm, ...] = ()
    """Required terms, one of which must match; empty: no such rule."""
    preferred_affinity: tuple[PreferredTerm, ...] = ()
    """Preferred node affinity, which only says which node is better."""
    tolerations: tuple[Toleration, ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    affinity: tuple[AffinityTerm, ...] = ()
    """Required terms: the topology of each must contain a pod that matches all of them."""
    anti_affinity: tuple[AffinityTerm, ...] = ()
    """Required terms: no pod that matches one of them may be in its topology."""
    spread: tuple[SpreadConstraint, ...] = ()
    """Topology spread constraints with whenUnsatisfiable DoNotSchedule."""
    claims: tuple[str, ...] = ()
    """The PersistentVolumeClaims of its namespace that it names, one for each volume."""
    own_claims: tuple[str, ...] = ()
    """The claims that are made for this pod alone, by generic ephemeral volumes."""
    unread_rules: tuple[str, ...] = ()
    """Placement rules that feasibility can't evaluate; a pending pod with any is skipped rather than misjudged."""
    queue_label: str = ""
    application_label: str = ""
    workload: str = ""
    """The Kueue Workload, in its namespace, that the pod says it is part of."""
    scheduling_group: str = ""
    """The reference to the group, in its namespace, that the pod is started with; the group need not exist."""
    task_group: str = ""
    """The task group of its application, in YuniKorn's terms."""
    task_groups: tuple[TaskGroup, ...] = ()
    """All task groups of its application, if the pod is a placeholder of YuniKorn."""
    hard_gang: bool = False
    """Whether its application demands all of these or fails (``gangSchedulingStyle=Hard``)."""
    pod_group: str = ""
    """The Volcano PodGroup, in its namespace, that the pod says it is part of."""
    kept_by_volcano: bool = False
    """Whether ``volcano.sh/preemptable: "false"`` on the pod forbids Volcano to preempt it."""
    user: str = ""
    """The user who submitted the pod, as the pod itself states; placement rules use it."""
    groups: tuple[str, ...] = ()
    """The groups of that user."""
    unread: bool = False
    """Whether the pod can't be read as it is now. The other fields then hold its last readable state, if any.

    Only the node is the present one.
    """
    # The following fields are known only within a snapshot:
    queue: str | None = None
    application: str = ""
    originator: bool = False
    shield: Shield = Shield.NONE
    scheduler_preempts: bool = True
    """Whether the cluster's own scheduler would preempt for the pod; once it is bound, for the pod that replaces it."""

    @property
    def key(self) -> str:
        """Return the pod's ``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def waiting_ms(self) -> int | None:
        """Return since when the pod waits for a node; None if no scheduler has tried it yet, or if it has a node.

        YuniKorn reports nothing about a pod that the max of a queue holds back, so its pods wait from their creation
        on.
        """
        if self.unschedulable_ms is not None or self.node is not None or self.scheduler != YUNIKORN_SCHEDULER:
            return self.unschedulable_ms
        return self.created_ms

    @property
    def turn(self) -> tuple[int, int, str]:
        """Return the sort key by which passes order pending pods: higher priority first, then the longest wait."""
        return -self.priority, self.unschedulable_ms or self.created_ms, self.key

    @property
    def daemonset(self) -> bool:
        """Return whether a DaemonSet created the pod."""
        return self.controller.startswith("DaemonSet/")

    @property
    def required_node(self) -> str | None:
        """Return the one node that a DaemonSet's pod is for (matchFields metadata.name), or None for other pods."""
        if not self.daemonset:
            return None
        names = {
            rule.values[0]
            for term in self.node_affinity
            for rule in term.fields
            if rule.key == "metadata.name" and rule.operator == "In" and len(rule.values) == 1
        }
        return names.pop() if len(names) == 1 else None


class DisruptionBudget(msgspec.Struct, frozen=True, kw_only=True):
    namespace: str
    name: str
    expressions: tuple[Requirement, ...] = ()
    """Requirements that must all match the pod's labels; none at all matches every pod of the namespace."""
    allowed: int = 0
    disrupted: tuple[str, ...] = ()
    """Names of pods whose eviction was just admitted; ``allowed`` already accounts for them."""


class Namespace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    name: str
    labels: dict[str, str] = {}
    parent_queue: str = ""
    """The annotation ``yunikorn.apache.org/parentqueue``, which placement rules may use."""


class Claim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A PersistentVolumeClaim, and the volume that it is bound to."""

    namespace: str
    name: str
    volume: str = ""
    """The PersistentVolume that the claim is bound to; empty: none yet."""
    exclusive: bool = False
    """Whether its access mode is ReadWriteOncePod."""
    owner: str = ""
    """The uid of its controlling owner, which for a generic ephemeral volume is the pod."""
    waiting: bool = False
    """Whether no volume was chosen yet, perhaps until the pod has a node; possible nodes are not judged here."""


class Volume(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A PersistentVolume, with what determines which nodes can reach it."""

    name: str
    node_affinity: tuple[NodeSelectorTerm, ...] = ()
    """Terms one of which a node must match; empty: every node can reach the volume."""
    zones: tuple[Requirement, ...] = ()
    """The zones and regions that its labels name, which apply to nodes that are in any zone or region."""


class Preempted(msgspec.Struct, frozen=True, kw_only=True):
    """What a scheduler reports, by an Event or otherwise, about a pod that it preempted and about the preemptor."""

    uid: str
    namespace: str
    name: str
    at_ms: int
    node: str = ""
    by_scheduler: bool = True
    """Whether a kube-scheduler, or a scheduler built from its parts, wrote the report; other reports are not used."""
    ask_uid: str = ""
    """The preemptor's uid. Empty if the Event does not name it, as without ``related`` before Kubernetes 1.27."""
    ask_namespace: str = ""
    ask_name: str = ""
    ask_kind: str = "Pod"
    """The preemptor's kind: ``PodGroup`` if a scheduler preempts for several pods at once."""
    ask_application: str = ""
    ask_queue: str = ""
    """The path of the preemptor's queue, if the scheduler has queues and reports it; see ``over_max``."""
    over_max: str = ""
    """The queue that was to be brought below its max, in which case there is no preemptor."""
    why: str = ""
    """The reason in a word of the scheduler's own: Kueue's reason, Volcano's action."""
    place: str = ""
    """With Kueue: the path of the victim's ClusterQueue in Kueue's notation: ``/cohort/cluster-queue``."""
    ask_place: str = ""
    """With Kueue: the path of the preemptor's ClusterQueue in the same notation."""
