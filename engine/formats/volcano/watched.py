"""Decoders of Volcano's objects in JSON, as a watch delivers them; the only error they raise is DecodeError."""

from engine.formats.kubernetes.reader import Reader
from engine.formats.kubernetes.wire import ConfigMapObject
from engine.formats.volcano import wire
from engine.formats.volcano.cluster import to_queue, to_settings

CONFIG, NAMESPACE = "volcano-scheduler-configmap", "volcano-system"
"""Name and namespace of the ConfigMap in which Volcano's installation keeps its scheduler's configuration."""
QUEUE_READER = Reader("Queue", wire.QueueObject, to_queue)
SETTINGS_READER = Reader("ConfigMap", ConfigMapObject, to_settings)
