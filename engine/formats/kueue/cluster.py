"""Kueue's objects read as a cluster's quota: flavors, queues, cohorts, and the workloads that hold it or wait."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from engine.formats.kubernetes_convert import to_ms
from engine.formats.kubernetes_requests import amounts, pod_requests
from engine.formats.kubernetes_rules import node_affinity, tolerations
from engine.formats.kubernetes_wire import Condition
from engine.formats.kueue import wire
from engine.formats.kueue.names import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE
from engine.quota import (
    BorrowWithinCohort,
    ClusterQueue,
    Cohort,
    Flavor,
    FlavorResource,
    Fungibility,
    PodSet,
    Preemption,
    Quota,
    QuotaCluster,
    ResourceGroup,
    Take,
    Workload,
)
from engine.resources import PODS, parse_amount, parse_quantity
from engine.snapshot import Taint

FLAVOR, WORKLOAD = "ResourceFlavor", "Workload"
_TRY_NEXT = "TryNextFlavor"
_PREEMPTION_FIRST = "PreemptionOverBorrowing"
_NEW_TURN = {"PodsReadyTimeout", "AdmissionCheck"}
"""Evicted for these, a workload takes its turn anew. Source: pkg/workload, Ordering.GetQueueOrderTimestamp."""
_HELD = {"Hold", "HoldAndDrain"}


def quota_cluster(objects: Iterable[Mapping[str, Any]], *, now_ms: int) -> QuotaCluster:
    """All of Kueue's among some manifests. Raises ValueError (a decoder's, or of a quantity) with what is wrong."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for obj in objects:
        kinds.setdefault(str(obj.get("kind") or ""), []).append(obj)
    flavors = {one.name: one for one in map(_flavor, kinds.get(FLAVOR, ()))}
    queues = [_queue(obj, flavors) for obj in kinds.get(CLUSTER_QUEUE, ())]
    cohorts = map(_cohort, kinds.get(COHORT, ()))
    leads = _leads(kinds.get(LOCAL_QUEUE, ()))
    workloads = [_workload(obj, leads) for obj in kinds.get(WORKLOAD, ())]
    return QuotaCluster(
        flavors=flavors,
        queues={one.name: one for one in queues},
        cohorts={one.name: one for one in cohorts},
        workloads=tuple(one for one in workloads if one is not None),
        now_ms=now_ms,
    )


def _flavor(obj: Mapping[str, Any]) -> Flavor:
    read = wire.decode(wire.FlavorObject, obj)
    taints = read.spec.node_taints or ()
    return Flavor(
        name=read.metadata.name or "",
        labels=read.spec.node_labels or {},
        taints=tuple(Taint(one.key, one.value or "", one.effect or "") for one in taints),
        tolerations=tolerations(read.spec.tolerations) if read.spec.tolerations else (),
    )


def _leads(objects: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """Namespace and name of each LocalQueue -> its ClusterQueue."""
    read = [wire.decode(wire.LocalQueueObject, obj) for obj in objects]
    return {
        (one.metadata.namespace or "default", one.metadata.name or ""): one.spec.cluster_queue or "" for one in read
    }


def _queue(obj: Mapping[str, Any], flavors: Mapping[str, Flavor]) -> ClusterQueue:
    read = wire.decode(wire.QuotaOwner, obj)
    spec, fields = read.spec, read.spec.preemption or wire.PreemptionFields()
    borrow = fields.borrow_within_cohort or wire.Borrowing()
    next_one = spec.flavor_fungibility or wire.FungibilityFields()
    groups = spec.resource_groups or ()
    named = {one.name for group in groups for one in group.flavors or ()}
    return ClusterQueue(
        name=read.metadata.name or "",
        cohort=spec.above,
        quotas=_quotas(groups),
        groups=tuple(
            ResourceGroup(group.covered_resources or (), tuple(one.name for one in group.flavors or ()))
            for group in groups
        ),
        preemption=Preemption(
            within=Take(fields.within_cluster_queue or Take.NEVER),
            reclaim=Take(fields.reclaim_within_cohort or Take.NEVER),
            borrow=BorrowWithinCohort(
                allowed=(borrow.policy or Take.NEVER) != Take.NEVER, threshold=borrow.max_priority_threshold
            ),
        ),
        fungibility=Fungibility(
            next_before_borrowing=next_one.when_can_borrow == _TRY_NEXT,
            next_before_preempting=(next_one.when_can_preempt or _TRY_NEXT) == _TRY_NEXT,
            preemption_over_borrowing=next_one.preference == _PREEMPTION_FIRST,
        ),
        weight=_weight(spec),
        active=spec.stop_policy not in _HELD and named <= flavors.keys(),
    )


def _cohort(obj: Mapping[str, Any]) -> Cohort:
    read = wire.decode(wire.QuotaOwner, obj)
    quotas = _quotas(read.spec.resource_groups or ())
    return Cohort(name=read.metadata.name or "", parent=read.spec.above, quotas=quotas, weight=_weight(read.spec))


def _weight(spec: wire.QuotaFields) -> Fraction:
    weight = spec.fair_sharing.weight if spec.fair_sharing else None
    return Fraction(1) if weight is None else parse_quantity(weight)


def _quotas(groups: Iterable[wire.Group]) -> dict[FlavorResource, Quota]:
    found: dict[FlavorResource, Quota] = {}
    for flavor in (flavor for group in groups for flavor in group.flavors or ()):
        for one in flavor.resources or ():
            limits = (
                None if text is None else parse_amount(one.name, text)
                for text in (one.borrowing_limit, one.lending_limit)
            )
            found[flavor.name, one.name] = Quota(parse_amount(one.name, one.nominal_quota), *limits)
    return found


def _workload(obj: Mapping[str, Any], leads: Mapping[tuple[str, str], str]) -> Workload | None:
    """None for one that is finished, or switched off."""
    read = wire.decode(wire.WorkloadWithQuota, obj)
    meta, spec, status = read.metadata, read.spec, read.status
    true = {one.type: one for one in status.conditions or () if one.status == "True"}
    if "Finished" in true or spec.active is False:
        return None
    reserved, evicted = true.get("QuotaReserved"), true.get("Evicted")
    admission = status.admission if reserved else None
    namespace = meta.namespace or "default"
    queue = (admission and admission.cluster_queue) or leads.get((namespace, spec.queue_name or ""), "")
    return Workload(
        uid=meta.uid or "",
        namespace=namespace,
        name=meta.name or "",
        queue=queue,
        priority=spec.priority or 0,
        created_ms=to_ms(meta.creation_timestamp) if meta.creation_timestamp else 0,
        requeued_ms=_since(evicted) if evicted and evicted.reason in _NEW_TURN else None,
        evicted=evicted is not None,
        reserved_ms=_since(reserved) if reserved else None,
        usage=_usage(spec, status, admission) if admission else {},
        pod_sets=tuple(map(_pod_set, spec.pod_sets or ())),
        holds=admission is not None,
    )


def _since(condition: Condition) -> int | None:
    return to_ms(condition.last_transition_time) if condition.last_transition_time else None


def _pod_set(one: wire.PodSetFields) -> PodSet:
    spec = one.template.spec
    requests = {name: amount for name, amount in pod_requests(spec).items() if name != PODS}
    return PodSet(
        name=one.name,
        count=one.count,
        least=one.min_count,
        requests=requests,
        group=(one.topology_request.pod_set_group_name if one.topology_request else None) or "",
        node_selector=spec.node_selector or {},
        node_affinity=node_affinity(spec.affinity) if spec.affinity else (),
        tolerations=tolerations(spec.tolerations) if spec.tolerations else (),
    )


def _usage(
    spec: wire.WorkloadFields, status: wire.StatusFields, admission: wire.AdmissionFields
) -> dict[FlavorResource, int]:
    """What it holds: what it was admitted with, less what the pods of it held that are done and not needed again."""
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
