"""Volumes and claims as tests make them in a cluster of either kind."""

from typing import Any

from tests.controlplane.anycluster import AnyCluster, Object

CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"
SIZE = {"storage": "1Gi"}


def add_volume(cluster: AnyCluster, name: str, *, node: str = "", labels: Object | None = None, **spec: Any) -> Object:
    """A volume that a node alone can reach, or every one."""
    rule = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    reach = {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}}} if node else {}
    whole = {"capacity": SIZE, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}, **reach, **spec}
    return cluster.create(VOLUMES, {"metadata": {"name": name, "labels": labels or {}}, "spec": whole})


def add_claim(cluster: AnyCluster, name: str, volume: str = "", **spec: Any) -> Object:
    """A claim of a volume, which the cluster then binds it to; without one nothing ever comes of it."""
    whole = {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": {"requests": SIZE}, **spec}
    named = {"volumeName": volume} if volume else {}
    return cluster.create(CLAIMS, {"metadata": {"name": name}, "spec": {**whole, **named}})
