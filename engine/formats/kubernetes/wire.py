"""The Kubernetes objects in their wire form, reduced to the fields that the engine reads.

msgspec skips all other fields without building them. Every field may be missing or null, because documents written by
people and objects stripped by tools leave out what the API server would fill in.
"""

from datetime import datetime
from typing import Any

import msgspec

Quantities = dict[str, str | int | float]


class Wire(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """Base of all wire structs: camelCase on the wire, unknown fields ignored."""


class OwnerReference(Wire, frozen=True):
    kind: str | None = None
    name: str | None = None
    uid: str | None = None
    controller: bool | None = None


class ObjectMeta(Wire, frozen=True):
    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None


class SelectorExpression(Wire, frozen=True):
    key: str
    operator: str
    values: tuple[str, ...] | None = None


class Condition(Wire, frozen=True):
    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    last_transition_time: datetime | None = None


class ResourceRequirements(Wire, frozen=True):
    requests: Quantities | None = None
    limits: Quantities | None = None


class ContainerPort(Wire, frozen=True):
    container_port: int | None = None
    host_port: int | None = None
    protocol: str | None = None
    host_ip: str | None = msgspec.field(default=None, name="hostIP")


class Container(Wire, frozen=True):
    name: str | None = None
    resources: ResourceRequirements | None = None
    ports: tuple[ContainerPort, ...] | None = None
    restart_policy: str | None = None

    @property
    def sidecar(self) -> bool:
        """Return whether this init container is a sidecar, which keeps running alongside the other containers."""
        return self.restart_policy == "Always"


class SelectorTerm(Wire, frozen=True):
    match_expressions: tuple[SelectorExpression, ...] | None = None
    match_fields: tuple[SelectorExpression, ...] | None = None


class NodeSelector(Wire, frozen=True):
    node_selector_terms: tuple[SelectorTerm, ...] | None = None


class PreferredNodeTerm(Wire, frozen=True):
    weight: int = 0
    preference: SelectorTerm = SelectorTerm()


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class NodeAffinity(Wire, frozen=True):
    required: NodeSelector | None = msgspec.field(default=None, name=_REQUIRED)
    preferred: tuple[PreferredNodeTerm, ...] | None = msgspec.field(default=None, name=_PREFERRED)


class Presence(Wire, frozen=True):
    """An object of which only the presence matters."""


class LabelSelector(Wire, frozen=True):
    match_labels: dict[str, str] | None = None
    match_expressions: tuple[SelectorExpression, ...] | None = None


class PodAffinityTerm(Wire, frozen=True):
    topology_key: str | None = None
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] | None = None
    namespace_selector: LabelSelector | None = None


class PodAffinity(Wire, frozen=True):
    required: tuple[PodAffinityTerm, ...] | None = msgspec.field(default=None, name=_REQUIRED)


class Affinity(Wire, frozen=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TolerationObject(Wire, frozen=True):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None


class TopologySpread(Wire, frozen=True):
    topology_key: str | None = None
    max_skew: int | None = None
    when_unsatisfiable: str | None = None
    label_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None


class ClaimSource(Wire, frozen=True):
    claim_name: str | None = None


class PodVolume(Wire, frozen=True):
    name: str | None = None
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: Presence | None = None
    gce_persistent_disk: Presence | None = None
    aws_elastic_block_store: Presence | None = None
    iscsi: Presence | None = None
    rbd: Presence | None = None


class GroupReference(Wire, frozen=True):
    pod_group_name: str | None = None


class PodSpec(Wire, frozen=True):
    node_name: str | None = None
    containers: tuple[Container, ...] | None = None
    init_containers: tuple[Container, ...] | None = None
    overhead: Quantities | None = None
    resources: ResourceRequirements | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    preemption_policy: str | None = None
    scheduler_name: str | None = None
    scheduling_gates: tuple[Presence, ...] | None = None
    termination_grace_period_seconds: int | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[TolerationObject, ...] | None = None
    topology_spread_constraints: tuple[TopologySpread, ...] | None = None
    volumes: tuple[PodVolume, ...] | None = None
    resource_claims: tuple[Presence, ...] | None = None
    host_network: bool | None = None
    scheduling_group: GroupReference | None = None


class ContainerStatus(Wire, frozen=True):
    """The resources that a container holds, which differ from its requests while it is being resized in place."""

    name: str | None = None
    resources: ResourceRequirements | None = None
    allocated_resources: Quantities | None = None


class PodStatus(Wire, frozen=True):
    phase: str | None = None
    start_time: datetime | None = None
    conditions: tuple[Condition, ...] | None = None
    nominated_node_name: str | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None
    resources: ResourceRequirements | None = None
    allocated_resources: Quantities | None = None


class PodObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec | None = None
    status: PodStatus | None = None


class TaintObject(Wire, frozen=True):
    key: str
    value: str | None = None
    effect: str | None = None


class NodeSpec(Wire, frozen=True):
    unschedulable: bool | None = None
    taints: tuple[TaintObject, ...] | None = None


class NodeStatus(Wire, frozen=True):
    allocatable: Quantities | None = None
    capacity: Quantities | None = None
    conditions: tuple[Condition, ...] | None = None


class NodeObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec | None = None
    status: NodeStatus | None = None


class VersionedMeta(ObjectMeta, frozen=True):
    resource_version: str | None = None


class PriorityClassObject(Wire, frozen=True):
    metadata: VersionedMeta = VersionedMeta()
    value: int | None = None
    preemption_policy: str | None = None
    global_default: bool | None = None
    description: str | None = None


class BudgetSpec(Wire, frozen=True):
    selector: LabelSelector | None = None


class BudgetStatus(Wire, frozen=True):
    disruptions_allowed: int | None = None
    disrupted_pods: dict[str, object] | None = None


class BudgetObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: BudgetSpec | None = None
    status: BudgetStatus | None = None


class ClaimSpec(Wire, frozen=True):
    volume_name: str | None = None
    access_modes: tuple[str, ...] | None = None


class ClaimObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ClaimSpec | None = None


class VolumeReach(Wire, frozen=True):
    required: NodeSelector | None = None


class VolumeSpec(Wire, frozen=True):
    node_affinity: VolumeReach | None = None


class VolumeObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeSpec | None = None


class NamespaceObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()


class ObjectReference(Wire, frozen=True):
    kind: str | None = None
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None


class EventObject(Wire, frozen=True):
    """An Event of core/v1; Events written through events.k8s.io have ``eventTime`` and no older time fields."""

    metadata: ObjectMeta = ObjectMeta()
    involved_object: ObjectReference = ObjectReference()
    related: ObjectReference | None = None
    message: str | None = None
    event_time: datetime | None = None
    first_timestamp: datetime | None = None


class ScopeExpression(Wire, frozen=True):
    scope_name: str | None = None
    operator: str | None = None
    values: tuple[str, ...] | None = None


class ScopeSelector(Wire, frozen=True):
    match_expressions: tuple[ScopeExpression, ...] | None = None


class QuotaSpec(Wire, frozen=True):
    hard: Quantities | None = None
    scopes: tuple[str, ...] | None = None
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(Wire, frozen=True):
    used: Quantities | None = None


class QuotaObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: QuotaSpec | None = None
    status: ResourceQuotaStatus | None = None


class FieldsOfManager(Wire, frozen=True):
    """An entry of metadata.managedFields: the fields that a manager wrote, and when."""

    manager: str | None = None
    operation: str | None = None
    time: datetime | None = None
    fields_v1: dict[str, Any] | None = None


class WrittenMeta(Wire, frozen=True):
    """The metadata that identifies a version of an object, and its writers."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    managed_fields: tuple[FieldsOfManager, ...] | None = None


class ConfigMapObject(Wire, frozen=True):
    metadata: WrittenMeta = WrittenMeta()
    data: dict[str, str] | None = None


class ListMeta(Wire, frozen=True):
    resource_version: str | None = None
    continue_: str | None = msgspec.field(default=None, name="continue")


class ListPage(Wire, frozen=True):
    """A page of a list; its items stay undecoded, so that an invalid object does not spoil the page."""

    metadata: ListMeta = ListMeta()
    items: list[msgspec.Raw] | None = None


class WatchEvent(Wire, frozen=True):
    """A line of a watch: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, with its object undecoded."""

    type: str
    object: msgspec.Raw = msgspec.Raw(b"null")


class Identity(Wire, frozen=True):
    """The part of an object's metadata that identifies the object and its version."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None


class NamedObject(Wire, frozen=True):
    """Any object, reduced to its identity: readable even if the rest is not, and all that a BOOKMARK carries."""

    metadata: Identity = Identity()


class BookmarkMeta(Wire, frozen=True):
    resource_version: str | None = None
    annotations: dict[str, str] | None = None


class Bookmark(Wire, frozen=True):
    """The object of a BOOKMARK event of a watch."""

    metadata: BookmarkMeta = BookmarkMeta()
