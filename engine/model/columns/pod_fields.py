"""What columns of pods are made by: a function for each, by which it is carried on from snapshot to snapshot."""

from collections.abc import Callable, Hashable
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.model.objects.kubernetes import Pod

Number = Callable[["Pod"], int]
"""A number of the pod, or whether something holds."""
Key = Callable[["Pod"], Hashable]
"""Pods with the same key are of one kind."""

NEVER = 2**63 - 1
"""What stands for the start of a pod that has not started."""

in_turn: Callable[["Pod"], tuple[str, str, str]] = attrgetter("namespace", "name", "uid")
"""The order of pods in a snapshot."""

priority: Number = attrgetter("priority")
created: Number = attrgetter("created_ms")
terminating: Number = attrgetter("terminating")
unread: Number = attrgetter("unread")
originator: Number = attrgetter("originator")

node: Key = attrgetter("node")
namespace: Key = attrgetter("namespace")
queue: Key = attrgetter("queue")
scheduler: Key = attrgetter("scheduler")
application: Key = attrgetter("namespace", "application")
anti_affinity: Key = attrgetter("anti_affinity")
host_ports: Key = attrgetter("host_ports")


def started(pod: "Pod") -> int:
    """When it was started; after all others where it was not."""
    return NEVER if pod.started_ms is None else pod.started_ms


def bound(pod: "Pod") -> bool:
    """Whether it is on a node."""
    return pod.node is not None


def shielded(pod: "Pod") -> bool:
    """Whether it is never a victim."""
    return bool(pod.shield)


def selected(pod: "Pod") -> Hashable:
    """What selectors go by; of labels the very same ones, as pods of one workload share them."""
    return pod.namespace, id(pod.labels)


def claims(pod: "Pod") -> Hashable:
    """Its claims."""
    return (pod.namespace, pod.claims) if pod.claims else None


def requests(pod: "Pod") -> Hashable:
    """What it requests; the very same, as all share that do so in a cluster that is read."""
    return id(pod.requests)
