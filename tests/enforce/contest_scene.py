"""What is fought over: a full cluster, queues that ask, queues that borrow, and newcomers who take any room."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from simulator.controllers.kubelet import EXITS_AFTER, RUNS_FOR

Document = dict[str, Any]

CORES, POD_CORES = 8, 2
"""Of each node, and of each victim. Whoever else comes holds a multiple of that: no room is too odd for anybody."""
ASKERS, BORROWERS, OTHERS = "askers", "borrowers", "others"
"""Namespaces: the asks, the ReplicaSets whose pods are the victims, and the newcomers."""
ASKING = ("red", "green", "blue", "gold")
BORROWING = ("night", "spare", "batch")
GRACES_S = (1, 2, 4, 7, 10)
"""Grace periods of the victims, one ReplicaSet of every borrowing queue each; every pod uses its own to the full."""
ASK_CORES = (2, 4, 6, 8)
"""What an ask needs: the room of one to four victims."""
_ASK_WEIGHTS = (4, 3, 2, 1)
_CLASSES = {"low": 10, "equal": 100, "high": 200}
"""Priorities of the newcomers; asks and victims have the middle one."""
PRIORITIES = tuple(_CLASSES)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """How large it is."""

    nodes: int = 16
    asks: int = 12
    """So many come in a wave; in a stream, so many wait at a time."""
    crowd: int = 6
    """So many newcomers of each priority wait at a time."""
    newcomers: Sequence[str] = PRIORITIES
    """Which priorities they have."""
    stream: bool = False
    """See Load."""

    def documents(self) -> Iterator[Document]:
        """Everything that is there from the start; the ReplicaSets want half as much again as there is."""
        for name in (ASKERS, BORROWERS, OTHERS):
            yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name, value in _CLASSES.items():
            yield _priority_class(name, value)
        for number in range(self.nodes):
            yield _node(number)
        sets = [(queue, grace_s) for queue in BORROWING for grace_s in GRACES_S]
        replicas = self.nodes * (CORES // POD_CORES) * 3 // 2 // len(sets)
        for queue, grace_s in sets:
            yield _replicas(queue, grace_s, replicas)

    def tree(self, path: Path) -> Path:
        """A queues.yaml: whoever asks is below its guarantee, whoever borrows lives far above."""
        leaves = (
            [_leaf(name, self.nodes * CORES) for name in ASKING]
            + [_leaf(name, 2) for name in BORROWING]
            + [{"name": OTHERS}]
        )
        root = {"name": "root", "queues": leaves}
        with path.open("w") as file:
            YAML(typ="safe").dump({"partitions": [{"name": "default", "queues": [root]}]}, file)
        return path


def an_ask(number: int, scene: Scene, dice: random.Random) -> Document:
    """A pod of one of the asking queues; in a stream it runs for a few seconds once it has its room."""
    [cores] = dice.choices(ASK_CORES, _ASK_WEIGHTS)
    queue, runs_s = dice.choice(ASKING), dice.uniform(3, 6)
    return _pod(ASKERS, f"ask-{number}", queue, "equal", cores, _runs_for(runs_s, scene))


def a_newcomer(number: int, priority: str, scene: Scene, dice: random.Random) -> Document:
    """A pod that runs wherever there is room, in a stream for a moment only."""
    cores, runs_s = dice.choice((2, 2, 4)), dice.uniform(1, 3)
    return _pod(OTHERS, f"{priority}-{number}", OTHERS, priority, cores, _runs_for(runs_s, scene))


def _runs_for(seconds: float, scene: Scene) -> dict[str, str]:
    return {RUNS_FOR: f"{seconds:.1f}s"} if scene.stream else {}


def _leaf(name: str, guaranteed: int) -> Document:
    return {
        "name": name,
        "properties": {"preemption.delay": "1s"},
        "resources": {"guaranteed": {"vcore": guaranteed}},
    }


def _priority_class(name: str, value: int) -> Document:
    """Never to the scheduler: one brain."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name, "annotations": {"scheduler-admin.io/may-preempt": "true"}},
        "value": value,
        "preemptionPolicy": "Never",
    }


def _node(number: int) -> Document:
    room = {"cpu": str(CORES), "memory": "64Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"node-{number:02}"},
        "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _replicas(queue: str, grace_s: int, replicas: int) -> Document:
    pod = _pod(BORROWERS, "", queue, "equal", POD_CORES, {EXITS_AFTER: f"{grace_s}s"})
    labels = {**pod["metadata"]["labels"], "set": f"{queue}-{grace_s}"}
    template = {"metadata": {**pod["metadata"], "labels": labels}, "spec": pod["spec"]}
    template["spec"]["terminationGracePeriodSeconds"] = grace_s
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": f"{queue}-{grace_s}", "namespace": BORROWERS},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"set": labels["set"]}}, "template": template},
    }


def _pod(namespace: str, name: str, queue: str, priority: str, cores: int, notes: dict[str, str]) -> Document:
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": str(cores)}}}
    labels = {"yunikorn.apache.org/queue": f"root.{queue}"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels, "annotations": notes},
        "spec": {"priorityClassName": priority, "terminationGracePeriodSeconds": 1, "containers": [container]},
    }
