"""Prod and Test side by side, as in the scenarios of the design document."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.e2e.product import SimulatedCluster


def queues(folder: Path, *, prod: int, test: int) -> Path:
    """A queues.yaml with leaves prod and test, guaranteed so many cores."""
    leaf = {"properties": {"preemption.delay": "1s"}}
    tree = {
        "partitions": [
            {
                "name": "default",
                "queues": [
                    {
                        "name": "root",
                        "queues": [
                            {"name": "prod", **leaf, "resources": {"guaranteed": {"vcore": prod}}},
                            {"name": "test", **leaf, "resources": {"guaranteed": {"vcore": test}}},
                        ],
                    }
                ],
            }
        ]
    }
    return document(folder / "queues.yaml", tree)


def manifests(folder: Path, *, nodes: list[int], prod: int, test: int, exits_after: str = "1s") -> Path:
    """Nodes of so many cores, and ReplicaSets prod and test of so many pods of two cores that fill them."""
    found = folder / "manifests"
    found.mkdir()
    many = [
        namespace("prod"),
        namespace("test"),
        batch(),
        lease(),
        *[node(number, cores) for number, cores in enumerate(nodes)],
        replicas("prod", prod, exits_after=exits_after),
        replicas("test", test, exits_after=exits_after),
    ]
    for number, one in enumerate(many):
        document(found / f"{number:02}.yaml", one)
    return found


def run_together(cluster: SimulatedCluster, *, prod: int, test: int) -> bool:
    """Whether so many pods of prod and test run."""
    return len(cluster.running("prod")) == prod and len(cluster.running("test")) == test


def document(path: Path, content: dict[str, Any]) -> Path:
    """Write a document as YAML."""
    with path.open("w") as file:
        YAML(typ="safe").dump(content, file)
    return path


def namespace(name: str) -> dict[str, Any]:
    """A namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def batch() -> dict[str, Any]:
    """Never to the scheduler, not to us: one brain."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "batch", "annotations": {"scheduler-admin.io/may-preempt": "true"}},
        "value": 100,
        "preemptionPolicy": "Never",
    }


def lease() -> dict[str, Any]:
    """Empty from the start, so that nobody waits for a former holder."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "scheduler-admin", "namespace": "kube-system"},
        "spec": {"holderIdentity": "", "leaseDurationSeconds": 15},
    }


def node(number: int, cores: int) -> dict[str, Any]:
    """A node of so many cores that is ready."""
    room = {"cpu": str(cores), "memory": "64Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"node-{number}"},
        "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def replicas(name: str, count: int, *, exits_after: str, namespace: str = "") -> dict[str, Any]:
    """A ReplicaSet of pods of two cores, of the queue of its name and, unless said otherwise, the namespace too."""
    labels = {"app": name, "yunikorn.apache.org/queue": f"root.{name}", "yunikorn.apache.org/app-id": name}
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": "2"}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": namespace or name},
        "spec": {
            "replicas": count,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {
                    "labels": labels,
                    "annotations": {"simulator.scheduler-admin.io/exits-after": exits_after},
                },
                "spec": {"priorityClassName": "batch", "containers": [container]},
            },
        },
    }
