"""Functions from which columns of pods are built; each function identifies its column across snapshots."""

from collections.abc import Callable, Hashable
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.model.objects.kubernetes import Pod

Number = Callable[["Pod"], int]
"""A function that returns a number or a flag of a pod."""
Key = Callable[["Pod"], Hashable]
"""A function by which pods are grouped: pods with the same key are in one group."""

NEVER = 2**63 - 1
"""The start time that is used for a pod that has not started."""

sort_key: Callable[["Pod"], tuple[str, str, str]] = attrgetter("namespace", "name", "uid")
"""The sort key of pods in a snapshot."""

priority: Number = attrgetter("priority")
created: Number = attrgetter("created_ms")
terminating: Number = attrgetter("terminating")
unread: Number = attrgetter("unread")
originator: Number = attrgetter("originator")
opted_out: Number = attrgetter("opted_out")
daemonset: Number = attrgetter("daemonset")

node: Key = attrgetter("node")
namespace: Key = attrgetter("namespace")
queue: Key = attrgetter("queue")
scheduler: Key = attrgetter("scheduler")
application: Key = attrgetter("namespace", "application")
anti_affinity: Key = attrgetter("anti_affinity")
host_ports: Key = attrgetter("host_ports")


def started(pod: "Pod") -> int:
    """Return when the pod started, or NEVER, which sorts last, if it has not started."""
    return NEVER if pod.started_ms is None else pod.started_ms


def started_by(pod: "Pod", now_ms: int) -> int:
    """Return when the pod started; a pod that has not started counts as started now."""
    return now_ms if pod.started_ms is None else pod.started_ms


def importance(now_ms: int) -> Callable[["Pod"], tuple[int, int, str, str, str]]:
    """Return the sort key by which pods of a node are sorted by importance, the most important pod first.

    Source: MoreImportantPod of kube-scheduler (pkg/scheduler/util/utils.go); equal pods are sorted by their names.
    """
    return lambda pod: (-pod.priority, started_by(pod, now_ms), pod.namespace, pod.name, pod.uid)


def bound(pod: "Pod") -> bool:
    """Return whether the pod is bound to a node."""
    return pod.node is not None


def shielded(pod: "Pod") -> bool:
    """Return whether the pod is never a victim."""
    return bool(pod.shield)


def selector_key(pod: "Pod") -> Hashable:
    """Return what selectors look at: the namespace, and the identity of the labels.

    Pods of one workload share their labels in memory.
    """
    return pod.namespace, id(pod.labels)


def claims(pod: "Pod") -> Hashable:
    """Return the pod's namespace and claims, or None if it has no claims."""
    return (pod.namespace, pod.claims) if pod.claims else None


scheduling_group: Key = attrgetter("namespace", "scheduling_group")


def scored_requests(pod: "Pod") -> Hashable:
    """Return the identity of the requests that count where nodes are compared."""
    return id(pod.scored_requests or pod.requests)


def requests(pod: "Pod") -> Hashable:
    """Return the identity of the pod's requests, which equal pods share in a cluster that was read."""
    return id(pod.requests)
