"""Wire structs -> the types that policies decide on."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from engine.formats.kubernetes_requests import amounts, pod_requests
from engine.formats.kubernetes_wire import (
    BudgetObject,
    Condition,
    NodeObject,
    ObjectMeta,
    PodObject,
    PodSpec,
    PodStatus,
    PriorityClassObject,
    SelectorExpression,
)
from engine.snapshot import (
    DisruptionBudget,
    HostPort,
    Node,
    NodeSelectorTerm,
    Pod,
    PriorityClass,
    Requirement,
    Taint,
    Toleration,
)

QUEUE_LABELS = ("scheduler-admin.io/queue", "yunikorn.apache.org/queue", "queue")
"""Where a pod names its queue; the first one present wins."""
APPLICATION_LABELS = ("scheduler-admin.io/application", "yunikorn.apache.org/app-id", "applicationId")
MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
OPT_OUT_ANNOTATION = "yunikorn.apache.org/allow-preemption"
MAY_PREEMPT_ANNOTATION = "scheduler-admin.io/may-preempt"

NEVER = "Never"
LONGEST_MESSAGE = 1_000
"""Of a scheduler's message so much is kept, in characters: on large clusters it lists many reasons."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - Kubernetes' word for every address
_MATCHES_NOTHING = Requirement("", "In", ())


def to_ms(moment: datetime) -> int:
    """Milliseconds since 1970, finer parts cut off. A time without an offset (YAML loaders give such) is UTC."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(milliseconds=1)


def to_pod(pod: PodObject) -> Pod:
    """The pod as policies see it. Raises ValueError for a missing name, a bad quantity or a number out of range."""
    meta, spec, status = pod.metadata, pod.spec or PodSpec(), pod.status or PodStatus()
    labels = meta.labels or {}
    name, namespace = _name(meta), meta.namespace or "default"
    created_ms = 0 if meta.creation_timestamp is None else to_ms(meta.creation_timestamp)
    disruption = next((one for one in status.conditions or () if _is_disruption(one)), None)
    return Pod(
        uid=meta.uid or f"{namespace}/{name}",
        namespace=namespace,
        name=name,
        created_ms=created_ms,
        started_ms=None if status.start_time is None else to_ms(status.start_time),
        requests=pod_requests(spec),
        labels=labels,
        node=spec.node_name or None,
        finished=status.phase in ("Succeeded", "Failed"),
        terminating=meta.deletion_timestamp is not None,
        grace_s=30 if spec.termination_grace_period_seconds is None else spec.termination_grace_period_seconds,
        priority=spec.priority or 0,
        priority_class=spec.priority_class_name or "",
        never_preempts=spec.preemption_policy == NEVER,
        controller=_controller(meta),
        mirror=MIRROR_ANNOTATION in (meta.annotations or {}),
        unschedulable_ms=_unschedulable_ms(status, created_ms),
        unschedulable_message=_unschedulable_message(status),
        disruption=disruption.reason or "" if disruption else "",
        disrupted_ms=to_ms(disruption.last_transition_time) if disruption and disruption.last_transition_time else None,
        gated=bool(spec.scheduling_gates),
        nominated_node=status.nominated_node_name or "",
        scheduler=spec.scheduler_name or "default-scheduler",
        node_selector=spec.node_selector or {},
        node_affinity=_node_affinity(spec),
        tolerations=_tolerations(spec),
        host_ports=_host_ports(spec),
        unread_rules=_unread_rules(spec),
        queue_label=_first(labels, QUEUE_LABELS),
        application_label=_first(labels, APPLICATION_LABELS),
    )


def to_node(node: NodeObject) -> Node:
    """The node as policies see it; one without a Ready condition counts as ready. Raises ValueError."""
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
    """The priority class as policies see it. Raises ValueError for a missing name."""
    annotations = priority_class.metadata.annotations or {}
    return PriorityClass(
        name=_name(priority_class.metadata),
        value=priority_class.value or 0,
        never_preempts=priority_class.preemption_policy == NEVER,
        opted_out=annotations.get(OPT_OUT_ANNOTATION) == "false",
        may_preempt=annotations.get(MAY_PREEMPT_ANNOTATION) == "true",
    )


def to_budget(budget: BudgetObject) -> DisruptionBudget:
    """The disruption budget as policies see it. Raises ValueError for a missing name."""
    meta, selector = budget.metadata, budget.spec.selector if budget.spec else None
    if selector is None:  # policy/v1: no selector matches no pod, an empty one every pod
        expressions: tuple[Requirement, ...] = (_MATCHES_NOTHING,)
    else:
        labels = (selector.match_labels or {}).items()
        expressions = tuple(Requirement(key, "In", (value,)) for key, value in labels)
        expressions += _requirements(selector.match_expressions)
    return DisruptionBudget(
        namespace=meta.namespace or "default",
        name=_name(meta),
        expressions=expressions,
        allowed=(budget.status.disruptions_allowed if budget.status else None) or 0,
    )


def _name(meta: ObjectMeta) -> str:
    if not meta.name:
        raise ValueError("it has no metadata.name")
    return meta.name


def _first(labels: Mapping[str, str], keys: tuple[str, ...]) -> str:
    return next((labels[key] for key in keys if labels.get(key)), "")


def _controller(meta: ObjectMeta) -> str:
    owners = meta.owner_references or ()
    found = next((f"{owner.kind or ''}/{owner.name or ''}" for owner in owners if owner.controller), "")
    return found.replace("\0", "")  # any text may stand there, and no database takes this one


def _unschedulable_ms(status: PodStatus, created_ms: int) -> int | None:
    for condition in status.conditions or ():
        if _says_unschedulable(condition):
            since = condition.last_transition_time
            return created_ms if since is None else to_ms(since)
    return None


def _unschedulable_message(status: PodStatus) -> str:
    found = (one.message or "" for one in status.conditions or () if _says_unschedulable(one))
    return next(found, "")[:LONGEST_MESSAGE]


def _is_disruption(condition: Condition) -> bool:
    return (condition.type, condition.status) == ("DisruptionTarget", "True")


def _says_unschedulable(condition: Condition) -> bool:
    found = (condition.type, condition.status, condition.reason)
    return found == ("PodScheduled", "False", "Unschedulable")


def _requirements(expressions: list[SelectorExpression] | None) -> tuple[Requirement, ...]:
    return tuple(Requirement(rule.key, rule.operator, tuple(rule.values or ())) for rule in expressions or ())


def _node_affinity(spec: PodSpec) -> tuple[NodeSelectorTerm, ...]:
    affinity = spec.affinity.node_affinity if spec.affinity else None
    if affinity is None or affinity.required is None:
        return ()
    terms = tuple(
        NodeSelectorTerm(_requirements(term.match_expressions), _requirements(term.match_fields))
        for term in affinity.required.node_selector_terms or ()
    )
    # A rule without terms matches no node, and so does an empty term; no terms at all would mean no rule.
    return terms or (NodeSelectorTerm(),)


def _tolerations(spec: PodSpec) -> tuple[Toleration, ...]:
    return tuple(
        Toleration(one.key or "", one.operator or "Equal", one.value or "", one.effect or "")
        for one in spec.tolerations or ()
    )


def _host_ports(spec: PodSpec) -> tuple[HostPort, ...]:
    running = [*(spec.containers or ()), *(one for one in spec.init_containers or () if one.sidecar)]
    found = []
    for port in (port for container in running for port in container.ports or ()):
        # On the host's network a container's port is the host's, as the API server fills in.
        number = port.host_port or (port.container_port if spec.host_network else None)
        if number:
            found.append(HostPort(number, port.protocol or "TCP", port.host_ip or _ANY_ADDRESS))
    return tuple(found)


def _unread_rules(spec: PodSpec) -> tuple[str, ...]:
    affinity = spec.affinity
    spread = spec.topology_spread_constraints or ()
    volumes = spec.volumes or ()
    rules = {
        "podAffinity": affinity and affinity.pod_affinity and affinity.pod_affinity.required,
        "podAntiAffinity": affinity and affinity.pod_anti_affinity and affinity.pod_anti_affinity.required,
        "topologySpread": any(one.when_unsatisfiable != "ScheduleAnyway" for one in spread),
        "volumes": any(one.persistent_volume_claim or one.ephemeral for one in volumes),
        "resourceClaims": spec.resource_claims,
    }
    return tuple(name for name, present in rules.items() if present)
