"""Conversion of Kueue's Workloads: the quota they hold or wait for, and whether they were preempted."""

from collections.abc import Sequence
from typing import Any

from engine.formats.kubernetes.constraints import node_affinity, tolerations
from engine.formats.kubernetes.convert import LONGEST_MESSAGE, to_ms
from engine.formats.kubernetes.pod_requests import amounts, pod_requests
from engine.formats.kubernetes.wire import Condition
from engine.formats.kueue import wire
from engine.formats.kueue.conditions import to_preempted
from engine.formats.untrusted_text import kept_text
from engine.model.objects import FlavorResource, PodSet, Workload
from engine.model.quantities import PODS

_REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"
_REQUEUED = "Requeued"
"""Condition in which Kueue reports, if it is false, that it does not retry an evicted workload yet."""
_REORDERING_REASONS = {"PodsReadyTimeout", "AdmissionCheck"}
"""Reasons of an eviction after which a workload's position in the queue counts from the eviction.

Source: pkg/workload, Ordering.GetQueueOrderTimestamp.
"""


def to_workload(workload: wire.WorkloadObject) -> Workload:
    """Convert a Workload. Raise ValueError for a missing name or uid, and for a preemption without a time."""
    meta, spec, status = workload.metadata, workload.spec, workload.status
    if not meta.name or not meta.uid:
        raise ValueError("it has no metadata.name, or no metadata.uid")
    conditions, admission = status.conditions or (), status.admission
    true_conditions = {condition.type: condition for condition in conditions if condition.status == "True"}
    reserved, evicted, done = (
        true_conditions.get("QuotaReserved"),
        true_conditions.get("Evicted"),
        "Finished" in true_conditions or spec.active is False,
    )
    admitted = (admission.cluster_queue if admission else None) or ""
    holds = admission is not None and reserved is not None and not done
    waits = next(
        (condition for condition in conditions if (condition.type, condition.status) == ("QuotaReserved", "False")),
        None,
    )
    return Workload(
        uid=meta.uid,
        namespace=meta.namespace or "default",
        name=meta.name,
        owners=tuple(f"{owner.kind or ''}/{owner.name or ''}" for owner in meta.owner_references or ()),
        queue=admitted,
        local_queue=spec.queue_name or "",
        priority=spec.priority or 0,
        created_ms=to_ms(meta.creation_timestamp) if meta.creation_timestamp else 0,
        requeued_ms=_since(evicted) if evicted and evicted.reason in _REORDERING_REASONS else None,
        waits_ms=_since(waits) if waits and not done else None,
        waits_why=kept_text(waits.message, LONGEST_MESSAGE) if waits and not done else "",
        waits_until_ms=to_ms(status.requeue_state.requeue_at)
        if status.requeue_state and status.requeue_state.requeue_at
        else None,
        requeued=all(condition.status != "False" for condition in conditions if condition.type == _REQUEUED),
        replaces=(meta.annotations or {}).get(_REPLACES, ""),
        evicted=evicted is not None,
        reserved_ms=_since(reserved) if reserved else None,
        usage=_usage(spec, status, admission) if admission and holds else {},
        gated=_gated(spec, status),
        pod_sets=() if done else tuple(_pod_set(pod_set, status) for pod_set in spec.pod_sets or ()),
        holds=holds,
        done=done,
        preempted=to_preempted(conditions, meta, admitted),
    )


def _since(condition: Condition) -> int | None:
    return to_ms(condition.last_transition_time) if condition.last_transition_time else None


def _gated(spec: wire.WorkloadFields, status: wire.StatusFields) -> bool:
    """Return whether a preemption gate is closed; a gate without a status is closed (HasClosedPreemptionGate)."""
    positions = {gate.name: gate.position for gate in status.preemption_gates or ()}
    return any(positions.get(gate.name, "Closed") == "Closed" for gate in spec.preemption_gates or ())


def _pod_set(fields: wire.PodSetFields, status: wire.StatusFields) -> PodSet:
    """Return the pods that are still needed, with the requests that Kueue used in its last attempt, if there was one.

    Those requests include what LimitRanges and RuntimeClasses add, and the resources that Kueue is configured to leave
    out or to transform. Source: pkg/workload, totalRequestsFromPodSets and PropagateResourceRequests.
    """
    spec = fields.template.spec
    count = fields.count - min(fields.count, _named(status.reclaimable_pods, fields.name, "count") or 0)
    requested = amounts(_named(status.resource_requests, fields.name, "resources"))
    per_pod = {name: amount // max(1, count) for name, amount in requested.items()} if requested else pod_requests(spec)
    requests = {name: amount for name, amount in per_pod.items() if name != PODS}
    return PodSet(
        name=fields.name,
        count=count,
        least=fields.min_count,
        requests=requests,
        group=(fields.topology_request.pod_set_group_name if fields.topology_request else None) or "",
        node_selector=spec.node_selector or {},
        node_affinity=node_affinity(spec.affinity) if spec.affinity else (),
        tolerations=tolerations(spec.tolerations) if spec.tolerations else (),
    )


def _named(entries: Sequence[Any] | None, name: str, field: str) -> Any:
    """Return a field of the entry with a name; None if there is no such entry."""
    return next((getattr(entry, field) for entry in entries or () if entry.name == name), None)


def _usage(
    spec: wire.WorkloadFields, status: wire.StatusFields, admission: wire.AdmissionFields
) -> dict[FlavorResource, int]:
    """Return the quota that a workload holds: what it was admitted with, without the share of finished pods."""
    counts = {pod_set.name: pod_set.count for pod_set in spec.pod_sets or ()}
    done = {pod_set.name: pod_set.count for pod_set in status.reclaimable_pods or ()}
    usage: dict[FlavorResource, int] = {}
    for assignment in admission.pod_set_assignments or ():
        count = counts.get(assignment.name, 0) if assignment.count is None else assignment.count
        remaining = max(0, count - done.get(assignment.name, 0))
        for name, amount in amounts(assignment.resource_usage).items():
            flavor = (assignment.flavors or {}).get(name)
            if flavor is not None:
                held = amount if remaining == count else amount // max(1, count) * remaining
                usage[flavor, name] = usage.get((flavor, name), 0) + held
    return usage
