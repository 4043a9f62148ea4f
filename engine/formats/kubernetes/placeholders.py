"""What stands for an object that can't be read, so that nobody takes what it holds for free.

What was known of it stays, marked as unread. Of one that was never read only what identifies it is known, and as much
of the rest as can be read by itself. Where something has to be assumed, it is what takes the least from anybody.
"""

from typing import TypeVar

import msgspec

from engine.formats.kubernetes.convert import FINISHED, queue_label
from engine.formats.kubernetes.wire import Identity, NamedObject, PodStatus, Wire
from engine.model.objects import DisruptionBudget, Node, Pod, PriorityClass

UNREAD_ANNOTATION = "scheduler-admin.io/unread"
"""On an object of a saved snapshot: it stands for one that could not be read."""
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
    """It still holds room on its node and in its queue, nobody can say how much. Raises msgspec.DecodeError."""
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
    """It takes no pods. Raises msgspec.DecodeError."""
    return msgspec.structs.replace(known or Node(name=_meta(data).name or ""), unread=True)


def unread_class(data: Data, known: PriorityClass | None) -> PriorityClass:
    """Its pods count as having opted out. Raises msgspec.DecodeError."""
    return msgspec.structs.replace(known or PriorityClass(name=_meta(data).name or ""), opted_out=True, unread=True)


def unread_budget(data: Data, known: DisruptionBudget | None) -> DisruptionBudget:
    """It allows no disruption of the pods that it covered, or of its whole namespace. Raises msgspec.DecodeError."""
    meta = _meta(data)
    nothing = DisruptionBudget(namespace=meta.namespace or "default", name=meta.name or "")
    return msgspec.structs.replace(known or nothing, allowed=0)


def not_known(_data: Data, _known: object) -> None:
    """Nothing stands for it: of a namespace, a claim or a volume that isn't there nobody assumes anything."""


def _meta(data: Data) -> Identity:
    return msgspec.json.decode(data, type=NamedObject).metadata


def _part(data: Data, nothing: Part) -> Part:
    """One part of an object, ``nothing`` where that can't be read either."""
    try:
        return msgspec.json.decode(data, type=type(nothing))
    except (ValueError, RecursionError):
        return nothing
