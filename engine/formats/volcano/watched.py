"""Volcano's objects as a watch brings them, JSON; whatever is wrong with one, the only error is DecodeError."""

import msgspec

from engine.formats.kubernetes.reader import Reader
from engine.formats.kubernetes.wire import ConfigMapObject
from engine.formats.volcano import wire
from engine.formats.volcano.cluster import to_group, to_queue, to_settings
from engine.model.objects import PodGroup, VolcanoQueue, VolcanoSettings

CONFIG, NAMESPACE = "volcano-scheduler-configmap", "volcano-system"
"""The ConfigMap in which its installation keeps the configuration of its scheduler."""
_queues = Reader("Queue", wire.QueueObject, to_queue)
_groups = Reader("PodGroup", wire.PodGroupObject, to_group)
_settings = Reader("ConfigMap", ConfigMapObject, to_settings)


def queue_from_bytes(data: bytes | msgspec.Raw) -> VolcanoQueue:
    """One Queue. Raises DecodeError."""
    return _queues.from_bytes(data)


def group_from_bytes(data: bytes | msgspec.Raw) -> PodGroup:
    """One PodGroup. Raises DecodeError."""
    return _groups.from_bytes(data)


def settings_from_bytes(data: bytes | msgspec.Raw) -> VolcanoSettings | None:
    """The ConfigMap with its scheduler's configuration, None where it is another. Raises DecodeError."""
    return _settings.from_bytes(data)
