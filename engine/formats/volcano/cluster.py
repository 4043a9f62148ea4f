"""Volcano's Queues and PodGroups with their pods, read as what it divides a cluster by."""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import msgspec

from engine.formats.documents import load
from engine.formats.kubernetes import decode_node
from engine.formats.kubernetes_convert import to_pod
from engine.formats.kubernetes_requests import amounts
from engine.formats.kubernetes_wire import PodObject
from engine.formats.manifests import plain
from engine.formats.reading import Reader
from engine.formats.volcano import wire
from engine.resources import Amounts, add, total
from engine.snapshot import Pod, SharePlugin, VolcanoCluster, VolcanoQueue

GROUP_ANNOTATIONS = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
"""By which a pod names its PodGroup."""
CONFIGURATION = "volcano-scheduler.conf"
"""The key of the ConfigMap of its scheduler."""
DEFAULT_QUEUE = "default"
ROOT = "root"
"""Above every queue that names no parent, where queues are a tree."""


def volcano_cluster(objects: Iterable[Mapping[str, Any]]) -> VolcanoCluster:
    """A cluster with Volcano among some manifests. Raises ValueError with what is wrong, and without a plugin of it."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for obj in objects:
        kinds.setdefault(str(obj.get("kind") or ""), []).append(obj)
    plugin = _plugin(kinds.get("ConfigMap", ()))
    queues = {queue.name: queue for queue in map(_queues.from_dict, kinds.get("Queue", ()))}
    every = dict(_groups.from_dict(obj) for obj in kinds.get("PodGroup", ()))
    groups = {key: queue for key, queue in every.items() if queue in queues}
    pods = [_pods.from_dict(obj) for obj in kinds.get("Pod", ())]
    nodes = [decode_node(obj) for obj in kinds.get("Node", ())]
    requests: dict[str, Amounts] = {queue: {} for queue in groups.values()}
    allocated: dict[str, Amounts] = {queue: {} for queue in groups.values()}
    for group, pod in pods:
        queue = groups.get(f"{pod.namespace}/{group}")
        if queue is None or pod.finished or pod.terminating:
            continue
        requests[queue] = add(requests[queue], pod.requests)
        if pod.node is not None:
            allocated[queue] = add(allocated[queue], pod.requests)
    return VolcanoCluster(
        plugin=SharePlugin(plugin.name),
        hierarchical=bool(plugin.enable_hierarchy),
        queues=queues,
        total=total(node.allocatable for node in nodes if node.ready),
        requests=requests,
        allocated=allocated,
    )


def _plugin(maps: Iterable[Mapping[str, Any]]) -> wire.PluginFields:
    """The first of its plugins that shares are by."""
    texts = [text for text in map(_maps.from_dict, maps) if text is not None]
    for document in chain.from_iterable(map(load, texts)):
        read = msgspec.convert(plain(document), wire.Configuration, strict=False)
        for plugin in (plugin for tier in read.tiers or () for plugin in tier.plugins or ()):
            if plugin.name in set(SharePlugin):
                return plugin
    raise ValueError(f"no ConfigMap has a {CONFIGURATION} with one of the plugins {', '.join(SharePlugin)}")


def _to_queue(queue: wire.QueueObject) -> VolcanoQueue:
    spec, name = queue.spec, queue.metadata.name or ""
    if spec.weight is not None and spec.weight < 1:
        raise ValueError("its weight is below 1")
    return VolcanoQueue(
        name=name,
        parent=spec.parent or ("" if name == ROOT else ROOT),
        weight=1 if spec.weight is None else spec.weight,
        capability=amounts(spec.capability),
        guarantee=amounts(spec.guarantee.resource) if spec.guarantee else {},
        deserved=amounts(spec.deserved),
    )


def _to_group(group: wire.PodGroupObject) -> tuple[str, str]:
    """Its key, and its queue."""
    meta = group.metadata
    return f"{meta.namespace or 'default'}/{meta.name or ''}", group.spec.queue or DEFAULT_QUEUE


def _to_pod(pod: PodObject) -> tuple[str, Pod]:
    """The PodGroup that it names, and the pod."""
    said = pod.metadata.annotations or {}
    return next((said[name] for name in GROUP_ANNOTATIONS if name in said), ""), to_pod(pod)


_maps = Reader("ConfigMap", wire.ConfigMapObject, lambda one: (one.data or {}).get(CONFIGURATION))
_queues = Reader("Queue", wire.QueueObject, _to_queue)
_groups = Reader("PodGroup", wire.PodGroupObject, _to_group)
_pods = Reader("Pod", PodObject, _to_pod)
