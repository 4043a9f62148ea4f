"""Placeholders for objects that can't be read, so that the resources they hold do not count as free.

What was known of the object before is kept, and marked as unread. For an object that was never read, only its identity
is known, and every other part that can be read by itself. Where an assumption is needed, it is the one that leads to
the least preemption.
"""

from typing import TypeVar

import msgspec

from engine.formats.kubernetes.convert import FINISHED, queue_label
from engine.formats.kubernetes.wire import Identity, NamedObject, PodStatus, Wire
from engine.model.objects import DisruptionBudget, Node, Pod, PriorityClass, SchedulingGroup

UNREAD_ANNOTATION = "scheduler-admin.io/unread"
"""Annotation in a saved snapshot that marks a placeholder for an object that could not be read."""
_ABOVE_ALL = 2**31 - 1
"""No pod can have a higher priority."""
Part = TypeVar("Part")
Data = bytes | msgspec.Raw


class _Labels(Wire, frozen=True):
    labels: dict[str, str] | None = None


class _Labelled(Wire, frozen=True):
    metadata: _Labels = _Labels()


class _Place(Wire, frozen=True):
    node_name: str | None = None


class _Placed(Wire, frozen=True):
    spec: _Place | None = None


class _InPhase(Wire, frozen=True):
    status: PodStatus | None = None


def unread_pod(data: Data, known: Pod | None) -> Pod:
    """Return a placeholder for a pod, which occupies an unknown amount on its node and in its queue.

    Raise msgspec.DecodeError if the pod's identity can't be read.
    """
    meta = _meta(data)
    labels = _part(data, _Labelled()).metadata.labels
    spec, status = _part(data, _Placed()).spec, _part(data, _InPhase()).status
    if known is None:
        namespace, name = meta.namespace or "default", meta.name or ""
        known = Pod(uid=meta.uid or f"{namespace}/{name}", namespace=namespace, name=name)
    return msgspec.structs.replace(
        known,
        unread=True,
        node=(spec and spec.node_name) or known.node,
        queue_label=queue_label(labels) if labels else known.queue_label,
        finished=known.finished or bool(status and status.phase in FINISHED),
    )


def unread_node(data: Data, known: Node | None) -> Node:
    """Return a placeholder for a node, which accepts no pods. Raise msgspec.DecodeError."""
    return msgspec.structs.replace(known or Node(name=_meta(data).name or ""), unread=True)


def unread_class(data: Data, known: PriorityClass | None) -> PriorityClass:
    """Return a placeholder for a priority class, whose pods count as opted out. Raise msgspec.DecodeError."""
    return msgspec.structs.replace(known or PriorityClass(name=_meta(data).name or ""), opted_out=True, unread=True)


def unread_budget(data: Data, known: DisruptionBudget | None) -> DisruptionBudget:
    """Return a placeholder for a disruption budget, which allows no disruption.

    It covers the same pods as before, or the whole namespace if it was never read. Raise msgspec.DecodeError.
    """
    meta = _meta(data)
    nothing = DisruptionBudget(namespace=meta.namespace or "default", name=meta.name or "")
    return msgspec.structs.replace(known or nothing, allowed=0)


def unread_group(data: Data, known: SchedulingGroup | None) -> SchedulingGroup:
    """Return a placeholder for a PodGroup, for which nothing is decided.

    If it was never read, it has the highest priority, so that none of its pods is a victim. Raise msgspec.DecodeError.
    """
    meta = _meta(data)
    nothing = SchedulingGroup(
        namespace=meta.namespace or "default", name=meta.name or "", uid=meta.uid or "", priority=_ABOVE_ALL
    )
    return msgspec.structs.replace(known or nothing, unread=True)


def no_placeholder(_data: Data, _known: object) -> None:
    """Return no placeholder: nothing is assumed about a namespace, claim or volume that can't be read."""


def _meta(data: Data) -> Identity:
    return msgspec.json.decode(data, type=NamedObject).metadata


def _part(data: Data, nothing: Part) -> Part:
    """Decode a part of an object; return ``nothing`` if that can't be read either."""
    try:
        return msgspec.json.decode(data, type=type(nothing))
    except (ValueError, RecursionError):
        return nothing
