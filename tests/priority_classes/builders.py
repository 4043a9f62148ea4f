"""A simulated cluster whose priority classes are known here, as after a pass."""

from pathlib import Path
from typing import Any

from engine.formats.kubernetes.decode import decode_priority_class
from engine.model.objects import PriorityClass
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.status.priority_classes import listed, unlisted
from simulator.kubeconfig import kubeconfig
from simulator.storage.priority_admission import KEY
from tests.cluster.doubles import Simulated

SYSTEM = ["system-node-critical", "system-cluster-critical"]


def reach(cluster: Cluster, simulated: Simulated, folder: Path) -> None:
    """Lead the cluster to a simulated one, and hear of its classes."""
    path = folder / "kubeconfig"
    path.write_text(kubeconfig(simulated.address))
    Cluster.objects.filter(pk=cluster.pk).update(kubeconfig=str(path), context="")
    hear(cluster, simulated)


def hear(cluster: Cluster, simulated: Simulated) -> None:
    """What a pass stores."""
    found = [decode_priority_class(obj) for obj in simulated.call(simulated.store.list, KEY)]
    ClusterStatus.objects.filter(cluster=cluster).update(classes=listed(found), classes_kept_until=None)


def put(simulated: Simulated, name: str, value: int = 1000, **fields: Any) -> PriorityClass:
    """Somebody makes a class with kubectl."""
    meta = {"name": name, "annotations": fields.pop("annotations", {}), "labels": fields.pop("labels", {})}
    return decode_priority_class(simulated.create(KEY, {"metadata": meta, "value": value, **fields}))


def there(simulated: Simulated, name: str) -> PriorityClass | None:
    """The class as it is in the cluster."""
    found = simulated.call(simulated.store.find, KEY, None, name)
    return None if found is None else decode_priority_class(found)


def edit(simulated: Simulated, name: str, **fields: Any) -> None:
    """Somebody changes it with kubectl."""
    simulated.change(KEY, None, name, lambda obj: obj.update(fields))


def shown(cluster: Cluster) -> list[str]:
    """The names that pages list, but the cluster's own."""
    return [one.name for one in unlisted(ClusterStatus.objects.get(cluster=cluster).classes) if one.name not in SYSTEM]
