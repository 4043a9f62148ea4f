"""Groups of pods in few words, on a cluster of either kind that schedules them as a whole."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from simulator.controllers.kubelet import EXITS_AFTER
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.living import CLASSES, Object

QUEUE, APPLICATION = "yunikorn.apache.org/queue", "yunikorn.apache.org/app-id"
GROUPS = "podgroups.scheduling.k8s.io"


@contextmanager
def two_nodes(opened: AbstractContextManager[AnyCluster]) -> Iterator[AnyCluster]:
    """Two nodes of four cores, and three priorities, in a cluster that is opened for it."""
    with opened as cluster:
        for name, value in (("low", 10), ("middle", 100), ("high", 1_000)):
            cluster.create(CLASSES, {"metadata": {"name": name}, "value": value})
        for name in ("n1", "n2"):
            cluster.add_node(name)
        yield cluster


def add_group(cluster: AnyCluster, name: str, priority: str, *, gang: int = 0, mode: str = "single") -> str:
    """Make a group; return its uid."""
    policy: Object = {"gang": {"minCount": gang}} if gang else {"basic": {}}
    spec = {"schedulingPolicy": policy, "disruptionMode": {mode: {}}, "priorityClassName": priority}
    uid: str = cluster.create(GROUPS, {"metadata": {"name": name}, "spec": spec})["metadata"]["uid"]
    return uid


def add_pod(
    cluster: AnyCluster,
    name: str,
    priority: str,
    *,
    group: str = "",
    node: str = "",
    cpu: str = "2",
    queue: str = "",
    exits_after_s: int = 20,
    gated: bool = False,
) -> str:
    """Make a pod, of a group and a queue where they are named, which runs where a node is named; return its uid."""
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    of_group: Object = {"schedulingGroup": {"podGroupName": group}} if group else {}
    more: Object = {"schedulerName": "default-scheduler", "containers": [container], **of_group}
    if gated:
        more["schedulingGates"] = [{"name": "example.com/wait"}]
    annotations = {EXITS_AFTER: f"{exits_after_s}s"}
    labels = {QUEUE: queue, APPLICATION: group or name} if queue else {}
    made = cluster.add_pod(name, node=node, annotations=annotations, labels=labels, priorityClassName=priority, **more)
    if node:
        cluster.running(name)
    uid: str = made["metadata"]["uid"]
    return uid
