"""Kueue's objects in their wire form, reduced to the fields that affect quota, for both v1beta1 and v1beta2.

Source: Kueue's API, v1beta1 and v1beta2.
"""

from datetime import datetime
from typing import TypeVar

import msgspec

from engine.formats.kubernetes.wire import (
    Condition,
    LabelSelector,
    ObjectMeta,
    PodSpec,
    Quantities,
    TaintObject,
    TolerationObject,
    Wire,
)


class ResourceQuota(Wire, frozen=True):
    name: str
    nominal_quota: str | int | float = 0
    borrowing_limit: str | int | float | None = None
    lending_limit: str | int | float | None = None


class FlavorQuotas(Wire, frozen=True):
    name: str
    resources: tuple[ResourceQuota, ...] | None = None


class ResourceGroupObject(Wire, frozen=True):
    covered_resources: tuple[str, ...] | None = None
    flavors: tuple[FlavorQuotas, ...] | None = None


class FairSharing(Wire, frozen=True):
    weight: str | int | float | None = None


class Borrowing(Wire, frozen=True):
    policy: str | None = None
    max_priority_threshold: int | None = None


class PreemptionFields(Wire, frozen=True):
    within_cluster_queue: str | None = None
    reclaim_within_cohort: str | None = None
    borrow_within_cohort: Borrowing | None = None


class FungibilityFields(Wire, frozen=True):
    when_can_borrow: str | None = None
    when_can_preempt: str | None = None
    preference: str | None = None


class QuotaFields(Wire, frozen=True):
    """The spec of a ClusterQueue or Cohort; the field that names the parent cohort depends on kind and version."""

    cohort: str | None = None
    cohort_name: str | None = None
    parent: str | None = None
    parent_name: str | None = None
    resource_groups: tuple[ResourceGroupObject, ...] | None = None
    fair_sharing: FairSharing | None = None
    preemption: PreemptionFields | None = None
    flavor_fungibility: FungibilityFields | None = None
    stop_policy: str | None = None
    namespace_selector: LabelSelector | None = None

    @property
    def above(self) -> str:
        """Return the name of the parent cohort; empty if there is none."""
        return self.cohort_name or self.cohort or self.parent_name or self.parent or ""


class FlavorUsageObject(Wire, frozen=True):
    conditions: tuple[Condition, ...] | None = None


class QuotaOwner(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: QuotaFields = QuotaFields()
    status: FlavorUsageObject = FlavorUsageObject()


class FlavorFields(Wire, frozen=True):
    node_labels: dict[str, str] | None = None
    node_taints: tuple[TaintObject, ...] | None = None
    tolerations: tuple[TolerationObject, ...] | None = None


class FlavorObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: FlavorFields = FlavorFields()


class LocalQueueFields(Wire, frozen=True):
    cluster_queue: str | None = None
    stop_policy: str | None = None


class LocalQueueObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: LocalQueueFields = LocalQueueFields()


class Template(Wire, frozen=True):
    spec: PodSpec = PodSpec()


class TopologyRequest(Wire, frozen=True):
    pod_set_group_name: str | None = None


class PodSetFields(Wire, frozen=True):
    name: str = "main"
    count: int = 1
    min_count: int | None = None
    template: Template = Template()
    topology_request: TopologyRequest | None = None


class Gate(Wire, frozen=True):
    name: str = ""
    position: str | None = None


class WorkloadFields(Wire, frozen=True):
    preemption_gates: tuple[Gate, ...] | None = None
    pod_sets: tuple[PodSetFields, ...] | None = None
    queue_name: str | None = None
    priority: int | None = None
    active: bool | None = None


class Assigned(Wire, frozen=True):
    name: str = "main"
    flavors: dict[str, str] | None = None
    resource_usage: Quantities | None = None
    count: int | None = None


class AdmissionFields(Wire, frozen=True):
    cluster_queue: str | None = None
    pod_set_assignments: tuple[Assigned, ...] | None = None


class Reclaimable(Wire, frozen=True):
    name: str = "main"
    count: int = 0


class ConsideredFlavor(Wire, frozen=True):
    name: str = "main"
    resources: Quantities | None = None


class RequeueState(Wire, frozen=True):
    requeue_at: datetime | None = None


class KueueNamespaceObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()


class StatusFields(Wire, frozen=True):
    requeue_state: RequeueState | None = None
    conditions: tuple[Condition, ...] | None = None
    admission: AdmissionFields | None = None
    reclaimable_pods: tuple[Reclaimable, ...] | None = None
    resource_requests: tuple[ConsideredFlavor, ...] | None = None
    preemption_gates: tuple[Gate, ...] | None = None


class WorkloadObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadFields = WorkloadFields()
    status: StatusFields = StatusFields()


T = TypeVar("T")


def decode(kind: type[T], obj: object) -> T:
    """Decode an object into one of these types. Raise msgspec.ValidationError."""
    return msgspec.convert(obj, kind, strict=False)
