"""Conversion of Kueue's objects to the quota of a cluster: its flavors, queues, cohorts and workloads.

Source: Kueue's API, v1beta1 and v1beta2.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

import msgspec

from engine.formats.kubernetes.constraints import selector, tolerations
from engine.formats.kubernetes.wire import ObjectMeta
from engine.formats.kueue import wire
from engine.formats.kueue.queue_names import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE
from engine.formats.kueue.workloads import to_workload
from engine.formats.tree_json.queue_annotation import ANNOTATION
from engine.formats.undecodable import UNDECODABLE
from engine.model.objects import (
    BorrowWithinCohort,
    ClusterQueue,
    Cohort,
    Flavor,
    FlavorQuota,
    FlavorResource,
    Fungibility,
    LocalQueue,
    Preemption,
    QuotaCluster,
    ResourceGroup,
    Taint,
)
from engine.model.objects import quota_cluster as together
from engine.model.quantities import parse_amount, parse_quantity
from engine.model.queue_tree import Take

FLAVOR, NAMESPACE, WORKLOAD = "ResourceFlavor", "Namespace", "Workload"
_TRY_NEXT = "TryNextFlavor"
_PREEMPTION_FIRST = "PreemptionOverBorrowing"
_HELD = {"Hold", "HoldAndDrain"}
_ACTIVE = "Active"
"""Condition in which Kueue reports whether it admits any workload of a queue."""

T = TypeVar("T")
Read = TypeVar("Read")


def quota_cluster(objects: Iterable[Mapping[str, Any]], *, now_ms: int) -> QuotaCluster:
    """Return the cluster that Kueue's objects in a list of manifests describe.

    Raise ValueError, with the error of the decoder or of a quantity, if an object is invalid.
    """
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for obj in objects:
        kinds.setdefault(str(obj.get("kind") or ""), []).append(obj)

    def every(kind: str, form: type[T], read: Callable[[T], Read]) -> list[Read]:
        return [read(wire.decode(form, obj)) for obj in kinds.get(kind, ())]

    return together(
        every(FLAVOR, wire.FlavorObject, to_flavor),
        every(CLUSTER_QUEUE, wire.QuotaOwner, to_queue),
        every(COHORT, wire.QuotaOwner, to_cohort),
        every(LOCAL_QUEUE, wire.LocalQueueObject, to_local_queue),
        every(WORKLOAD, wire.WorkloadObject, to_workload),
        now_ms=now_ms,
        namespaces={
            namespace.name or "": namespace.labels or {}
            for namespace in every("Namespace", wire.KueueNamespaceObject, _meta)
        }
        or None,
    )


def _meta(namespace: wire.KueueNamespaceObject) -> ObjectMeta:
    return namespace.metadata


def to_flavor(flavor: wire.FlavorObject) -> Flavor:
    """Convert a ResourceFlavor from its wire form."""
    spec = flavor.spec
    taints = spec.node_taints or ()
    return Flavor(
        name=flavor.metadata.name or "",
        labels=spec.node_labels or {},
        taints=tuple(Taint(taint.key, taint.value or "", taint.effect or "") for taint in taints),
        tolerations=tolerations(spec.tolerations) if spec.tolerations else (),
    )


def to_local_queue(queue: wire.LocalQueueObject) -> LocalQueue:
    """Convert a LocalQueue from its wire form."""
    meta = queue.metadata
    return LocalQueue(
        namespace=meta.namespace or "default",
        name=meta.name or "",
        queue=queue.spec.cluster_queue or "",
        held=queue.spec.stop_policy in _HELD,
    )


def to_queue(queue: wire.QuotaOwner) -> ClusterQueue:
    """Convert a ClusterQueue from its wire form. Raise ValueError if a value is invalid."""
    spec = queue.spec
    groups = spec.resource_groups or ()
    statuses = {condition.type: condition.status for condition in queue.status.conditions or ()}
    return ClusterQueue(
        name=queue.metadata.name or "",
        called=_called(queue.metadata),
        cohort=spec.above,
        quotas=_quotas(groups),
        groups=tuple(
            ResourceGroup(group.covered_resources or (), tuple(flavor.name for flavor in group.flavors or ()))
            for group in groups
        ),
        preemption=_preemption(spec.preemption or wire.PreemptionFields()),
        fungibility=_fungibility(spec.flavor_fungibility or wire.FungibilityFields()),
        weight=_weight(spec),
        active=spec.stop_policy not in _HELD and statuses.get(_ACTIVE) != "False",
        namespaces=selector(spec.namespace_selector),
    )


def _preemption(fields: wire.PreemptionFields) -> Preemption:
    borrow = fields.borrow_within_cohort or wire.Borrowing()
    return Preemption(
        within=Take(fields.within_cluster_queue or Take.NEVER),
        reclaim=Take(fields.reclaim_within_cohort or Take.NEVER),
        borrow=BorrowWithinCohort(
            allowed=(borrow.policy or Take.NEVER) != Take.NEVER, threshold=borrow.max_priority_threshold
        ),
    )


def _fungibility(fields: wire.FungibilityFields) -> Fungibility:
    return Fungibility(
        next_before_borrowing=fields.when_can_borrow == _TRY_NEXT,
        next_before_preempting=(fields.when_can_preempt or _TRY_NEXT) == _TRY_NEXT,
        preemption_over_borrowing=fields.preference == _PREEMPTION_FIRST,
    )


def to_cohort(cohort: wire.QuotaOwner) -> Cohort:
    """Convert a Cohort from its wire form. Raise ValueError if a value is invalid."""
    spec = cohort.spec
    return Cohort(
        name=cohort.metadata.name or "",
        called=_called(cohort.metadata),
        parent=spec.above,
        quotas=_quotas(spec.resource_groups or ()),
        weight=_weight(spec),
    )


def _called(meta: ObjectMeta) -> str:
    try:
        annotation = msgspec.json.decode((meta.annotations or {}).get(ANNOTATION, "{}"))
    except UNDECODABLE:
        return ""
    return str(annotation.get("name") or "") if isinstance(annotation, dict) else ""


def _weight(spec: wire.QuotaFields) -> Fraction:
    weight = spec.fair_sharing.weight if spec.fair_sharing else None
    return Fraction(1) if weight is None else parse_quantity(weight)


def _quotas(groups: Iterable[wire.ResourceGroupObject]) -> dict[FlavorResource, FlavorQuota]:
    quotas: dict[FlavorResource, FlavorQuota] = {}
    for flavor in (flavor for group in groups for flavor in group.flavors or ()):
        for resource in flavor.resources or ():
            limits = (
                None if text is None else parse_amount(resource.name, text)
                for text in (resource.borrowing_limit, resource.lending_limit)
            )
            quotas[flavor.name, resource.name] = FlavorQuota(
                parse_amount(resource.name, resource.nominal_quota), *limits
            )
    return quotas
