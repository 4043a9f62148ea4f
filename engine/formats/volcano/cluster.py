"""Conversion of Volcano's Queues and PodGroups, and their pods, to the model of how Volcano shares a cluster."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from engine.formats.kubernetes.convert import to_ms, to_pod
from engine.formats.kubernetes.decode import decode_budget, decode_node, decode_priority_class
from engine.formats.kubernetes.pod_requests import amounts
from engine.formats.kubernetes.reader import Reader
from engine.formats.kubernetes.wire import ConfigMapObject, ObjectMeta, PodObject
from engine.formats.volcano import wire
from engine.formats.volcano.pod_groups import GROUP_READER
from engine.formats.yaml.documents import load
from engine.formats.yaml.manifests import plain
from engine.model.objects import (
    SharePlugin,
    Task,
    VolcanoCluster,
    VolcanoPod,
    VolcanoQueue,
    VolcanoSettings,
    volcano_pod,
)
from engine.model.objects import volcano_cluster as put_together

CONFIGURATION = "volcano-scheduler.conf"
"""Key in the ConfigMap of Volcano's scheduler that holds its configuration."""
ROOT = "root"
"""Parent of every queue that names no parent, if queues form a tree."""


def volcano_cluster(objects: Iterable[Mapping[str, Any]]) -> VolcanoCluster:
    """Return the cluster that a list of manifests with Volcano's objects describes.

    Raise ValueError if an object is invalid, or if no ConfigMap enables a plugin of Volcano that computes shares.
    """
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for obj in objects:
        kinds.setdefault(str(obj.get("kind") or ""), []).append(obj)
    settings = next(
        (candidate for candidate in map(_maps.from_dict, kinds.get("ConfigMap", ())) if candidate is not None), None
    )
    if settings is None:
        raise ValueError(f"no ConfigMap has a {CONFIGURATION} with one of the plugins {', '.join(SharePlugin)}")
    return put_together(
        settings,
        map(_queues.from_dict, kinds.get("Queue", ())),
        map(GROUP_READER.from_dict, kinds.get("PodGroup", ())),
        map(_pods.from_dict, kinds.get("Pod", ())),
        map(decode_node, kinds.get("Node", ())),
        {
            priority_class.name: priority_class
            for priority_class in map(decode_priority_class, kinds.get("PriorityClass", ()))
        },
        map(decode_budget, kinds.get("PodDisruptionBudget", ())),
    )


def to_settings(config: ConfigMapObject) -> VolcanoSettings | None:
    """Return the settings of Volcano's scheduler in a ConfigMap; None if it has none. Raise ValueError."""
    text = (config.data or {}).get(CONFIGURATION)
    settings = read_configuration(text) if text is not None else None
    return msgspec.structs.replace(settings, name=config.metadata.name or "") if settings else None


def read_configuration(text: str) -> VolcanoSettings | None:
    """Return the settings in a configuration of Volcano's scheduler; None without a plugin that computes shares.

    Raise ValueError if the configuration is invalid.

    Source: UnmarshalSchedulerConf of Volcano (pkg/scheduler, util.go).
    """
    for document in load(text):
        configuration = msgspec.convert(plain(document), wire.Configuration, strict=False)
        tiers = [tier.plugins or () for tier in configuration.tiers or ()]
        share_plugin = next((plugin for tier in tiers for plugin in tier if plugin.name in set(SharePlugin)), None)
        if share_plugin is not None:
            return VolcanoSettings(
                plugin=SharePlugin(share_plugin.name),
                hierarchical=bool(share_plugin.enable_hierarchy),
                ancestor_levels=_level((share_plugin.arguments or {}).get("ancestorReclaimLevel")),
                tiers=tuple(tuple(plugin.name for plugin in tier) for tier in tiers),
            )
    return None


def _level(value: Any) -> int:
    """Parse a number as Volcano does: a value that is no number, or is below 0, counts as 0."""
    try:
        return max(0, int(value or 0))
    except (ValueError, TypeError):
        return 0


def to_queue(queue: wire.QueueObject) -> VolcanoQueue:
    """Convert a Queue from its wire form. Raise ValueError if a value is invalid."""
    spec, meta = queue.spec, queue.metadata
    name = meta.name or ""
    if spec.weight is not None and spec.weight < 1:
        raise ValueError("its weight is below 1")
    return VolcanoQueue(
        name=name,
        parent=spec.parent or ("" if name == ROOT else ROOT),
        weight=1 if spec.weight is None else spec.weight,
        priority=spec.priority or 0,
        capability=amounts(spec.capability),
        guarantee=amounts(spec.guarantee.resource) if spec.guarantee else {},
        deserved=amounts(spec.deserved),
        reclaimable=spec.reclaimable is not False,
        open=queue.status is None or queue.status.state in (None, "", "Open"),
        created_ms=_created_ms(meta),
    )


def _to_pod(obj: PodObject) -> VolcanoPod:
    """Convert a pod, deriving the state of its task from the pod's phase as well.

    Source: getTaskStatus of Volcano (pkg/scheduler/api, helpers.go).
    """
    pod, phase = volcano_pod(to_pod(obj)), obj.status.phase if obj.status else None
    tasks = {Task.SUCCEEDED: {"Failed": Task.FAILED}, Task.BOUND: {"Running": Task.RUNNING}}
    tasks |= {Task.RUNNING: {"Pending": Task.BOUND}}
    return msgspec.structs.replace(pod, task=tasks.get(pod.task, {}).get(phase or "", pod.task))


def _created_ms(meta: ObjectMeta) -> int:
    return to_ms(meta.creation_timestamp) if meta.creation_timestamp else 0


_maps = Reader("ConfigMap", ConfigMapObject, to_settings)
_queues = Reader("Queue", wire.QueueObject, to_queue)
_pods = Reader("Pod", PodObject, _to_pod)
