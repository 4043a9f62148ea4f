"""Small clusters that live, and rules of pods about each other, in few words; the same on either kind of cluster."""

from typing import Any

from tests.controlplane.anycluster import AnyCluster

CLASSES = "priorityclasses.scheduling.k8s.io"
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
SLOW = {"simulator.scheduler-admin.io/exits-after": "20s"}
PORT = {"ports": [{"containerPort": 80, "hostPort": 8080}]}
"""What a container says to take a host port."""
Object = dict[str, Any]


def pod(name: str, on: str = "", *, of: int = 0, cpu: str = "4", labels: Object | None = None, **spec: Any) -> Object:
    """A pod of a priority, bound where ``on`` says, else the scheduler's."""
    container = {"name": "main", "image": "image:1", "resources": {"requests": {"cpu": cpu}}}
    container |= spec.pop("container", {})
    where = {"nodeName": on} if on else {"schedulerName": "default-scheduler"}
    meta = {"name": name, "labels": labels or {"app": name}, "annotations": SLOW}
    return {
        "metadata": meta,
        "spec": {"containers": [container], "priorityClassName": f"p{of}", **where, **spec},
    }


def node(name: str, zone: str = "", **spec: Any) -> Object:
    """A node of four cores."""
    room = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    status = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
    labels = {HOST: name, **({ZONE: zone} if zone else {})}
    return {"metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def budget(name: str, least: int, app: str) -> Object:
    return {"metadata": {"name": name}, "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": app}}}}


def away_from(app: str, key: str = HOST) -> Object:
    """Anti-affinity."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def near(app: str, key: str = ZONE) -> Object:
    """Affinity."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def spread(app: str, key: str = ZONE) -> Object:
    """As evenly as can be."""
    selector = {"matchLabels": {"app": app}}
    rule = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return {"topologySpreadConstraints": [rule]}


def live(cluster: AnyCluster, nodes: list[Object], *pods: Object) -> None:
    """The nodes are there, and of the pods those that say where they run, running; of the others only the classes."""
    for priority_ in sorted({one["spec"]["priorityClassName"] for one in pods}):
        name = {"metadata": {"name": priority_}, "value": int(priority_[1:])}
        if not any(one["metadata"]["name"] == priority_ for one in cluster.list(CLASSES)):
            cluster.create(CLASSES, name)
    for one in nodes:
        cluster.create("nodes", one)
    running = [one for one in pods if "nodeName" in one["spec"]]
    for one in running:
        cluster.create("pods", one)
    for one in running:
        cluster.running(one["metadata"]["name"])
