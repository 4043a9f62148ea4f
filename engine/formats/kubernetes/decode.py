"""Decoders of Kubernetes objects into the engine's types.

``decode_*`` read an object given as plain dictionaries (JSON, or YAML loaded safely), the readers an object given as
JSON bytes, and ``cluster_state`` a collection of documents. The only error that they raise for an invalid object is
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
    unread_group,
    unread_node,
    unread_pod,
)
from engine.formats.kubernetes.pod_groups import COMPOSITE_GROUP_READER, SCHEDULING_GROUP_READER, is_scheduling_group
from engine.formats.kubernetes.pod_json import PodReader
from engine.formats.kubernetes.reader import DecodeError, Reader
from engine.formats.kubernetes.wire import (
    BudgetObject,
    ClaimObject,
    EventObject,
    NamespaceObject,
    NodeObject,
    PriorityClassObject,
    QuotaObject,
    VolumeObject,
)
from engine.formats.undecodable import UNDECODABLE
from engine.formats.volcano.pod_groups import GROUP_READER, is_volcano_group
from engine.model.objects import (
    Claim,
    DisruptionBudget,
    Namespace,
    Node,
    Pod,
    PriorityClass,
    SchedulingGroup,
    Volume,
)
from engine.model.snapshot import ClusterState

__all__ = [
    "BUDGET_READER",
    "CLAIM_READER",
    "CLASS_QUOTA_READER",
    "NAMESPACE_READER",
    "NODE_READER",
    "POD_READER",
    "PREEMPTED_BY_VOLCANO_READER",
    "PREEMPTED_BY_YUNIKORN_READER",
    "PREEMPTED_READER",
    "PRIORITY_CLASS_READER",
    "VOLUME_READER",
    "DecodeError",
    "DecodedManifests",
    "cluster_state",
    "decode_budget",
    "decode_node",
    "decode_pod",
    "decode_priority_class",
    "to_budget",
    "to_node",
    "to_pod",
    "to_priority_class",
]

Markable = TypeVar("Markable", Pod, Node, PriorityClass, SchedulingGroup)

_SYSTEM_CLASSES = (
    PriorityClass(name="system-cluster-critical", value=2_000_000_000),
    PriorityClass(name="system-node-critical", value=2_000_001_000),
)


POD_READER = PodReader()
NODE_READER = Reader("Node", NodeObject, to_node)
PRIORITY_CLASS_READER = Reader("PriorityClass", PriorityClassObject, to_priority_class)
BUDGET_READER = Reader("PodDisruptionBudget", BudgetObject, to_budget)
CLASS_QUOTA_READER = Reader("ResourceQuota", QuotaObject, to_class_quota)
PREEMPTED_READER = Reader("Event", EventObject, to_preempted)
PREEMPTED_BY_YUNIKORN_READER = Reader("Event", EventObject, to_preempted_by_yunikorn)
PREEMPTED_BY_VOLCANO_READER = Reader("Event", EventObject, to_preempted_by_volcano)
NAMESPACE_READER = Reader("Namespace", NamespaceObject, to_namespace)
CLAIM_READER = Reader("PersistentVolumeClaim", ClaimObject, to_claim)
VOLUME_READER = Reader("PersistentVolume", VolumeObject, to_volume)


def decode_pod(obj: Mapping[str, Any]) -> Pod:
    """Decode a Pod from plain dictionaries. Raise DecodeError if it is invalid."""
    return POD_READER.from_dict(obj)


def decode_node(obj: Mapping[str, Any]) -> Node:
    """Decode a Node from plain dictionaries. Raise DecodeError if it is invalid."""
    return NODE_READER.from_dict(obj)


def decode_priority_class(obj: Mapping[str, Any]) -> PriorityClass:
    """Decode a PriorityClass from plain dictionaries. Raise DecodeError if it is invalid."""
    return PRIORITY_CLASS_READER.from_dict(obj)


def decode_budget(obj: Mapping[str, Any]) -> DisruptionBudget:
    """Decode a PodDisruptionBudget from plain dictionaries. Raise DecodeError if it is invalid."""
    return BUDGET_READER.from_dict(obj)


def decode_namespace(obj: Mapping[str, Any]) -> Namespace:
    """Decode a Namespace from plain dictionaries. Raise DecodeError if it is invalid."""
    return NAMESPACE_READER.from_dict(obj)


def decode_scheduling_group(obj: Mapping[str, Any]) -> SchedulingGroup:
    """Decode a PodGroup of scheduling.k8s.io from plain dictionaries. Raise DecodeError if it is invalid."""
    return SCHEDULING_GROUP_READER.from_dict(obj)


def decode_claim(obj: Mapping[str, Any]) -> Claim:
    """Decode a PersistentVolumeClaim from plain dictionaries. Raise DecodeError if it is invalid."""
    return CLAIM_READER.from_dict(obj)


def decode_volume(obj: Mapping[str, Any]) -> Volume:
    """Decode a PersistentVolume from plain dictionaries. Raise DecodeError if it is invalid."""
    return VOLUME_READER.from_dict(obj)


class DecodedManifests(NamedTuple):
    """The cluster state that manifests describe, with the objects that were ignored or unreadable."""

    state: ClusterState
    ignored: tuple[str, ...]
    """``Kind namespace/name`` of each object of a kind that is not read here."""
    unread: tuple[str, ...]
    """A sentence for each object that could not be read; the state has a placeholder for it, marked as unread."""


def cluster_state(objects: Iterable[Mapping[str, Any] | None]) -> DecodedManifests:
    """Return the cluster state that the manifests describe.

    Lists (kind List, PodList ...) are split into their items, and empty documents (None) are ignored. A pod without a
    priority gets that of its PriorityClass or, while it is not bound, that of the default class, as on admission. An
    object that can't be read does not affect the others. Raise DecodeError for a document that is no object, or for an
    unreadable object without a name.
    """
    state, ignored, unread, default = ClusterState(), list[str](), list[str](), None
    incomplete: list[str] = []
    for obj in _flatten_lists(objects):
        try:
            known = _put(obj, state)
        except DecodeError as error:
            if not error.name or not _put_placeholder(obj, state):
                raise
            unread.append(str(error))
            continue
        if not known:
            ignored.append(_described(obj))
        elif obj.get("kind") == "Pod" and not _has_priority(obj):
            incomplete.append(state.pods.changed_last or "")
        elif obj.get("kind") == "PriorityClass" and obj.get("globalDefault") is True:
            default = next(reversed(state.classes.values()))
    classes = {priority_class.name: priority_class for priority_class in _SYSTEM_CLASSES} | state.classes
    for uid in incomplete:
        state.pods[uid] = _with_class_priority(state.pods[uid], classes, default)
    return DecodedManifests(state, tuple(ignored), tuple(unread))


def _put(obj: Mapping[str, Any], state: ClusterState) -> bool:
    """Put an object into the state, as its last one; return whether its kind is read here. Raise DecodeError."""
    match obj.get("kind"):
        case "Pod":
            pod = _restore_unread_mark(decode_pod(obj), obj)
            state.pods.pop(pod.uid, None)
            state.pods[pod.uid] = pod
        case "Node":
            node = _restore_unread_mark(decode_node(obj), obj)
            state.nodes[node.name] = node
        case "PriorityClass":
            priority_class = _restore_unread_mark(decode_priority_class(obj), obj)
            state.classes.pop(priority_class.name, None)
            state.classes[priority_class.name] = priority_class
        case "PodDisruptionBudget":
            budget = decode_budget(obj)
            state.budgets[budget.namespace, budget.name] = budget
        case "ResourceQuota":
            quota = CLASS_QUOTA_READER.from_dict(obj)
            state.quotas[quota.namespace, quota.name] = quota
        case "Namespace":
            namespace = NAMESPACE_READER.from_dict(obj)
            state.namespaces[namespace.name] = namespace
        case "PersistentVolumeClaim":
            claim = CLAIM_READER.from_dict(obj)
            state.claims[claim.namespace, claim.name] = claim
        case "PersistentVolume":
            volume = VOLUME_READER.from_dict(obj)
            state.volumes[volume.name] = volume
        case "PodGroup" if is_scheduling_group(obj):
            group = _restore_unread_mark(SCHEDULING_GROUP_READER.from_dict(obj), obj)
            state.scheduling_groups[group.namespace, group.name] = group
        case "PodGroup" if is_volcano_group(obj):
            pod_group = GROUP_READER.from_dict(obj)
            state.pod_groups[pod_group.namespace, pod_group.name] = pod_group
        case "CompositePodGroup":
            composite = COMPOSITE_GROUP_READER.from_dict(obj)
            state.composite_groups[composite.namespace, composite.name] = composite
        case _:
            return False
    return True


def _put_placeholder(obj: Mapping[str, Any], state: ClusterState) -> bool:
    """Put a placeholder for an unreadable object into the state; return whether its identity could be read.

    Claims, volumes and namespaces get no placeholder.
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
        case "PodGroup" if is_scheduling_group(obj):
            group = unread_group(data, None)
            state.scheduling_groups[group.namespace, group.name] = group
        case _:
            pass


def _flatten_lists(objects: Iterable[Mapping[str, Any] | None]) -> Iterator[Mapping[str, Any]]:
    for obj in objects:
        if obj is None:
            continue
        if not isinstance(obj, Mapping):
            raise DecodeError("document", "", f"it is a {type(obj).__name__}, not an object")
        kind, items = obj.get("kind"), obj.get("items")
        if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
            named = {"kind": kind.removesuffix("List")} if kind != "List" else {}
            yield from _flatten_lists({**named, **item} if isinstance(item, Mapping) else item for item in items)
        else:
            yield obj


def _restore_unread_mark(decoded: Markable, obj: Mapping[str, Any]) -> Markable:
    """Return the object, marked as unread if a saved snapshot marks it so."""
    annotations = obj["metadata"].get("annotations") or {}
    if annotations.get(UNREAD_ANNOTATION) != "true":
        return decoded
    if isinstance(decoded, PriorityClass):
        return msgspec.structs.replace(decoded, opted_out=True, unread=True)
    return msgspec.structs.replace(decoded, unread=True)


def _has_priority(obj: Mapping[str, Any]) -> bool:
    return (obj.get("spec") or {}).get("priority") is not None


def _with_class_priority(pod: Pod, classes: Mapping[str, PriorityClass], default: PriorityClass | None) -> Pod:
    """Return the pod with the priority of its class, as admission sets it.

    For a bound pod without a class nothing is assumed: it has priority 0.
    """
    default_class = default if pod.node is None else None
    priority_class = classes.get(pod.priority_class) if pod.priority_class else default_class
    if priority_class is None:
        return pod
    return msgspec.structs.replace(
        pod,
        priority=priority_class.value,
        priority_class=priority_class.name,
        never_preempts=pod.never_preempts or priority_class.never_preempts,
    )


def _described(obj: Mapping[str, Any]) -> str:
    meta = obj.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}
    name = "/".join(str(part) for part in (meta.get("namespace"), meta.get("name")) if part)
    return f"{obj.get('kind') or 'object without a kind'} {name}".strip()
