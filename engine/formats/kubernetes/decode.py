"""Kubernetes objects -> the engine's types.

``decode_*`` read one object given as plain dictionaries (JSON, or YAML loaded safely), ``*_from_bytes`` one given as
JSON bytes, and ``cluster_state`` a whole pile of documents. Whatever is wrong with an object, the only error is
DecodeError.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from engine.formats.kubernetes.convert import (
    to_budget,
    to_claim,
    to_class_quota,
    to_namespace,
    to_node,
    to_pod,
    to_priority_class,
    to_volume,
)
from engine.formats.kubernetes.events import to_preempted, to_preempted_by_volcano, to_preempted_by_yunikorn
from engine.formats.kubernetes.placeholders import (
    UNREAD_ANNOTATION,
    unread_budget,
    unread_class,
    unread_node,
    unread_pod,
)
from engine.formats.kubernetes.reader import DecodeError, Reader
from engine.formats.kubernetes.wire import (
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
from engine.formats.undecodable import UNDECODABLE
from engine.model.objects import (
    Claim,
    ClassQuota,
    DisruptionBudget,
    Namespace,
    Node,
    Pod,
    Preempted,
    PriorityClass,
    Volume,
)
from engine.model.snapshot import ClusterState

__all__ = [
    "DecodeError",
    "DecodedManifests",
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


class DecodedManifests(NamedTuple):
    """What manifests describe."""

    state: ClusterState
    ignored: tuple[str, ...]
    """``Kind namespace/name`` of each object that is of no kind read here."""
    unread: tuple[str, ...]
    """A sentence for each object of a kind read here that could not be read: it stands in the state as unread."""


def cluster_state(objects: Iterable[Mapping[str, Any] | None]) -> DecodedManifests:
    """The state that the manifests describe.

    Lists (kind List, PodList ...) are taken apart, empty documents (None) passed over. A pod without a priority gets
    that of its PriorityClass, or, while it is not bound, that of the default class, as on admission. An object that
    can't be read stops nobody else. Raises DecodeError for what is no object, or an object without a name.
    """
    state, ignored, unread, default = ClusterState(), list[str](), list[str](), None
    incomplete: list[str] = []
    for obj in _taken_apart(objects):
        try:
            known = _put(obj, state)
        except DecodeError as error:
            if not error.name or not _stand_in(obj, state):
                raise
            unread.append(str(error))
            continue
        if not known:
            ignored.append(_described(obj))
        elif obj.get("kind") == "Pod" and not _has_priority(obj):
            incomplete.append(next(reversed(state.pods)))
        elif obj.get("kind") == "PriorityClass" and obj.get("globalDefault") is True:
            default = next(reversed(state.classes.values()))
    classes = {one.name: one for one in _SYSTEM_CLASSES} | state.classes
    for uid in incomplete:
        state.pods[uid] = _admitted(state.pods[uid], classes, default)
    return DecodedManifests(state, tuple(ignored), tuple(unread))


def _put(obj: Mapping[str, Any], state: ClusterState) -> bool:
    """Put an object into the state, as its last one; whether it is of a kind that is read here. Raises DecodeError."""
    match obj.get("kind"):
        case "Pod":
            pod = _as_marked(decode_pod(obj), obj)
            state.pods.pop(pod.uid, None)
            state.pods[pod.uid] = pod
        case "Node":
            node = _as_marked(decode_node(obj), obj)
            state.nodes[node.name] = node
        case "PriorityClass":
            priority_class = _as_marked(decode_priority_class(obj), obj)
            state.classes.pop(priority_class.name, None)
            state.classes[priority_class.name] = priority_class
        case "PodDisruptionBudget":
            budget = decode_budget(obj)
            state.budgets[budget.namespace, budget.name] = budget
        case "ResourceQuota":
            quota = _quotas.from_dict(obj)
            state.quotas[quota.namespace, quota.name] = quota
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
            return False
    return True


def _stand_in(obj: Mapping[str, Any], state: ClusterState) -> bool:
    """Put into the state what stands for an object that can't be read, unless its name can't be read either.

    Nothing stands for claims, volumes and namespaces.
    """
    try:
        _put_unread(obj, state)
    except (TypeError, OverflowError, *UNDECODABLE):
        return False
    return True


def _put_unread(obj: Mapping[str, Any], state: ClusterState) -> None:
    data = msgspec.json.encode(obj, enc_hook=str)
    match obj.get("kind"):
        case "Pod":
            pod = unread_pod(data, None)
            state.pods[pod.uid] = pod
        case "Node":
            node = unread_node(data, None)
            state.nodes[node.name] = node
        case "PriorityClass":
            priority_class = unread_class(data, None)
            state.classes[priority_class.name] = priority_class
        case "PodDisruptionBudget":
            budget = unread_budget(data, None)
            state.budgets[budget.namespace, budget.name] = budget
        case _:
            pass


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
    """The pod as its class makes it. Of a bound one without a class nothing is made up: it counts as priority 0."""
    usual = default if pod.node is None else None
    found = classes.get(pod.priority_class) if pod.priority_class else usual
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
