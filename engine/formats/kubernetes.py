"""Kubernetes objects -> the engine's types.

``decode_*`` read one object given as plain dictionaries (JSON, or YAML loaded safely), ``*_from_bytes`` one given as
JSON bytes, and ``cluster_state`` a whole pile of documents. Whatever is wrong with an object, the only error is
DecodeError.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from engine.formats.kubernetes_convert import (
    to_budget,
    to_claim,
    to_class_quota,
    to_namespace,
    to_node,
    to_pod,
    to_priority_class,
    to_volume,
)
from engine.formats.kubernetes_events import to_preempted, to_preempted_by_volcano, to_preempted_by_yunikorn
from engine.formats.kubernetes_unread import UNREAD_ANNOTATION
from engine.formats.kubernetes_wire import (
    BudgetObject,
    ClaimObject,
    EventObject,
    NamespaceObject,
    NodeObject,
    PodObject,
    PriorityClassObject,
    QuotaObject,
    VolumeObject,
)
from engine.formats.reading import DecodeError, Reader
from engine.snapshot import (
    Claim,
    ClassQuota,
    ClusterState,
    DisruptionBudget,
    Namespace,
    Node,
    Pod,
    Preempted,
    PriorityClass,
    Volume,
)

__all__ = [
    "DecodeError",
    "budget_from_bytes",
    "claim_from_bytes",
    "class_quota_from_bytes",
    "cluster_state",
    "decode_budget",
    "decode_node",
    "decode_pod",
    "decode_priority_class",
    "namespace_from_bytes",
    "node_from_bytes",
    "pod_from_bytes",
    "preempted_by_volcano_from_bytes",
    "preempted_by_yunikorn_from_bytes",
    "preempted_from_bytes",
    "priority_class_from_bytes",
    "to_budget",
    "to_node",
    "to_pod",
    "to_priority_class",
    "volume_from_bytes",
]

Markable = TypeVar("Markable", Pod, Node, PriorityClass)

_SYSTEM_CLASSES = (
    PriorityClass(name="system-cluster-critical", value=2_000_000_000),
    PriorityClass(name="system-node-critical", value=2_000_001_000),
)


_pods = Reader("Pod", PodObject, to_pod)
_nodes = Reader("Node", NodeObject, to_node)
_classes = Reader("PriorityClass", PriorityClassObject, to_priority_class)
_budgets = Reader("PodDisruptionBudget", BudgetObject, to_budget)
_quotas = Reader("ResourceQuota", QuotaObject, to_class_quota)
_preempted = Reader("Event", EventObject, to_preempted)
_preempted_by_yunikorn = Reader("Event", EventObject, to_preempted_by_yunikorn)
_preempted_by_volcano = Reader("Event", EventObject, to_preempted_by_volcano)
_namespaces = Reader("Namespace", NamespaceObject, to_namespace)
_claims = Reader("PersistentVolumeClaim", ClaimObject, to_claim)
_volumes = Reader("PersistentVolume", VolumeObject, to_volume)


def decode_pod(obj: Mapping[str, Any]) -> Pod:
    """One Pod manifest, as plain dictionaries. Raises DecodeError."""
    return _pods.from_dict(obj)


def decode_node(obj: Mapping[str, Any]) -> Node:
    """One Node manifest, as plain dictionaries. Raises DecodeError."""
    return _nodes.from_dict(obj)


def decode_priority_class(obj: Mapping[str, Any]) -> PriorityClass:
    """One PriorityClass manifest, as plain dictionaries. Raises DecodeError."""
    return _classes.from_dict(obj)


def decode_budget(obj: Mapping[str, Any]) -> DisruptionBudget:
    """One PodDisruptionBudget manifest, as plain dictionaries. Raises DecodeError."""
    return _budgets.from_dict(obj)


def decode_namespace(obj: Mapping[str, Any]) -> Namespace:
    """One Namespace manifest, as plain dictionaries. Raises DecodeError."""
    return _namespaces.from_dict(obj)


def decode_claim(obj: Mapping[str, Any]) -> Claim:
    """One PersistentVolumeClaim manifest, as plain dictionaries. Raises DecodeError."""
    return _claims.from_dict(obj)


def decode_volume(obj: Mapping[str, Any]) -> Volume:
    """One PersistentVolume manifest, as plain dictionaries. Raises DecodeError."""
    return _volumes.from_dict(obj)


def pod_from_bytes(data: bytes | msgspec.Raw) -> Pod:
    """One Pod in JSON. Raises DecodeError."""
    return _pods.from_bytes(data)


def node_from_bytes(data: bytes | msgspec.Raw) -> Node:
    """One Node in JSON. Raises DecodeError."""
    return _nodes.from_bytes(data)


def priority_class_from_bytes(data: bytes | msgspec.Raw) -> PriorityClass:
    """One PriorityClass in JSON. Raises DecodeError."""
    return _classes.from_bytes(data)


def budget_from_bytes(data: bytes | msgspec.Raw) -> DisruptionBudget:
    """One PodDisruptionBudget in JSON. Raises DecodeError."""
    return _budgets.from_bytes(data)


def class_quota_from_bytes(data: bytes | msgspec.Raw) -> ClassQuota:
    """One ResourceQuota in JSON, as far as it goes by priority class. Raises DecodeError."""
    return _quotas.from_bytes(data)


def preempted_from_bytes(data: bytes | msgspec.Raw) -> Preempted:
    """One Event with reason Preempted in JSON. Raises DecodeError."""
    return _preempted.from_bytes(data)


def preempted_by_yunikorn_from_bytes(data: bytes | msgspec.Raw) -> Preempted | None:
    """One Event with reason Informational in JSON, None where it is about something else. Raises DecodeError."""
    return _preempted_by_yunikorn.from_bytes(data)


def preempted_by_volcano_from_bytes(data: bytes | msgspec.Raw) -> Preempted | None:
    """One Event with reason Evict in JSON, None where it is about something else. Raises DecodeError."""
    return _preempted_by_volcano.from_bytes(data)


def namespace_from_bytes(data: bytes | msgspec.Raw) -> Namespace:
    """One Namespace in JSON. Raises DecodeError."""
    return _namespaces.from_bytes(data)


def claim_from_bytes(data: bytes | msgspec.Raw) -> Claim:
    """One PersistentVolumeClaim in JSON. Raises DecodeError."""
    return _claims.from_bytes(data)


def volume_from_bytes(data: bytes | msgspec.Raw) -> Volume:
    """One PersistentVolume in JSON. Raises DecodeError."""
    return _volumes.from_bytes(data)


def cluster_state(objects: Iterable[Mapping[str, Any] | None]) -> tuple[ClusterState, tuple[str, ...]]:
    """The state that the manifests describe, and ``Kind namespace/name`` of each that is of no kind read here.

    Lists (kind List, PodList ...) are taken apart, empty documents (None) passed over. A pod without a priority gets
    that of its PriorityClass, or of the default one, as on admission. Raises DecodeError for a document of a kind read
    here that can't be read.
    """
    state, ignored = ClusterState(), []
    classes = {one.name: one for one in _SYSTEM_CLASSES}
    pods: list[tuple[Pod, bool]] = []
    default: PriorityClass | None = None
    for obj in _taken_apart(objects):
        match obj.get("kind"):
            case "Pod":
                pods.append((_as_marked(decode_pod(obj), obj), _has_priority(obj)))
            case "Node":
                node = _as_marked(decode_node(obj), obj)
                state.nodes[node.name] = node
            case "PriorityClass":
                priority_class = _as_marked(decode_priority_class(obj), obj)
                state.classes[priority_class.name] = priority_class
                default = priority_class if obj.get("globalDefault") is True else default
            case "PodDisruptionBudget":
                budget = decode_budget(obj)
                state.budgets[budget.namespace, budget.name] = budget
            case "Namespace":
                namespace = _namespaces.from_dict(obj)
                state.namespaces[namespace.name] = namespace
            case "PersistentVolumeClaim":
                claim = _claims.from_dict(obj)
                state.claims[claim.namespace, claim.name] = claim
            case "PersistentVolume":
                volume = _volumes.from_dict(obj)
                state.volumes[volume.name] = volume
            case _:
                ignored.append(_described(obj))
    classes |= state.classes
    for pod, complete in pods:
        state.pods[pod.uid] = pod if complete else _admitted(pod, classes, default)
    return state, tuple(ignored)


def _taken_apart(objects: Iterable[Mapping[str, Any] | None]) -> Iterator[Mapping[str, Any]]:
    for obj in objects:
        if obj is None:
            continue
        if not isinstance(obj, Mapping):
            raise DecodeError("document", "", f"it is a {type(obj).__name__}, not an object")
        kind, items = obj.get("kind"), obj.get("items")
        if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
            named = {"kind": kind.removesuffix("List")} if kind != "List" else {}
            yield from _taken_apart({**named, **item} if isinstance(item, Mapping) else item for item in items)
        else:
            yield obj


def _as_marked(one: Markable, obj: Mapping[str, Any]) -> Markable:
    """The object; unread where a saved snapshot says that it was."""
    annotations = obj["metadata"].get("annotations") or {}
    if annotations.get(UNREAD_ANNOTATION) != "true":
        return one
    if isinstance(one, PriorityClass):
        return msgspec.structs.replace(one, opted_out=True, unread=True)
    return msgspec.structs.replace(one, unread=True)


def _has_priority(obj: Mapping[str, Any]) -> bool:
    return (obj.get("spec") or {}).get("priority") is not None


def _admitted(pod: Pod, classes: Mapping[str, PriorityClass], default: PriorityClass | None) -> Pod:
    found = classes.get(pod.priority_class) if pod.priority_class else default
    if found is None:
        return pod
    return msgspec.structs.replace(
        pod,
        priority=found.value,
        priority_class=found.name,
        never_preempts=pod.never_preempts or found.never_preempts,
    )


def _described(obj: Mapping[str, Any]) -> str:
    meta = obj.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}
    name = "/".join(str(part) for part in (meta.get("namespace"), meta.get("name")) if part)
    return f"{obj.get('kind') or 'object without a kind'} {name}".strip()
