"""Conversion of Kubernetes objects from their wire form to the types that policies use."""

from collections.abc import Mapping
from datetime import UTC, datetime
from sys import intern
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from engine.formats.kubernetes.checkpoints import checkpoint
from engine.formats.kubernetes.constraints import (
    MATCHES_NOTHING,
    affinity_terms,
    host_ports,
    node_affinity,
    node_terms,
    preferred_affinity,
    selector,
    spread_constraints,
    tolerations,
    unread_rules,
)
from engine.formats.kubernetes.interning import shared, shared_map
from engine.formats.kubernetes.pod_requests import amounts, pod_requests, quota_requests, scored_requests
from engine.formats.kubernetes.wire import (
    BudgetObject,
    ClaimObject,
    Condition,
    NamespaceObject,
    NodeObject,
    ObjectMeta,
    PodObject,
    PodSpec,
    PodStatus,
    PriorityClassObject,
    Quantities,
    QuotaObject,
    ScopeExpression,
    VolumeObject,
)
from engine.formats.untrusted_text import kept_text
from engine.formats.volcano.eviction_message import GROUP_ANNOTATIONS, PREEMPTABLE
from engine.formats.volcano.eviction_message import parse_eviction_reason as told_by_volcano
from engine.formats.yunikorn.submitter import submitter
from engine.formats.yunikorn.task_groups import TASK_GROUP_ANNOTATION, is_hard, is_placeholder, task_groups
from engine.model.objects import (
    DEFAULT_SCHEDULER,
    EVICTION_BY_VOLCANO,
    YUNIKORN_SCHEDULER,
    Claim,
    ClassQuota,
    ClassRule,
    DisruptionBudget,
    GroupKind,
    Namespace,
    Node,
    Pod,
    PriorityClass,
    Requirement,
    Taint,
    TaskGroup,
    Volume,
    group_reference,
)
from engine.model.quantities import Amounts

QUEUE_LABELS = ("scheduler-admin.io/queue", "yunikorn.apache.org/queue", "queue")
"""Labels that name the queue of a pod; the first that is present wins. The annotation comes before the last label."""
QUEUE_ANNOTATIONS = ("scheduler-admin.io/queue", "yunikorn.apache.org/queue")
"""Annotations that name the queue of a pod.

The first is our own and comes before all labels: our manifests have it where the labels say something else.
"""
APPLICATION_LABELS = (
    "scheduler-admin.io/application", "yunikorn.apache.org/app-id", "applicationId", "spark-app-selector"
)  # fmt: skip
"""Labels that name the application of a pod; the annotation comes before the last two.

Source: GetQueueNameFromPod and GetApplicationIDFromPod of yunikorn-k8shim.
"""
APPLICATION_ANNOTATIONS = ("scheduler-admin.io/application", "yunikorn.apache.org/app-id")
"""Annotations that name the application of a pod; the first is our own and comes before all labels."""
_OWN_SUFFIX = "-uniqueautogen"
"""Suffix of an application that YuniKorn's admission controller created for a single pod."""
WORKLOAD_ANNOTATION = "kueue.x-k8s.io/workload"
SCORED_ANNOTATION = "scheduler-admin.io/scored-requests"
"""Annotation of our own manifests, whose pods have one container, with ``Pod.scored_requests`` as JSON."""
MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
OPT_OUT_ANNOTATION = "yunikorn.apache.org/allow-preemption"
MAY_PREEMPT_ANNOTATION = "scheduler-admin.io/may-preempt"

NEVER = "Never"
PARENT_QUEUE_ANNOTATION = "yunikorn.apache.org/parentqueue"
CLASS_SCOPE = "PriorityClass"
"""Scope that makes a ResourceQuota depend on the priority class."""
FINISHED = ("Succeeded", "Failed")
"""Phases of pods that no longer hold any resources."""
LONGEST_MESSAGE = 1_000
"""Number of characters of a condition's message that are kept: schedulers list many reasons on large clusters."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_S = 86_400
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_NAME_LABEL = "kubernetes.io/metadata.name"
_ZONE_LABELS = (
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
)


def to_ms(moment: datetime) -> int:
    """Convert a time to milliseconds since 1970, rounded down.

    A time without an offset, which YAML loaders produce, is taken as UTC.
    """
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    since = aware - _EPOCH
    return (since.days * _DAY_S + since.seconds) * 1000 + since.microseconds // 1000


def to_pod(pod: PodObject) -> Pod:
    """Convert a pod. Raise ValueError for a missing name, an invalid quantity or a number out of range."""
    meta, spec, status = pod.metadata, pod.spec or PodSpec(), pod.status or PodStatus()
    labels = shared_map(tuple(meta.labels.items())) if meta.labels else {}
    name, namespace = _name(meta), meta.namespace or "default"
    created_ms = 0 if meta.creation_timestamp is None else to_ms(meta.creation_timestamp)
    waiting, disruption = _scheduling_conditions(status.conditions or ())
    user, groups = submitter(labels, meta.annotations or {})
    saved = checkpoint(meta.annotations or {})
    application = application_label(labels, meta.annotations or {}, meta.uid or "")
    gang = _gang(meta, spec, application)
    return Pod(
        uid=meta.uid or f"{namespace}/{name}",
        namespace=intern(namespace),
        name=name,
        created_ms=created_ms,
        started_ms=None if status.start_time is None else to_ms(status.start_time),
        checkpoint_ms=None if saved.at is None else to_ms(saved.at),
        odd_checkpoint=saved.odd,
        requests=pod_requests(spec, status),
        scored_requests=_scored(spec, meta.annotations or {}),
        labels=labels,
        node=intern(spec.node_name) if spec.node_name else None,
        finished=status.phase in FINISHED,
        terminating=meta.deletion_timestamp is not None,
        deleted_ms=_deleted_ms(meta),
        grace_s=_grace_s(spec.termination_grace_period_seconds),
        priority=spec.priority or 0,
        priority_class=intern(spec.priority_class_name or ""),
        never_preempts=spec.preemption_policy == NEVER,
        own_opt_out={"true": False, "false": True}.get((meta.annotations or {}).get(OPT_OUT_ANNOTATION, "")),
        controller=_controller(meta),
        mirror=MIRROR_ANNOTATION in (meta.annotations or {}),
        unschedulable_ms=_since_ms(waiting, created_ms) if waiting else None,
        unschedulable_message=kept_text(waiting.message, LONGEST_MESSAGE) if waiting else "",
        disruption=kept_text(disruption.reason, LONGEST_MESSAGE) if disruption else "",
        disrupted_ms=_since_ms(disruption, None) if disruption else None,
        disruption_message=kept_text(disruption.message, LONGEST_MESSAGE) if disruption else "",
        resize_deferred=any(
            condition.type == "PodResizePending" and condition.reason == "Deferred"
            for condition in status.conditions or ()
        ),
        gated=bool(spec.scheduling_gates),
        nominated_node=status.nominated_node_name or "",
        scheduler=intern(spec.scheduler_name or DEFAULT_SCHEDULER),
        node_selector=shared_map(tuple(spec.node_selector.items())) if spec.node_selector else {},
        node_affinity=node_affinity(spec.affinity) if spec.affinity else (),
        preferred_affinity=preferred_affinity(spec.affinity) if spec.affinity else (),
        tolerations=tolerations(spec.tolerations) if spec.tolerations else (),
        host_ports=host_ports(spec),
        affinity=affinity_terms(spec.affinity.pod_affinity, namespace) if spec.affinity else (),
        anti_affinity=affinity_terms(spec.affinity.pod_anti_affinity, namespace) if spec.affinity else (),
        spread=spread_constraints(spec.topology_spread_constraints, labels),
        claims=tuple(
            volume.persistent_volume_claim.claim_name or ""
            for volume in spec.volumes or ()
            if volume.persistent_volume_claim
        ),
        own_claims=tuple(f"{name}-{volume.name}" for volume in spec.volumes or () if volume.ephemeral),
        unread_rules=unread_rules(spec),
        queue_label=queue_label(labels, meta.annotations or {}),
        application_label=application,
        workload=(meta.annotations or {}).get(WORKLOAD_ANNOTATION, ""),
        scheduling_group=gang.reference,
        task_group=intern((meta.annotations or {}).get(TASK_GROUP_ANNOTATION, "")),
        task_groups=gang.task_groups,
        hard_gang=gang.hard,
        pod_group=_first(meta.annotations or {}, GROUP_ANNOTATIONS),
        kept_by_volcano=_first({**labels, **(meta.annotations or {})}, (PREEMPTABLE,)) == "false",
        user=user,
        groups=groups,
    )


class _Gang(NamedTuple):
    """With which group a pod is started, and what it states about it."""

    reference: str = ""
    task_groups: tuple[TaskGroup, ...] = ()
    hard: bool = False


def _gang(meta: ObjectMeta, spec: PodSpec, application: str) -> _Gang:
    """Return the group that a pod is started with, which depends on the scheduler that it names.

    kube-scheduler does not know the groups of others. Any other scheduler may be Volcano, under a name of its own. To
    YuniKorn, the pods of a gang are its placeholders: the pods that take their places later need no room.
    """
    annotations, scheduler = meta.annotations or {}, spec.scheduler_name
    if scheduler == YUNIKORN_SCHEDULER and application and is_placeholder(meta.labels or {}, annotations):
        reference = intern(group_reference(GroupKind.YUNIKORN, application))
        return _Gang(reference, task_groups(annotations), is_hard(annotations))
    own = (spec.scheduling_group.pod_group_name or "") if spec.scheduling_group else ""
    of_volcano = _first(annotations, GROUP_ANNOTATIONS)
    if of_volcano and scheduler not in (None, "", DEFAULT_SCHEDULER, YUNIKORN_SCHEDULER):
        return _Gang(intern(group_reference(GroupKind.VOLCANO, of_volcano)))
    return _Gang(intern(own))


def _scored(spec: PodSpec, annotations: Mapping[str, str]) -> Amounts:
    """Return the requests by which nodes are compared: as our own manifests state them, or of the containers."""
    if (stated := annotations.get(SCORED_ANNOTATION)) is None:
        return scored_requests(spec)
    return msgspec.json.decode(stated, type=Amounts)


def _deleted_ms(meta: ObjectMeta) -> int | None:
    """Return when deletion was requested: the deletionTimestamp is the end of the grace period."""
    if meta.deletion_timestamp is None:
        return None
    return to_ms(meta.deletion_timestamp) - 1000 * (meta.deletion_grace_period_seconds or 0)


def _grace_s(seconds: int | None) -> int:
    """Return the grace period in seconds that the API server uses; a negative one is valid and means one second."""
    if seconds is None:
        return 30
    return seconds if seconds >= 0 else 1


def queue_label(labels: Mapping[str, str], annotations: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the queue that a pod's labels and annotations name; empty if they name none."""
    first_choice, second_choice = (annotations.get(key, "") for key in QUEUE_ANNOTATIONS)
    return first_choice or _first(labels, QUEUE_LABELS[:2]) or second_choice or _first(labels, QUEUE_LABELS[2:])


def application_label(labels: Mapping[str, str], annotations: Mapping[str, str], uid: str) -> str:
    """Return the application that a pod's labels and annotations name; empty if they name none."""
    first_choice, second_choice = (annotations.get(key, "") for key in APPLICATION_ANNOTATIONS)
    application = (
        first_choice
        or _first(labels, APPLICATION_LABELS[:2])
        or second_choice
        or _first(labels, APPLICATION_LABELS[2:])
    )
    return f"{application.removesuffix(_OWN_SUFFIX)}-{uid}" if application.endswith(_OWN_SUFFIX) else application


def to_node(node: NodeObject) -> Node:
    """Convert a node; a node without a Ready condition counts as ready. Raise ValueError."""
    meta, spec, status = node.metadata, node.spec, node.status
    taints = (spec.taints if spec else None) or ()
    conditions = (status.conditions if status else None) or ()
    # The API server fills allocatable from capacity in the same way.
    allocatable = status.capacity if status and status.allocatable is None else status.allocatable if status else None
    return Node(
        name=_name(meta),
        uid=meta.uid or "",
        allocatable=amounts(allocatable),
        labels=meta.labels or {},
        taints=tuple(Taint(taint.key, taint.value or "", taint.effect or "") for taint in taints),
        unschedulable=bool(spec and spec.unschedulable),
        ready=all(condition.status == "True" for condition in conditions if condition.type == "Ready"),
    )


def to_priority_class(priority_class: PriorityClassObject) -> PriorityClass:
    """Convert a priority class. Raise ValueError for a missing name."""
    annotations = priority_class.metadata.annotations or {}
    return PriorityClass(
        name=_name(priority_class.metadata),
        value=priority_class.value or 0,
        never_preempts=priority_class.preemption_policy == NEVER,
        opted_out=annotations.get(OPT_OUT_ANNOTATION) == "false",
        may_preempt=annotations.get(MAY_PREEMPT_ANNOTATION) == "true",
        global_default=bool(priority_class.global_default),
        description=priority_class.description or "",
        labels=priority_class.metadata.labels or {},
        annotations=annotations,
        uid=priority_class.metadata.uid or "",
        version=priority_class.metadata.resource_version or "",
    )


def to_class_quota(quota: QuotaObject) -> ClassQuota:
    """Convert a quota that limits priority classes, or all pods of its namespace. Raise ValueError for a missing name.

    For a quota that does not depend on priority classes, its usage is left out, because it may change all the time.
    """
    meta, spec = quota.metadata, quota.spec
    quota_of_class = ClassQuota(namespace=meta.namespace or "default", name=_name(meta))
    expressions = [ScopeExpression(name, "Exists") for name in (spec.scopes if spec else None) or ()]
    expressions += (spec.scope_selector.match_expressions if spec and spec.scope_selector else None) or ()
    rules = tuple(
        ClassRule(expression.operator or "", expression.values or ())
        for expression in expressions
        if expression.scope_name == CLASS_SCOPE
    )
    if spec is not None and not expressions:
        return msgspec.structs.replace(quota_of_class, requests=quota_requests(spec.hard or {}))
    if spec is None or not rules:
        return quota_of_class
    return msgspec.structs.replace(
        quota_of_class,
        rules=rules,
        scopes=tuple(
            expression.scope_name
            for expression in expressions
            if expression.scope_name and expression.scope_name != CLASS_SCOPE
        ),
        hard=_texts(spec.hard),
        used=_texts(quota.status.used if quota.status else None),
    )


def _texts(quantities: Quantities | None) -> dict[str, str]:
    return {name: str(amount) for name, amount in (quantities or {}).items()}


def to_budget(budget: BudgetObject) -> DisruptionBudget:
    """Convert a disruption budget. Raise ValueError for a missing name."""
    meta, spec, status = budget.metadata, budget.spec, budget.status
    met = selector(spec.selector) if spec else None
    return DisruptionBudget(
        namespace=meta.namespace or "default",
        name=_name(meta),
        expressions=(MATCHES_NOTHING,) if met is None else met,
        allowed=(status.disruptions_allowed if status else None) or 0,
        disrupted=tuple(sorted(status.disrupted_pods or ())) if status else (),
    )


def to_claim(claim: ClaimObject) -> Claim:
    """Convert a volume claim with the volume that it is permanently bound to. Raise ValueError for a missing name."""
    meta, spec = claim.metadata, claim.spec
    is_staying, chosen = meta.deletion_timestamp is None, (spec.volume_name if spec else None) or ""
    return Claim(
        namespace=intern(meta.namespace or "default"),
        name=_name(meta),
        volume=chosen if is_staying and BIND_COMPLETED in (meta.annotations or {}) else "",
        owner=next((owner.uid or "" for owner in meta.owner_references or () if owner.controller), ""),
        waiting=is_staying and not chosen,
        exclusive=bool(spec and "ReadWriteOncePod" in (spec.access_modes or ())),
    )


def to_volume(volume: VolumeObject) -> Volume:
    """Convert a volume with the nodes that can reach it. Raise ValueError for a missing name."""
    meta, spec = volume.metadata, volume.spec
    reach = spec.node_affinity.required if spec and spec.node_affinity else None
    labels = meta.labels or {}
    return Volume(
        name=_name(meta),
        node_affinity=node_terms(reach) if reach else (),
        zones=_zones(tuple((key, labels[key]) for key in _ZONE_LABELS if key in labels)),
    )


@shared
def _zones(labels: tuple[tuple[str, str], ...]) -> tuple[Requirement, ...]:
    """Return the requirements of zone labels; a label may list several zones, separated by two underscores.

    A value that is not such a list is ignored.
    """
    named = ((key, tuple(part.strip() for part in value.split("__"))) for key, value in labels)
    return tuple(Requirement(key, "In", zones) for key, zones in named if all(zones))


def to_namespace(namespace: NamespaceObject) -> Namespace:
    """Convert a namespace, adding its name to its labels as the API server does. Raise ValueError."""
    meta = namespace.metadata
    name = _name(meta)
    return Namespace(
        name=name,
        labels={**(meta.labels or {}), _NAME_LABEL: name},
        parent_queue=(meta.annotations or {}).get(PARENT_QUEUE_ANNOTATION, ""),
    )


def _name(meta: ObjectMeta) -> str:
    if not meta.name:
        raise ValueError("it has no metadata.name")
    return meta.name


def _first(labels: Mapping[str, str], keys: tuple[str, ...]) -> str:
    for key in keys:
        if value := labels.get(key):
            return value
    return ""


def _controller(meta: ObjectMeta) -> str:
    for owner in meta.owner_references or ():
        if owner.controller:
            reference = f"{owner.kind or ''}/{owner.name or ''}"
            return intern(kept_text(reference, LONGEST_MESSAGE))  # the owner reference may contain any text
    return ""


def is_remarkable(condition: Condition) -> bool:
    """Return whether a condition may affect what ``to_pod`` returns; those of most pods do not."""
    match condition.type:
        case "PodScheduled":
            return condition.status == "False"
        case "Ready":
            return condition.reason == EVICTION_BY_VOLCANO
        case kind:
            return kind in ("DisruptionTarget", "PodResizePending")


def _scheduling_conditions(conditions: tuple[Condition, ...]) -> tuple[Condition | None, Condition | None]:
    """Return the condition that reports a pod as unschedulable, and the condition that reports its disruption."""
    waiting = disruption = volcano = None
    for condition in conditions:
        if condition.type == "PodScheduled" and (condition.status, condition.reason) == ("False", "Unschedulable"):
            waiting = waiting or condition
        elif condition.type == "DisruptionTarget" and condition.status == "True":
            disruption = disruption or condition
        elif (
            condition.type == "Ready"
            and condition.reason == EVICTION_BY_VOLCANO
            and (why := told_by_volcano(condition.message or ""))
        ):
            volcano = msgspec.structs.replace(condition, message=why)
    return waiting, disruption or volcano


def _since_ms(condition: Condition, default_ms: int | None) -> int | None:
    since = condition.last_transition_time
    return default_ms if since is None else to_ms(since)
