"""What a cluster consists of, as far as policies read it.

Times are integer milliseconds since 1970 (UTC). Requests and allocatable are Amounts; both count ``pods``.
"""

from enum import StrEnum

import msgspec

from engine.model.objects.constraints import (
    AffinityTerm,
    HostPort,
    NodeSelectorTerm,
    Requirement,
    SpreadConstraint,
    Taint,
    Toleration,
)
from engine.model.quantities import Amounts

PREEMPTION_BY_SCHEDULER = "PreemptionByScheduler"
"""What the condition DisruptionTarget of a pod gives as its reason where kube-scheduler preempted it."""
EVICTION_BY_VOLCANO = "Evict"
"""What the condition Ready of a pod gives as its reason where Volcano evicted it, until its kubelet writes over it."""
YUNIKORN_SCHEDULER = "yunikorn"
KUEUE = "kueue"
"""What gives quota to pods, whichever scheduler binds them."""
"""The name by which pods ask for YuniKorn."""
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
    """It can't be read as it is now; this is how it was, if it ever could be."""


HIGHEST_PRIORITY = 1_000_000_000
"""A priority class that people make can't give more; what is above belongs to the cluster's own."""


class PriorityClass(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    name: str
    value: int = 0
    never_preempts: bool = False
    opted_out: bool = False
    """Annotation ``yunikorn.apache.org/allow-preemption: "false"``."""
    may_preempt: bool = False
    """Annotation ``scheduler-admin.io/may-preempt: "true"``: Never holds for kube-scheduler, not for us."""
    # What follows is for people, who may change it:
    global_default: bool = False
    """New pods that name no class get this one."""
    description: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    uid: str = ""
    version: str = ""
    """Its resourceVersion: which state of it this is."""
    unread: bool = False
    """It can't be read as it is now; this is how it was, if it ever could be."""


class ClassRule(msgspec.Struct, frozen=True):
    """Of which priority classes a pod has to be; ``operator`` is In, NotIn, Exists or DoesNotExist."""

    operator: str
    classes: tuple[str, ...] = ()


class ClassQuota(msgspec.Struct, frozen=True, kw_only=True):
    """A ResourceQuota: what it allows the pods of its namespace to request, or some of them by their priority class."""

    namespace: str
    name: str
    rules: tuple[ClassRule, ...] = ()
    """All must hold for a pod that counts; none where it does not go by priority class."""
    scopes: tuple[str, ...] = ()
    """Within which it has to lie besides."""
    hard: dict[str, str] = {}
    used: dict[str, str] = {}
    """Both as the API server writes them; ``used`` is empty until the quota was counted."""
    requests: Amounts = {}
    """The most that all pods of the namespace may request; nothing where it is for some of them."""


class Shield(StrEnum):
    """Why a pod is never a victim of our acting, whatever the policy says."""

    NONE = ""
    MIRROR = "mirror"
    DAEMONSET = "daemonset"
    SYSTEM_PRIORITY = "system-priority"
    NAMESPACE = "namespace"
    NO_QUEUE = "no-queue"
    NO_CONTROLLER = "no-controller"
    JUST_STARTED = "just-started"
    UNREAD = "unread"
    """It can't be read, with or without a protection."""


class Pod(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    uid: str
    namespace: str
    name: str
    created_ms: int = 0
    started_ms: int | None = None
    checkpoint_ms: int | None = None
    """When it last wrote a checkpoint, as its annotation ``scheduler-admin.io/last-checkpoint`` tells."""
    odd_checkpoint: str = ""
    """How that annotation begins where it is no time."""
    requests: Amounts = {}
    labels: dict[str, str] = {}
    node: str | None = None
    """The node it is bound to."""
    finished: bool = False
    """Succeeded or failed: holds nothing any more."""
    terminating: bool = False
    """Has a deletionTimestamp: on its way out."""
    deleted_ms: int | None = None
    """Since when it is on its way out; of one whose end was not seen, when it was missed."""
    grace_s: int = 30
    priority: int = 0
    priority_class: str = ""
    never_preempts: bool = False
    """preemptionPolicy Never; a PriorityClass with may_preempt lifts it for us."""
    opted_out: bool = False
    """Its PriorityClass opted out of being preempted."""
    own_opt_out: bool | None = None
    """Whether it opted out by annotation ``yunikorn.apache.org/allow-preemption`` of its own; None: it has none."""
    controller: str = ""
    """``Kind/name`` of the controlling owner."""
    mirror: bool = False
    unschedulable_ms: int | None = None
    """Since when PodScheduled is False with reason Unschedulable."""
    unschedulable_message: str = ""
    """What the scheduler itself says of that, in its own words."""
    disruption: str = ""
    """The reason of its condition DisruptionTarget, or of Ready with Volcano: who makes it go. Empty: nobody does."""
    disrupted_ms: int | None = None
    """Since when it has that condition."""
    disruption_message: str = ""
    """What the condition says of it, in the words of who set it; of Volcano's the word for why."""
    gated: bool = False
    nominated_node: str = ""
    scheduler: str = "default-scheduler"
    node_selector: dict[str, str] = {}
    node_affinity: tuple[NodeSelectorTerm, ...] = ()
    """Required terms, of which one must match; empty: no such rule."""
    tolerations: tuple[Toleration, ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    affinity: tuple[AffinityTerm, ...] = ()
    """Required: there must be a pod that matches all of them in each one's topology."""
    anti_affinity: tuple[AffinityTerm, ...] = ()
    """Required: no pod that matches one of them may be in its topology."""
    spread: tuple[SpreadConstraint, ...] = ()
    """With whenUnsatisfiable DoNotSchedule."""
    claims: tuple[str, ...] = ()
    """The PersistentVolumeClaims of its namespace that it names, one for each volume."""
    own_claims: tuple[str, ...] = ()
    """Those that are made for it alone: generic ephemeral volumes."""
    unread_rules: tuple[str, ...] = ()
    """Placement rules of the pod that feasibility can't judge; such an ask is left alone rather than misjudged."""
    queue_label: str = ""
    application_label: str = ""
    workload: str = ""
    """The Workload of Kueue's, in its own namespace, that it says it is part of."""
    pod_group: str = ""
    """The PodGroup of Volcano's, in its own namespace, that it says it is part of."""
    kept_by_volcano: bool = False
    """It says by ``volcano.sh/preemptable: "false"`` that Volcano may not take it."""
    user: str = ""
    """Who submitted it, as it says itself; rules of placement go by it."""
    groups: tuple[str, ...] = ()
    """Of the user."""
    unread: bool = False
    """It can't be read as it is now: this is how it was, if it ever could be, on the node where it is now."""
    # What follows is known only within a snapshot:
    queue: str | None = None
    application: str = ""
    originator: bool = False
    shield: Shield = Shield.NONE
    scheduler_preempts: bool = True
    """Whether the cluster's own scheduler would preempt for it; once it is bound, for the pod that comes after it."""

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def waiting_ms(self) -> int | None:
        """Since when a scheduler has left it without a node; None while that has yet to be seen, and once it has one.

        YuniKorn says nothing of a pod that the max of a queue holds back, so its pods wait from their creation on.
        """
        if self.unschedulable_ms is not None or self.node is not None or self.scheduler != YUNIKORN_SCHEDULER:
            return self.unschedulable_ms
        return self.created_ms

    @property
    def turn(self) -> tuple[int, int, str]:
        """In which order passes consider asks: higher priority first, then the longest wait."""
        return -self.priority, self.unschedulable_ms or self.created_ms, self.key

    @property
    def daemonset(self) -> bool:
        """Whether a DaemonSet made it."""
        return self.controller.startswith("DaemonSet/")

    @property
    def required_node(self) -> str | None:
        """The one node that a DaemonSet's pod is for (matchFields metadata.name), None for other pods."""
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
    """All must match the pod's labels; none at all matches every pod of the namespace."""
    allowed: int = 0
    disrupted: tuple[str, ...] = ()
    """Names of pods whose eviction was let through a moment ago: they are in ``allowed`` already."""


class Namespace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    name: str
    labels: dict[str, str] = {}
    parent_queue: str = ""
    """Annotation ``yunikorn.apache.org/parentqueue``: rules of placement may go by it."""


class Claim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A PersistentVolumeClaim."""

    namespace: str
    name: str
    volume: str = ""
    """The PersistentVolume that it is bound to; empty: none yet."""
    exclusive: bool = False
    """Access mode ReadWriteOncePod."""
    owner: str = ""
    """Uid of its controlling owner: of a generic ephemeral volume that is the pod."""
    waiting: bool = False
    """No volume was chosen yet; perhaps that waits for the pod's node, and where that may be is not judged here."""


class Volume(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A PersistentVolume, as far as it says which nodes can reach it."""

    name: str
    node_affinity: tuple[NodeSelectorTerm, ...] = ()
    """Of which one must match; empty: every node."""
    zones: tuple[Requirement, ...] = ()
    """The zone and region that its labels name, for nodes that are in any."""


class Preempted(msgspec.Struct, frozen=True, kw_only=True):
    """What a scheduler tells, by an Event or else, of a pod that it preempted and of the one that it went for."""

    uid: str
    namespace: str
    name: str
    at_ms: int
    node: str = ""
    by_scheduler: bool = True
    """Whether a kube-scheduler, or one made of its parts, wrote it; else it tells us nothing."""
    ask_uid: str = ""
    """Empty where the Event does not say for whom, as before Kubernetes 1.27 without ``related``."""
    ask_namespace: str = ""
    ask_name: str = ""
    ask_kind: str = "Pod"
    """``PodGroup`` where a scheduler preempts for several pods at once."""
    ask_application: str = ""
    ask_queue: str = ""
    """Its path, where the scheduler has queues and says it; see ``over_max``."""
    over_max: str = ""
    """The queue that was to get below its max; then nobody asked."""
    why: str = ""
    """In a word of the scheduler's own: Kueue's reason, Volcano's action."""
    place: str = ""
    """With Kueue: the path of the ClusterQueue that it ran in, as Kueue writes it: ``/cohort/cluster-queue``."""
    ask_place: str = ""
    """The same of the one that it went for."""
