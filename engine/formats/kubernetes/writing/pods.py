"""Writing of pods as manifests, each with a single container that requests all of the pod's resources.

The container has no image.
"""

import msgspec

from engine.formats.kubernetes.checkpoints import CHECKPOINT_ANNOTATION
from engine.formats.kubernetes.convert import (
    APPLICATION_ANNOTATIONS,
    MIRROR_ANNOTATION,
    NEVER,
    OPT_OUT_ANNOTATION,
    QUEUE_ANNOTATIONS,
    SCORED_ANNOTATION,
    WORKLOAD_ANNOTATION,
    application_label,
    queue_label,
)
from engine.formats.kubernetes.placeholders import UNREAD_ANNOTATION
from engine.formats.kubernetes.pod_requests import LEAST_SCORED
from engine.formats.kubernetes.writing.constraints import (
    Object,
    affinity,
    metadata,
    omit_empty,
    ports,
    spread,
    texts,
    time_of,
)
from engine.formats.kubernetes.writing.constraints import tolerations as written_tolerations
from engine.formats.volcano.eviction_message import GROUP_ANNOTATIONS, PREEMPTABLE, format_eviction
from engine.formats.yunikorn.submitter import USER_INFO_ANNOTATION, submitter
from engine.formats.yunikorn.task_groups import (
    HARD_GANG,
    PARAMETERS_ANNOTATION,
    PLACEHOLDER_ANNOTATION,
    TASK_GROUP_ANNOTATION,
    TASK_GROUPS_ANNOTATION,
    write_task_groups,
)
from engine.model.objects import EVICTION_BY_VOLCANO, GroupKind, Pod, referenced_group
from engine.model.quantities import PODS, Amounts, format_amounts
from engine.model.snapshot.eviction_units import names_pod_group

_API = {
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "ReplicationController": "v1",
    "Job": "batch/v1",
}
"""Kind of a controller -> its API version; for other kinds it is unknown."""


def write_pod(pod: Pod) -> Object:
    """Return the manifest of a pod, which ``to_pod`` reads back.

    The pod must come from a cluster state; a pod of a snapshot, which has its queue resolved, does not work.
    """
    return {"apiVersion": "v1", "kind": "Pod", "metadata": _metadata(pod), "spec": _spec(pod), "status": _status(pod)}


def _metadata(pod: Pod) -> Object:
    grace_s = pod.grace_s if pod.terminating else None
    ends_ms = (pod.created_ms if pod.deleted_ms is None else pod.deleted_ms) + 1000 * pod.grace_s
    return metadata(
        pod.name,
        namespace=pod.namespace,
        uid=pod.uid,
        creationTimestamp=time_of(pod.created_ms) if pod.created_ms else None,
        deletionTimestamp=time_of(ends_ms) if pod.terminating else None,
        deletionGracePeriodSeconds=grace_s,
        labels=texts(pod.labels),
        annotations=_annotations(pod),
        ownerReferences=_owners(pod),
    )


def _annotations(pod: Pod) -> dict[str, str]:
    kind, _name = referenced_group(pod.scheduling_group)
    annotations = {
        WORKLOAD_ANNOTATION: pod.workload,
        GROUP_ANNOTATIONS[0]: pod.pod_group,
        TASK_GROUP_ANNOTATION: pod.task_group,
        TASK_GROUPS_ANNOTATION: write_task_groups(pod.task_groups),
        PARAMETERS_ANNOTATION: HARD_GANG if pod.hard_gang else "",
        PLACEHOLDER_ANNOTATION: "true" if kind is GroupKind.YUNIKORN else "",
        PREEMPTABLE: "false" if pod.kept_by_volcano else "",
        MIRROR_ANNOTATION: "mirror" if pod.mirror else "",
        OPT_OUT_ANNOTATION: {True: "false", False: "true", None: ""}[pod.own_opt_out],
        CHECKPOINT_ANNOTATION: pod.odd_checkpoint or time_of(pod.checkpoint_ms) or "",
        UNREAD_ANNOTATION: "true" if pod.unread else "",
    }
    if pod.queue_label != queue_label(pod.labels):
        annotations[QUEUE_ANNOTATIONS[0]] = pod.queue_label
    if pod.application_label != application_label(pod.labels, {}, pod.uid):
        annotations[APPLICATION_ANNOTATIONS[0]] = pod.application_label
    if (pod.user, pod.groups) != submitter(pod.labels, {}):
        annotations[USER_INFO_ANNOTATION] = msgspec.json.encode({"user": pod.user, "groups": pod.groups}).decode()
    if pod.scored_requests != _scored_as_written(pod):
        annotations[SCORED_ANNOTATION] = msgspec.json.encode(pod.scored_requests).decode()
    return {key: value for key, value in sorted(annotations.items()) if value}


def _scored_as_written(pod: Pod) -> Amounts:
    """Return the requests that are read from the pod's one written container where nodes are compared."""
    requests = {name: pod.requests[name] for name in LEAST_SCORED if name in pod.requests}
    return {} if len(requests) == len(LEAST_SCORED) else LEAST_SCORED | requests


def _owners(pod: Pod) -> list[Object]:
    if not pod.controller:
        return []
    kind, _slash, name = pod.controller.partition("/")
    api, uid = _API.get(kind, ""), f"{pod.namespace}/{pod.controller}"
    return [omit_empty(apiVersion=api, kind=kind, name=name, uid=uid) | {"controller": True}]


def _spec(pod: Pod) -> Object:
    return omit_empty(
        nodeName=pod.node,
        schedulerName=pod.scheduler,
        priority=pod.priority,
        priorityClassName=pod.priority_class,
        preemptionPolicy=NEVER if pod.never_preempts else "",
        terminationGracePeriodSeconds=pod.grace_s,
        schedulingGates=[{"name": "gated"}] if pod.gated else [],
        containers=[_container(pod)],
        nodeSelector=texts(pod.node_selector),
        affinity=affinity(pod),
        tolerations=written_tolerations(pod.tolerations),
        topologySpreadConstraints=spread(pod),
        volumes=_volumes(pod),
        resourceClaims=[{"name": "claimed"}] if "resourceClaims" in pod.unread_rules else [],
        schedulingGroup={"podGroupName": pod.scheduling_group} if names_pod_group(pod) else {},
    )


def _container(pod: Pod) -> Object:
    requests = {resource: amount for resource, amount in sorted(pod.requests.items()) if resource != PODS}
    return omit_empty(name="main", resources={"requests": format_amounts(requests)}, ports=ports(pod.host_ports))


def _volumes(pod: Pod) -> list[Object]:
    claimed = [
        {"name": f"claim-{n}", "persistentVolumeClaim": {"claimName": name}} for n, name in enumerate(pod.claims)
    ]
    ephemeral = [{"name": name.removeprefix(f"{pod.name}-"), "ephemeral": {}} for name in pod.own_claims]
    unjudged = [{"name": "unjudged", "gcePersistentDisk": {}}] if "volumes" in pod.unread_rules else []
    return [*claimed, *ephemeral, *unjudged]


def _status(pod: Pod) -> Object:
    phase = "Succeeded" if pod.finished else "Running" if pod.started_ms is not None else "Pending"
    return omit_empty(
        phase=phase,
        startTime=time_of(pod.started_ms),
        conditions=_conditions(pod),
        nominatedNodeName=pod.nominated_node,
    )


def _conditions(pod: Pod) -> list[Object]:
    conditions = []
    if pod.unschedulable_ms is not None:
        conditions.append(
            _condition("PodScheduled", "False", "Unschedulable", pod.unschedulable_ms, pod.unschedulable_message)
        )
    if pod.disruption == EVICTION_BY_VOLCANO:
        conditions.append(
            _condition("Ready", "False", pod.disruption, pod.disrupted_ms, format_eviction(pod.disruption_message))
        )
    elif pod.disruption or pod.disrupted_ms is not None:
        conditions.append(
            _condition("DisruptionTarget", "True", pod.disruption, pod.disrupted_ms, pod.disruption_message)
        )
    if pod.resize_deferred:
        conditions.append(_condition("PodResizePending", "True", "Deferred", None, ""))
    return conditions


def _condition(kind: str, status: str, reason: str, at_ms: int | None, message: str) -> Object:
    return omit_empty(type=kind, status=status, reason=reason, lastTransitionTime=time_of(at_ms), message=message)
