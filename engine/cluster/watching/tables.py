"""The watched kinds: where each is served, how it is read, and where it is stored in the ClusterState."""

from collections.abc import Callable, Hashable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from engine.cluster.connecting.connection import Query
from engine.formats.arbitrator.consumers import VERSION as ARBITRATION
from engine.formats.arbitrator.watched import ALLOCATION_READER, CONSUMER_READER
from engine.formats.kubernetes.decode import (
    BUDGET_READER,
    CLAIM_READER,
    CLASS_QUOTA_READER,
    NAMESPACE_READER,
    NODE_READER,
    POD_READER,
    PREEMPTED_BY_VOLCANO_READER,
    PREEMPTED_BY_YUNIKORN_READER,
    PREEMPTED_READER,
    PRIORITY_CLASS_READER,
    VOLUME_READER,
)
from engine.formats.kubernetes.placeholders import (
    no_placeholder,
    unread_budget,
    unread_class,
    unread_group,
    unread_node,
    unread_pod,
)
from engine.formats.kubernetes.pod_groups import API_GROUP as SCHEDULING
from engine.formats.kubernetes.pod_groups import COMPOSITE_GROUP_READER, SCHEDULING_GROUP_READER
from engine.formats.kueue.fair_sharing_config import CONFIG as KUEUE_CONFIG
from engine.formats.kueue.fair_sharing_config import NAMESPACE as KUEUE_NAMESPACE
from engine.formats.kueue.watched import (
    CLUSTER_QUEUE_READER,
    COHORT_READER,
    FLAVOR_READER,
    LOCAL_QUEUE_READER,
    SHARING_READER,
    WORKLOAD_READER,
)
from engine.formats.volcano.pod_groups import GROUP_READER
from engine.formats.volcano.watched import CONFIG as VOLCANO_CONFIG
from engine.formats.volcano.watched import NAMESPACE as VOLCANO_NAMESPACE
from engine.formats.volcano.watched import QUEUE_READER, SETTINGS_READER
from engine.model.message import gettext_noop
from engine.model.snapshot import ClusterState


@dataclass(frozen=True)
class WatchedKind:
    """A kind that is watched."""

    kind: str
    path: str
    """The path of the list of all objects, in every namespace."""
    read: Callable[[msgspec.Raw], Any]
    """JSON -> the engine's type; None for an object that is not stored. Raises DecodeError."""
    stand_in: Callable[[msgspec.Raw, Any], Any]
    """Unreadable JSON and the last known object, or None -> its replacement; None where there is none."""
    key: Callable[[Any], Hashable]
    """The key of an object, from its Identity or from its decoded form."""
    column: Callable[[ClusterState], MutableMapping[Any, Any]]
    query: Query = field(default_factory=dict)
    """The query that selects the objects, where not all are needed."""
    without: str = ""
    """What is lost where the kind may not be read; empty: every pass needs it."""
    older: tuple[str, ...] = ()
    """The paths of other versions of it, the one that is preferred first: the server may serve those alone."""
    add_on: bool = False
    """Whether the kind belongs to a product that may not be installed."""

    @property
    def watches(self) -> int:
        """Return by which factor its watches last longer than those of pods and nodes.

        A watch that ends proves that its kind is still up to date. For pods and nodes this must be known soon. The
        other kinds use the same connection to the same API server, which is spared the requests.
        """
        return 1 if self in TABLES else 3 if self in PLACING else 6


def _by_name(obj: Any) -> Hashable:
    name: Hashable = obj.name
    return name


def _by_uid(obj: Any) -> Hashable:
    return obj.uid or f"{obj.namespace or 'default'}/{obj.name}"


def _by_namespace_and_name(obj: Any) -> Hashable:
    return obj.namespace or "default", obj.name


def _as_known(_data: msgspec.Raw, known: Any) -> Any:
    return known


TABLES = (
    WatchedKind("Node", "/api/v1/nodes", NODE_READER.from_bytes, unread_node, _by_name, lambda state: state.nodes),
    WatchedKind("Pod", "/api/v1/pods", POD_READER.from_bytes, unread_pod, _by_uid, lambda state: state.pods),
    WatchedKind(
        "PriorityClass",
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        PRIORITY_CLASS_READER.from_bytes,
        unread_class,
        _by_name,
        lambda state: state.classes,
    ),
    WatchedKind(
        "PodDisruptionBudget",
        "/apis/policy/v1/poddisruptionbudgets",
        BUDGET_READER.from_bytes,
        unread_budget,
        _by_namespace_and_name,
        lambda state: state.budgets,
    ),
)
"""The kinds that every pass needs."""

NAMESPACES = WatchedKind(
    "Namespace",
    "/api/v1/namespaces",
    NAMESPACE_READER.from_bytes,
    no_placeholder,
    _by_name,
    lambda state: state.namespaces,
    without=gettext_noop("pending pods whose affinity rules select namespaces by label are skipped"),
)
CLAIMS = WatchedKind(
    "PersistentVolumeClaim",
    "/api/v1/persistentvolumeclaims",
    CLAIM_READER.from_bytes,
    no_placeholder,
    _by_namespace_and_name,
    lambda state: state.claims,
    without=gettext_noop("pending pods with PersistentVolumeClaims are skipped"),
)
VOLUMES = WatchedKind(
    "PersistentVolume",
    "/api/v1/persistentvolumes",
    VOLUME_READER.from_bytes,
    no_placeholder,
    _by_name,
    lambda state: state.volumes,
    without=gettext_noop("pending pods with PersistentVolumeClaims are skipped"),
)
SCHEDULING_GROUPS = WatchedKind(
    SCHEDULING_GROUP_READER.kind,
    f"/apis/{SCHEDULING}/v1beta1/podgroups",
    SCHEDULING_GROUP_READER.from_bytes,
    unread_group,
    _by_namespace_and_name,
    lambda state: state.scheduling_groups,
    without=gettext_noop("pending pods of PodGroups are skipped, and running ones count as single pods"),
    older=(f"/apis/{SCHEDULING}/v1alpha3/podgroups", f"/apis/{SCHEDULING}/v1alpha2/podgroups"),
    add_on=True,
)
"""The groups that kube-scheduler schedules and preempts together. It reads them alone, not the Workloads behind them.

API servers serve them only if an administrator turns that on.
"""
_VOLCANO = "/apis/scheduling.volcano.sh/v1beta1"
POD_GROUPS = WatchedKind(
    "PodGroup",
    f"{_VOLCANO}/podgroups",
    GROUP_READER.from_bytes,
    _as_known,
    _by_namespace_and_name,
    lambda state: state.pod_groups,
    without=gettext_noop(
        "Volcano’s reclaims are not replayed, and pending pods of its PodGroups are decided one by one"
    ),
    add_on=True,
)
"""The groups that Volcano starts together."""
PLACING = (NAMESPACES, CLAIMS, VOLUMES, SCHEDULING_GROUPS, POD_GROUPS)
"""The kinds that the placement rules of some pods refer to, and the groups that pods are placed with.

Passes continue where these may not be read: then the content is unknown, which never counts as empty.
"""

PREEMPTED = WatchedKind(
    "Event",
    "/api/v1/events",
    PREEMPTED_READER.from_bytes,
    _as_known,
    _by_uid,
    lambda state: state.preempted,
    {"fieldSelector": "reason=Preempted,involvedObject.kind=Pod"},
    without=gettext_noop("the preemptor is unknown when other schedulers preempt pods, unless the victim names it"),
)
"""Events of preemptions with their preemptors.

Passes continue without them: victims are then recognized by their condition alone.
"""

YUNIKORN = WatchedKind(
    "Event",
    "/api/v1/events",
    PREEMPTED_BY_YUNIKORN_READER.from_bytes,
    _as_known,
    _by_uid,
    lambda state: state.yunikorn,
    {"fieldSelector": "reason=Informational,involvedObject.kind=Pod"},
    without=PREEMPTED.without,
)
"""YuniKorn's events of preemptions, whose victims have no condition."""

VOLCANO = WatchedKind(
    "Event",
    "/api/v1/events",
    PREEMPTED_BY_VOLCANO_READER.from_bytes,
    _as_known,
    _by_uid,
    lambda state: state.volcano,
    {"fieldSelector": "reason=Evict,involvedObject.kind=Pod"},
    without=PREEMPTED.without,
)
"""Volcano's events of preemptions."""

_KUEUE, _OLDER_KUEUE = "/apis/kueue.x-k8s.io/v1beta2", "/apis/kueue.x-k8s.io/v1beta1"
_QUOTA_UNKNOWN = gettext_noop("Kueue’s quota is not shown, and its preemptions are not replayed")

WORKLOADS = WatchedKind(
    "Workload",
    f"{_KUEUE}/workloads",
    WORKLOAD_READER.from_bytes,
    _as_known,
    _by_uid,
    lambda state: state.workloads,
    without=gettext_noop("Kueue’s preemptions are unknown"),
    older=(f"{_OLDER_KUEUE}/workloads",),
    add_on=True,
)
"""Workloads that hold Kueue's quota or wait for it, with the preemptions among them."""
FLAVORS = WatchedKind(
    "ResourceFlavor",
    f"{_KUEUE}/resourceflavors",
    FLAVOR_READER.from_bytes,
    _as_known,
    _by_name,
    lambda state: state.flavors,
    without=_QUOTA_UNKNOWN,
    older=(f"{_OLDER_KUEUE}/resourceflavors",),
    add_on=True,
)
CLUSTER_QUEUES = WatchedKind(
    "ClusterQueue",
    f"{_KUEUE}/clusterqueues",
    CLUSTER_QUEUE_READER.from_bytes,
    _as_known,
    _by_name,
    lambda state: state.cluster_queues,
    without=_QUOTA_UNKNOWN,
    older=(f"{_OLDER_KUEUE}/clusterqueues",),
    add_on=True,
)
COHORTS = WatchedKind(
    "Cohort",
    f"{_KUEUE}/cohorts",
    COHORT_READER.from_bytes,
    _as_known,
    _by_name,
    lambda state: state.cohorts,
    without=_QUOTA_UNKNOWN,
    older=(f"{_OLDER_KUEUE}/cohorts",),
    add_on=True,
)
LOCAL_QUEUES = WatchedKind(
    "LocalQueue",
    f"{_KUEUE}/localqueues",
    LOCAL_QUEUE_READER.from_bytes,
    _as_known,
    _by_namespace_and_name,
    lambda state: state.local_queues,
    without=_QUOTA_UNKNOWN,
    older=(f"{_OLDER_KUEUE}/localqueues",),
    add_on=True,
)
SHARING = WatchedKind(
    "ConfigMap",
    f"/api/v1/namespaces/{KUEUE_NAMESPACE}/configmaps",
    SHARING_READER.from_bytes,
    _as_known,
    _by_name,
    lambda state: state.sharing,
    {"fieldSelector": f"metadata.name={KUEUE_CONFIG}"},
    without=gettext_noop("only the reasons that Kueue gives show whether it uses fair sharing"),
)
"""The configuration of Kueue's preemption."""
KUEUE = (WORKLOADS, FLAVORS, CLUSTER_QUEUES, COHORTS, LOCAL_QUEUES)
"""The kinds that Kueue decides by."""

_NOT_AGAIN = gettext_noop("Volcano’s reclaims are not replayed")

VOLCANO_QUEUES = WatchedKind(
    "Queue",
    f"{_VOLCANO}/queues",
    QUEUE_READER.from_bytes,
    _as_known,
    _by_name,
    lambda state: state.volcano_queues,
    without=_NOT_AGAIN,
    add_on=True,
)
VOLCANO_SETTINGS = WatchedKind(
    "ConfigMap",
    f"/api/v1/namespaces/{VOLCANO_NAMESPACE}/configmaps",
    SETTINGS_READER.from_bytes,
    _as_known,
    _by_name,
    lambda state: state.volcano_settings,
    {"fieldSelector": f"metadata.name={VOLCANO_CONFIG}"},
    without=_NOT_AGAIN,
)
"""The configuration of Volcano's scheduler."""
VOLCANOS = (VOLCANO_QUEUES, POD_GROUPS)
"""The kinds that Volcano decides by."""

_NOT_TOLD = gettext_noop("namespaces get no Consumers, and their deserved shares are not published as Allocations")

CONSUMERS = WatchedKind(
    "Consumer",
    f"/apis/{ARBITRATION}/consumers",
    CONSUMER_READER.from_bytes,
    _as_known,
    _by_namespace_and_name,
    lambda state: state.consumers,
    without=_NOT_TOLD,
    add_on=True,
)
ALLOCATIONS = WatchedKind(
    "Allocation",
    f"/apis/{ARBITRATION}/allocations",
    ALLOCATION_READER.from_bytes,
    _as_known,
    _by_namespace_and_name,
    lambda state: state.allocations,
    without=_NOT_TOLD,
    add_on=True,
)
ARBITRATED = (CONSUMERS, ALLOCATIONS)
"""The kinds that kube-arbitrator's proposal keeps in the cluster."""

COMPOSITE_GROUPS = WatchedKind(
    COMPOSITE_GROUP_READER.kind,
    f"/apis/{SCHEDULING}/v1alpha3/compositepodgroups",
    COMPOSITE_GROUP_READER.from_bytes,
    _as_known,
    _by_namespace_and_name,
    lambda state: state.composite_groups,
    without=gettext_noop("the composite groups that PodGroups are part of are not shown"),
    add_on=True,
)
"""The groups of groups, which are only displayed. Decisions are not made for groups that are part of one."""

QUOTAS = WatchedKind(
    "ResourceQuota",
    "/api/v1/resourcequotas",
    CLASS_QUOTA_READER.from_bytes,
    _as_known,
    _by_namespace_and_name,
    lambda state: state.quotas,
    without=gettext_noop("quotas by priority class are not shown"),
)
"""Quotas that limit the use of priority classes: only displayed. No pass reads them."""

PREEMPTION_EVENTS = (PREEMPTED, YUNIKORN, VOLCANO)
"""The events that report preemptions."""
OPTIONAL_KINDS = (
    *PREEMPTION_EVENTS,
    COMPOSITE_GROUPS,
    *KUEUE,
    SHARING,
    VOLCANO_QUEUES,
    VOLCANO_SETTINGS,
    *ARBITRATED,
    QUOTAS,
)
"""The kinds that no pass depends on."""
EVERY = (*TABLES, *PLACING, *OPTIONAL_KINDS)
