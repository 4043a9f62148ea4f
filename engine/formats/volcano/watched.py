"""Decoders of Volcano's objects in JSON, as a watch delivers them; the only error they raise is DecodeError."""

import msgspec

from engine.formats.kubernetes.reader import Reader
from engine.formats.kubernetes.wire import ConfigMapObject
from engine.formats.volcano import wire
from engine.formats.volcano.cluster import to_group, to_queue, to_settings
from engine.model.objects import PodGroup, VolcanoQueue, VolcanoSettings

CONFIG, NAMESPACE = "volcano-scheduler-configmap", "volcano-system"
"""Name and namespace of the ConfigMap in which Volcano's installation keeps its scheduler's configuration."""
_queues = Reader("Queue", wire.QueueObject, to_queue)
_groups = Reader("PodGroup", wire.PodGroupObject, to_group)
_settings = Reader("ConfigMap", ConfigMapObject, to_settings)


def queue_from_bytes(data: bytes | msgspec.Raw) -> VolcanoQueue:
    """Decode a Queue from JSON. Raise DecodeError if it is invalid."""
    return _queues.from_bytes(data)


def group_from_bytes(data: bytes | msgspec.Raw) -> PodGroup:
    """Decode a PodGroup from JSON. Raise DecodeError if it is invalid."""
    return _groups.from_bytes(data)


def settings_from_bytes(data: bytes | msgspec.Raw) -> VolcanoSettings | None:
    """Decode the ConfigMap with the scheduler's configuration; return None for another ConfigMap. Raise DecodeError."""
    return _settings.from_bytes(data)
