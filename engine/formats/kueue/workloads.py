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
    true = {one.type: one for one in conditions if one.status == "True"}
    reserved, evicted, done = true.get("QuotaReserved"), true.get("Evicted"), "Finished" in true or spec.active is False
    admitted = (admission.cluster_queue if admission else None) or ""
    holds = admission is not None and reserved is not None and not done
    waits = next((one for one in conditions if (one.type, one.status) == ("QuotaReserved", "False")), None)
    return Workload(
        uid=meta.uid,
        namespace=meta.namespace or "default",
        name=meta.name,
        owners=tuple(f"{one.kind or ''}/{one.name or ''}" for one in meta.owner_references or ()),
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
        requeued=all(one.status != "False" for one in conditions if one.type == _REQUEUED),
        replaces=(meta.annotations or {}).get(_REPLACES, ""),
        evicted=evicted is not None,
        reserved_ms=_since(reserved) if reserved else None,
        usage=_usage(spec, status, admission) if admission and holds else {},
        gated=_gated(spec, status),
        pod_sets=() if done else tuple(_pod_set(one, status) for one in spec.pod_sets or ()),
        holds=holds,
        done=done,
        preempted=to_preempted(conditions, meta, admitted),
    )


def _since(condition: Condition) -> int | None:
    return to_ms(condition.last_transition_time) if condition.last_transition_time else None


def _gated(spec: wire.WorkloadFields, status: wire.StatusFields) -> bool:
    """Return whether a preemption gate is closed; a gate without a status is closed (HasClosedPreemptionGate)."""
    there = {one.name: one.position for one in status.preemption_gates or ()}
    return any(there.get(one.name, "Closed") == "Closed" for one in spec.preemption_gates or ())


def _pod_set(one: wire.PodSetFields, status: wire.StatusFields) -> PodSet:
    """Return the pods that are still needed, with the requests that Kueue used in its last attempt, if there was one.

    Those requests include what LimitRanges and RuntimeClasses add, and the resources that Kueue is configured to leave
    out or to transform. Source: pkg/workload, totalRequestsFromPodSets and PropagateResourceRequests.
    """
    spec = one.template.spec
    count = one.count - min(one.count, _named(status.reclaimable_pods, one.name, "count") or 0)
    whole = amounts(_named(status.resource_requests, one.name, "resources"))
    asked = {name: amount // max(1, count) for name, amount in whole.items()} if whole else pod_requests(spec)
    requests = {name: amount for name, amount in asked.items() if name != PODS}
    return PodSet(
        name=one.name,
        count=count,
        least=one.min_count,
        requests=requests,
        group=(one.topology_request.pod_set_group_name if one.topology_request else None) or "",
        node_selector=spec.node_selector or {},
        node_affinity=node_affinity(spec.affinity) if spec.affinity else (),
        tolerations=tolerations(spec.tolerations) if spec.tolerations else (),
    )


def _named(entries: Sequence[Any] | None, name: str, field: str) -> Any:
    """Return a field of the entry with a name; None if there is no such entry."""
    return next((getattr(one, field) for one in entries or () if one.name == name), None)


def _usage(
    spec: wire.WorkloadFields, status: wire.StatusFields, admission: wire.AdmissionFields
) -> dict[FlavorResource, int]:
    """Return the quota that a workload holds: what it was admitted with, without the share of finished pods."""
    counts = {one.name: one.count for one in spec.pod_sets or ()}
    done = {one.name: one.count for one in status.reclaimable_pods or ()}
    found: dict[FlavorResource, int] = {}
    for one in admission.pod_set_assignments or ():
        count = counts.get(one.name, 0) if one.count is None else one.count
        left = max(0, count - done.get(one.name, 0))
        for name, amount in amounts(one.resource_usage).items():
            flavor = (one.flavors or {}).get(name)
            if flavor is not None:
                held = amount if left == count else amount // max(1, count) * left
                found[flavor, name] = found.get((flavor, name), 0) + held
    return found
