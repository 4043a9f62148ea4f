"""What gangs fight over: the cluster of the contest of single pods, and groups of pods that need room on many nodes."""

import random
from dataclasses import dataclass
from typing import Any

from tests.controlplane.pod_groups import APPLICATION
from tests.enforce.contest_scene import ASKERS, ASKING, BORROWING, Document, Scene

GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/{namespace}/podgroups"
_SIZES, _SIZE_WEIGHTS = (2, 3, 4, 6), (4, 4, 3, 1)
_CORES, _CORES_WEIGHTS = (2, 4, 6), (4, 3, 1)


@dataclass(frozen=True, kw_only=True)
class GangScene(Scene):
    """How large it is; ``asks`` is how many gangs come in a wave."""

    nodes: int = 12
    asks: int = 4
    crowd: int = 3
    faults: float = 0.35
    """How likely it is, each time that somebody looks for it, that an open decision loses a pod or a node."""


@dataclass(frozen=True)
class Gang:
    """A group of pods that start together or not at all."""

    name: str
    needed: int
    pods: tuple[Document, ...]
    group: Document

    @property
    def names(self) -> frozenset[str]:
        """Return the names of its pods."""
        return frozenset(pod["metadata"]["name"] for pod in self.pods)


def a_gang(number: int, dice: random.Random) -> Gang:
    """Return a gang of one of the asking queues; some have a pod more than they need."""
    [size], [cores] = dice.choices(_SIZES, _SIZE_WEIGHTS), dice.choices(_CORES, _CORES_WEIGHTS)
    needed = size - (size > 2 and dice.random() < 0.3)
    name, queue = f"gang-{number}", dice.choice(ASKING)
    meta = {"name": name, "namespace": ASKERS}
    spec = {
        "schedulingPolicy": {"gang": {"minCount": needed}},
        "disruptionMode": {"single": {}},
        "priorityClassName": "equal",
    }
    group = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": meta, "spec": spec}
    return Gang(name, needed, tuple(_member(name, each, queue, cores) for each in range(size)), group)


def _member(gang: str, number: int, queue: str, cores: int) -> Document:
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": str(cores)}}}
    labels = {"yunikorn.apache.org/queue": f"root.{queue}", APPLICATION: gang}
    spec: dict[str, Any] = {
        "schedulingGroup": {"podGroupName": gang},
        "priorityClassName": "equal",
        "terminationGracePeriodSeconds": 1,
        "containers": [container],
    }
    meta = {"name": f"{gang}-{number}", "namespace": ASKERS, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


__all__ = ["ASKERS", "BORROWING", "GROUPS", "Gang", "GangScene", "a_gang"]
