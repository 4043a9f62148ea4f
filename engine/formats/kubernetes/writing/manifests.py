"""Writing of a cluster's state as Kubernetes manifests, with the fields that the engine reads.

Fields that are not read are missing: images, commands, the individual containers. ``cluster_state`` reads the same
state back.
"""

from collections.abc import Iterator
from typing import Any

from engine.formats.kubernetes.convert import BIND_COMPLETED, PARENT_QUEUE_ANNOTATION
from engine.formats.kubernetes.convert import NEVER as _NEVER
from engine.formats.kubernetes.placeholders import UNREAD_ANNOTATION
from engine.formats.kubernetes.pod_groups import SCHEDULED
from engine.formats.kubernetes.writing.constraints import (
    Object,
    metadata,
    node_selector,
    omit_empty,
    selector,
    texts,
    time_of,
)
from engine.formats.kubernetes.writing.pods import write_pod
from engine.formats.volcano.pod_groups import API_VERSION as VOLCANO
from engine.model.objects import (
    Claim,
    CompositeGroup,
    DisruptionBudget,
    Namespace,
    Node,
    PodGroup,
    PriorityClass,
    SchedulingGroup,
    Volume,
)
from engine.model.quantities import format_amounts
from engine.model.snapshot import ClusterState

_UNREAD = {UNREAD_ANNOTATION: "true"}
_UNREAD_FIELDS: Object = {
    "parentCompositePodGroupName": "unread",
    "schedulingConstraints": {"topology": [{"key": "unread"}]},
    "resourceClaims": [{"name": "unread"}],
    "networkTopology": {"mode": "hard"},
    "subGroupPolicy": [{"minSubGroups": 1}],
}
"""Fields of a PodGroup, of Kubernetes or Volcano, of which only the presence is known."""
_LONG_AGO = "1970-01-01T00:00:00Z"


def manifests(state: ClusterState) -> Iterator[Object]:
    """Yield every object of a state in JSON's types: what is in no namespace, then claims, budgets, groups, pods."""
    yield from (_node(node) for _, node in sorted(state.nodes.items()))
    yield from (_class(priority_class) for _, priority_class in sorted(state.classes.items()))
    yield from (_namespace(namespace) for _, namespace in sorted(state.namespaces.items()))
    yield from (_volume(volume) for _, volume in sorted(state.volumes.items()))
    yield from (_claim(claim) for _, claim in sorted(state.claims.items()))
    yield from (_budget(budget) for _, budget in sorted(state.budgets.items()))
    yield from (_group(group) for _, group in sorted(state.scheduling_groups.items()))
    yield from (_composite(group) for _, group in sorted(state.composite_groups.items()))
    yield from (_pod_group(group) for _, group in sorted(state.pod_groups.items()))
    yield from (write_pod(pod) for pod in sorted(state.pods.values(), key=lambda pod: (pod.key, pod.uid)))


def _object(api: str, kind: str, **fields: Any) -> Object:
    return {"apiVersion": api, "kind": kind, **omit_empty(**fields)}


def _node(node: Node) -> Object:
    taints = [omit_empty(key=taint.key, value=taint.value, effect=taint.effect) for taint in node.taints]
    allocatable = format_amounts(dict(sorted(node.allocatable.items())))
    return _object(
        "v1",
        "Node",
        metadata=metadata(
            node.name, uid=node.uid, labels=texts(node.labels), annotations=_UNREAD if node.unread else {}
        ),
        spec=omit_empty(unschedulable=node.unschedulable, taints=taints),
        status={"allocatable": allocatable, "conditions": [{"type": "Ready", "status": str(node.ready)}]},
    )


def _class(priority_class: PriorityClass) -> Object:
    annotations = priority_class.annotations | (_UNREAD if priority_class.unread else {})
    named = metadata(
        priority_class.name,
        uid=priority_class.uid,
        resourceVersion=priority_class.version,
        labels=texts(priority_class.labels),
        annotations=texts(annotations),
    )
    return _object(
        "scheduling.k8s.io/v1",
        "PriorityClass",
        metadata=named,
        value=priority_class.value,
        globalDefault=priority_class.global_default,
        preemptionPolicy=_NEVER if priority_class.never_preempts else "",
        description=priority_class.description,
    )


def _namespace(namespace: Namespace) -> Object:
    annotations = {PARENT_QUEUE_ANNOTATION: namespace.parent_queue} if namespace.parent_queue else {}
    return _object(
        "v1", "Namespace", metadata=metadata(namespace.name, labels=texts(namespace.labels), annotations=annotations)
    )


def _volume(volume: Volume) -> Object:
    reach = node_selector(volume.node_affinity)
    return _object(
        "v1",
        "PersistentVolume",
        metadata=metadata(volume.name, labels={zone.key: "__".join(zone.values) for zone in volume.zones}),
        spec=omit_empty(nodeAffinity=reach and {"required": reach}),
    )


def _claim(claim: Claim) -> Object:
    leaving = not claim.volume and not claim.waiting
    owners = [{"kind": "Pod", "uid": claim.owner, "controller": True}] if claim.owner else []
    return _object(
        "v1",
        "PersistentVolumeClaim",
        metadata=metadata(
            claim.name,
            namespace=claim.namespace,
            annotations={BIND_COMPLETED: "yes"} if claim.volume else {},
            ownerReferences=owners,
            deletionTimestamp=_LONG_AGO if leaving else None,
        ),
        spec=omit_empty(volumeName=claim.volume, accessModes=["ReadWriteOncePod"] if claim.exclusive else []),
    )


def _budget(budget: DisruptionBudget) -> Object:
    met = selector(budget.expressions)
    return _object(
        "policy/v1",
        "PodDisruptionBudget",
        metadata=metadata(budget.name, namespace=budget.namespace),
        spec={} if met is None else {"selector": met},
        status=omit_empty(
            disruptionsAllowed=budget.allowed, disruptedPods=dict.fromkeys(sorted(budget.disrupted), _LONG_AGO)
        ),
    )


def _group(group: SchedulingGroup) -> Object:
    unread = {name: _UNREAD_FIELDS[name] for name in group.unread_rules}
    unread |= {"parentCompositePodGroupName": group.parent} if group.parent else {}
    return _object(
        "scheduling.k8s.io/v1beta1",
        "PodGroup",
        metadata=metadata(
            group.name,
            namespace=group.namespace,
            uid=group.uid,
            creationTimestamp=time_of(group.created_ms) if group.created_ms else None,
            annotations=_UNREAD if group.unread else {},
        ),
        spec=omit_empty(
            schedulingPolicy={"basic": {}} if group.min_count is None else {"gang": {"minCount": group.min_count}},
            disruptionMode={str(group.disruption_mode): {}},
            priority=group.priority,
            priorityClassName=group.priority_class,
            workloadRef={"workloadName": group.workload} if group.workload else {},
            **unread,
        ),
        status={} if group.scheduled is None else {"conditions": [_scheduled(group)]},
    )


def _composite(group: CompositeGroup) -> Object:
    gang = {"basic": {}} if group.min_groups is None else {"gang": {"minGroupCount": group.min_groups}}
    return _object(
        "scheduling.k8s.io/v1alpha3",
        "CompositePodGroup",
        metadata=metadata(group.name, namespace=group.namespace),
        spec=omit_empty(
            schedulingPolicy=gang,
            disruptionMode={str(group.disruption_mode): {}},
            priority=group.priority,
            parentCompositePodGroupName=group.parent,
        ),
    )


def _pod_group(group: PodGroup) -> Object:
    """Return the manifest of a PodGroup of Volcano; of the minimum of each task, only the sum is known."""
    return _object(
        VOLCANO,
        "PodGroup",
        metadata=metadata(
            group.name,
            namespace=group.namespace,
            uid=group.uid,
            creationTimestamp=time_of(group.created_ms) if group.created_ms else None,
        ),
        spec=omit_empty(
            queue=group.queue,
            minMember=group.min_member,
            minTaskMember={"tasks": group.min_task_members} if group.min_task_members else {},
            priorityClassName=group.priority_class,
            **{name: _UNREAD_FIELDS[name] for name in group.unread_rules},
        ),
        status=omit_empty(phase="Inqueue" if group.enqueued else "Pending", succeeded=group.succeeded),
    )


def _scheduled(group: SchedulingGroup) -> Object:
    status = str(bool(group.scheduled))
    return omit_empty(type=SCHEDULED, status=status, message=group.unschedulable_message)
