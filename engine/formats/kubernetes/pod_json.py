"""Reads pods from JSON. The parts that the pods of a workload have in common are decoded and converted only once.

Such pods differ in a few fields: names, times, nodes and conditions. All other fields are compared as they are written.
If they are the same in a pod that was read before, byte by byte, then the new pod is made from that pod by replacing
these few fields. The result is always the same as that of decoding the whole pod.
"""

from collections.abc import Hashable
from datetime import datetime
from sys import intern

import msgspec
from msgspec import Raw

from engine.formats.kubernetes.convert import is_remarkable, to_ms, to_pod
from engine.formats.kubernetes.interning import shared
from engine.formats.kubernetes.reader import Reader
from engine.formats.kubernetes.wire import ClaimSource, Condition, ContainerPort, PodObject, Presence, Wire
from engine.model.objects import Pod

_ABSENT = Raw(b"")


class _Meta(Wire, frozen=True):
    name: str = ""
    namespace: str | None = None
    uid: str | None = None
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: Raw = _ABSENT
    annotations: Raw = _ABSENT
    owner_references: Raw = _ABSENT


class _Container(Wire, frozen=True):
    name: str | None = None
    resources: Raw = _ABSENT
    ports: tuple[ContainerPort, ...] | None = None
    restart_policy: str | None = None


class _Volume(Wire, frozen=True):
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: Presence | None = None
    gce_persistent_disk: Presence | None = None
    aws_elastic_block_store: Presence | None = None
    iscsi: Presence | None = None
    rbd: Presence | None = None


class _Spec(Wire, frozen=True):
    node_name: str | None = None
    containers: tuple[_Container, ...] | None = None
    init_containers: tuple[_Container, ...] | None = None
    overhead: Raw = _ABSENT
    resources: Raw = _ABSENT
    priority: int | None = None
    priority_class_name: str | None = None
    preemption_policy: str | None = None
    scheduler_name: str | None = None
    scheduling_gates: tuple[Presence, ...] | None = None
    termination_grace_period_seconds: int | None = None
    node_selector: Raw = _ABSENT
    affinity: Raw = _ABSENT
    tolerations: Raw = _ABSENT
    topology_spread_constraints: Raw = _ABSENT
    volumes: tuple[_Volume, ...] | None = None
    resource_claims: tuple[Presence, ...] | None = None
    host_network: bool | None = None
    scheduling_group: Raw = _ABSENT


class _ContainerStatus(Wire, frozen=True):
    name: str | None = None
    resources: Raw = _ABSENT
    allocated_resources: Raw = _ABSENT


class _Status(Wire, frozen=True):
    phase: str | None = None
    start_time: datetime | None = None
    conditions: tuple[Condition, ...] | None = None
    nominated_node_name: str | None = None
    container_statuses: tuple[_ContainerStatus, ...] | None = None
    init_container_statuses: tuple[_ContainerStatus, ...] | None = None
    resources: Raw = _ABSENT
    allocated_resources: Raw = _ABSENT


class _Brief(Wire, frozen=True):
    """A pod, in which the parts that many pods have in common are not decoded."""

    metadata: _Meta
    spec: _Spec
    status: _Status


class PodReader(Reader[PodObject, Pod]):
    """Decodes pods from dictionaries or JSON."""

    def __init__(self) -> None:
        super().__init__("Pod", PodObject, to_pod)
        self._briefs = msgspec.json.Decoder(_Brief)

    def from_bytes(self, data: bytes | Raw) -> Pod:
        """Decode a pod given as JSON. Raise DecodeError if it is invalid."""
        try:
            brief = self._briefs.decode(data)
        except (ValueError, RecursionError):
            return super().from_bytes(data)  # which tells what is wrong, unless only a part was missing
        if not _is_common(brief):
            return super().from_bytes(data)
        like = _pods_like(_common_parts(brief))
        if like:
            return _made_from(like[0], brief)
        pod = super().from_bytes(data)
        if not _has_own_parts(pod):
            like.append(pod)
        return pod


def _is_common(brief: _Brief) -> bool:
    """Return whether a pod is in a state that most pods are in, in which few of its fields are its own."""
    meta, status = brief.metadata, brief.status
    return bool(
        meta.name
        and meta.deletion_timestamp is None
        and not status.nominated_node_name
        and not any(map(is_remarkable, status.conditions or ()))
    )


def _has_own_parts(pod: Pod) -> bool:
    """Return whether parts of the pod are named after it, although they are written as in other pods."""
    return bool(pod.own_claims) or pod.uid in pod.application_label


@shared
def _pods_like(_parts: Hashable) -> list[Pod]:
    """Return a pod with these parts, once one was read and put into the list."""
    return []


def _made_from(like: Pod, brief: _Brief) -> Pod:
    meta, node, status = brief.metadata, brief.spec.node_name, brief.status
    return msgspec.structs.replace(
        like,
        uid=meta.uid or f"{like.namespace}/{meta.name}",
        name=meta.name,
        created_ms=0 if meta.creation_timestamp is None else to_ms(meta.creation_timestamp),
        started_ms=None if status.start_time is None else to_ms(status.start_time),
        node=intern(node) if node else None,
    )


def _common_parts(brief: _Brief) -> Hashable:
    """Return all that a pod is made of, except for what ``_made_from`` replaces."""
    meta, spec, status = brief.metadata, brief.spec, brief.status
    return (
        meta.namespace,
        bool(meta.uid),
        bool(spec.node_name),
        spec.priority,
        spec.priority_class_name,
        spec.preemption_policy,
        spec.scheduler_name,
        spec.scheduling_gates,
        spec.termination_grace_period_seconds,
        spec.volumes,
        spec.resource_claims,
        spec.host_network,
        status.phase,
        *map(
            bytes,
            (
                meta.labels,
                meta.annotations,
                meta.owner_references,
                spec.overhead,
                spec.resources,
                spec.node_selector,
                spec.affinity,
                spec.tolerations,
                spec.topology_spread_constraints,
                spec.scheduling_group,
                status.resources,
                status.allocated_resources,
            ),
        ),
        _containers(spec.containers),
        spec.init_containers and _containers(spec.init_containers),
        _statuses(status.container_statuses),
        status.init_container_statuses and _statuses(status.init_container_statuses),
    )


def _containers(containers: tuple[_Container, ...] | None) -> Hashable:
    return tuple([(one.name, bytes(one.resources), one.ports, one.restart_policy) for one in containers or ()])


def _statuses(statuses: tuple[_ContainerStatus, ...] | None) -> Hashable:
    return tuple([(one.name, bytes(one.resources), bytes(one.allocated_resources)) for one in statuses or ()])
