"""Small worlds for tests of the simulated cluster's life: objects with defaults, and time that is moved by hand."""

from typing import Any

from simulator.clock import ManualClock
from simulator.cluster import SimulatedCluster

Object = dict[str, Any]
CLASSES = {"low": 10, "high": 1000}


class World:
    """A cluster with a manual clock, begun at once."""

    def __init__(self, *objects: Object, **options: Any) -> None:
        """Begin with priority classes low, high and never (high, but it never preempts) and the objects given."""
        self.clock = ManualClock()
        classes = [priority_class(name, value) for name, value in CLASSES.items()]
        never = priority_class("never", CLASSES["high"], preemptionPolicy="Never")
        self.cluster = SimulatedCluster([*classes, never, *objects], clock=self.clock, **options)
        self.cluster.begin()
        self.store = self.cluster.store
        self.clock.advance(0)

    def create(self, *objects: Object) -> None:
        """Create objects, and let everyone look after each."""
        keys = {"Pod": "pods", "Node": "nodes", "ReplicaSet": "replicasets.apps", "Job": "jobs.batch"}
        for obj in objects:
            self.store.create(keys.get(obj["kind"], "poddisruptionbudgets.policy"), obj)
            self.clock.advance(0)

    def pod(self, name: str) -> Object:
        """Return a pod of the default namespace."""
        return self.store.get("pods", "default", name)

    def pods(self) -> list[Object]:
        """Return every pod."""
        return self.store.list("pods")

    def node_of(self, name: str) -> str | None:
        """Return where a pod is bound."""
        return self.pod(name)["spec"].get("nodeName")

    def exists(self, name: str) -> bool:
        """Tell whether a pod is still there."""
        return self.store.find("pods", "default", name) is not None

    def condition(self, name: str, type_: str = "PodScheduled") -> Object:
        """Return a condition of a pod."""
        return next(item for item in self.pod(name)["status"]["conditions"] if item["type"] == type_)

    def reasons(self, name: str) -> dict[str, int]:
        """Return reason -> count of the Events about an object."""
        about = [event for event in self.store.list("events") if event["involvedObject"]["name"] == name]
        return {event["reason"]: (event.get("series") or event).get("count", 1) for event in about}

    def mutate_node(self, name: str, **spec: Any) -> None:
        """Change fields of a node's specification."""
        self.store.mutate("nodes", None, name, lambda copy: copy["spec"].update(spec))

    def until(self, condition: Any, limit: float = 60.0) -> float:
        """Let time pass until something holds; return how long that took."""
        return self.clock.until(condition, limit)


def priority_class(name: str, value: int, **fields: Any) -> Object:
    """Return a PriorityClass."""
    meta = {"name": name}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": meta, "value": value, **fields}


def node(name: str = "n1", cpu: str = "4", labels: Object | None = None, **spec: Any) -> Object:
    """Return a node of 16Gi."""
    meta = {"name": name, "labels": labels or {}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": meta,
        "spec": spec,
        "status": {"capacity": {"cpu": cpu, "memory": "16Gi", "pods": "110"}},
    }


def spec(cpu: str = "1", **fields: Any) -> Object:
    """Return a pod's specification."""
    return {
        "containers": [{"name": "main", "image": "image:1", "resources": {"requests": {"cpu": cpu}}}],
        **fields,
    }


def pod(name: str, cpu: str = "1", *, annotations: Object | None = None, labels: Object | None = None,
        priority: str = "", **fields: Any) -> Object:  # fmt: skip
    """Return a pod of the default namespace; `priority` names a class."""
    meta = {"name": name, "annotations": annotations or {}, "labels": labels or {}}
    named = {"priorityClassName": priority} if priority else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec(cpu, **named, **fields)}


def _template(app: str, cpu: str, annotations: Object | None, **fields: Any) -> Object:
    return {"metadata": {"labels": {"app": app}, "annotations": annotations or {}}, "spec": spec(cpu, **fields)}


def replica_set(name: str, replicas: int, cpu: str = "1", annotations: Object | None = None, **fields: Any) -> Object:
    """Return a ReplicaSet whose pods are labelled app=name."""
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": _template(name, cpu, annotations, **fields),
        },
    }


def job(name: str, annotations: Object | None = None, **fields: Any) -> Object:
    """Return a Job whose pods run for ten seconds; `fields` are those of its specification."""
    runs = {"simulator.scheduler-admin.io/runs-for": "10s"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations or {}},
        "spec": {**fields, "template": _template(name, "1", runs, restartPolicy="Never")},
    }


def budget(name: str, app: str, **fields: Any) -> Object:
    """Return a PodDisruptionBudget for the pods labelled app=..."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": app}}, **fields},
    }
