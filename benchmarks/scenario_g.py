"""Scenario G: every node full of pods, one in five of them in a group that goes whole; a gang that needs many nodes."""

import msgspec

from engine.model.objects import DisruptionMode, Node, Pod, SchedulingGroup
from engine.model.quantities import parse_amounts
from engine.model.queue_tree import Queue, QueueTree
from engine.model.snapshot import Snapshot

GI = 2**30
_STARTED_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z."""
_NOW_MS = _STARTED_MS + 90_000_000
_PER_NODE, _GROUP_SIZE, _PRIORITIES = 30, 20, 5
_ZONE, _HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
_OTHERS = ("root.test", "root.batch", "root.web")
NODES = 5_000


def scenario_g(scale: float, members: int) -> tuple[Snapshot, SchedulingGroup]:
    """Return a snapshot at ``scale`` times 5,000 nodes with 150,000 pods, and a gang of it that waits.

    ``members``: pods of the gang, all of which must run together.
    """
    nodes = max(1, round(NODES * scale))
    shape = {"cpu": 1000, "memory": 4 * GI, "pods": 1}
    pods = [_pod(number, nodes, shape) for number in range(nodes * _PER_NODE)]
    names = dict.fromkeys(pod.scheduling_group for pod in pods if pod.scheduling_group)
    together = [
        SchedulingGroup(
            namespace="ns", name=name, uid=name, disruption_mode=DisruptionMode.ALL, priority=_priority(int(name[6:]))
        )
        for name in names
    ]
    gang = SchedulingGroup(namespace="ns", name="gang", uid="gang", min_count=members, priority=1000)
    asks = [_member(number) for number in range(members)]
    snapshot = Snapshot(
        now_ms=_NOW_MS,
        nodes=tuple(sorted((_node(node) for node in range(nodes)), key=lambda node: node.name)),
        pods=tuple(sorted((*pods, *asks), key=lambda pod: pod.name)),
        groups={(group.namespace, group.name): group for group in (*together, gang)},
    )
    return snapshot, gang


def under_queues(scale: float, members: int) -> tuple[Snapshot, QueueTree, Pod]:
    """Return the same with queues, and the member with which the gang is decided.

    The gang's queue uses nothing of what it is guaranteed, which is what the gang requests. The other pods are of three
    queues above their guarantees, and of fifty applications.
    """
    snapshot, gang = scenario_g(scale, members)
    per_queue = len(snapshot.nodes) * _PER_NODE // len(_OTHERS)
    queues = [Queue(path="root"), Queue(path="root.prod", guaranteed=parse_amounts({"cpu": str(8 * members)}))]
    queues += [Queue(path=path, guaranteed=parse_amounts({"cpu": str(per_queue // 2)})) for path in _OTHERS]
    pods = tuple(_queued(pod, gang, number) for number, pod in enumerate(snapshot.pods))
    snapshot = msgspec.structs.replace(snapshot, pods=pods)
    return snapshot, QueueTree(queues), min(snapshot.asks, key=lambda pod: pod.name)


def under_shares(scale: float, members: int) -> tuple[Snapshot, QueueTree, Pod]:
    """Return the same for deserved shares: nodes without any free CPU, and queues with reclaim notices.

    Besides the gang, 250 large pods wait in its queue. So that deserves more than the gang requests, and the other
    queues use more than they deserve.
    """
    snapshot, tree, ask = under_queues(scale, members)
    requests = {"cpu": _PER_NODE * 1000, "memory": 16 * GI, "pods": 1}
    waiting = [
        msgspec.structs.replace(ask, uid=name, name=name, requests=requests, scheduling_group="")
        for name in (f"later-{number:03}" for number in range(round(250 * scale)))
    ]
    full = tuple(
        msgspec.structs.replace(node, allocatable={**node.allocatable, "cpu": _PER_NODE * 1000})
        for node in snapshot.nodes
    )
    pods = tuple(sorted((*snapshot.pods, *waiting), key=lambda pod: pod.name))
    notices = dict.fromkeys(_OTHERS, 0)
    return msgspec.structs.replace(snapshot, nodes=full, pods=pods, notices=notices), tree, ask


def _queued(pod: Pod, gang: SchedulingGroup, number: int) -> Pod:
    if pod.scheduling_group == gang.name:
        return msgspec.structs.replace(
            pod, queue="root.prod", application="gang", controller="Job/gang", unschedulable_ms=_STARTED_MS
        )
    group = pod.scheduling_group
    queue = _OTHERS[int(group[6:] if group else number) % len(_OTHERS)]
    return msgspec.structs.replace(
        pod, queue=queue, application=f"app-{number % 50}", controller=f"ReplicaSet/app-{number % 50}"
    )


def _priority(number: int) -> int:
    return number % _PRIORITIES * 10


def _pod(number: int, nodes: int, shape: dict[str, int]) -> Pod:
    grouped = number % 5 == 0
    group = number // 5 // _GROUP_SIZE
    return Pod(
        uid=f"p-{number:06}",
        namespace="ns",
        name=f"p-{number:06}",
        node=f"node-{number * 7919 % (nodes * _PER_NODE) // _PER_NODE:05}",
        priority=_priority(group if grouped else number),
        started_ms=_STARTED_MS + number * 7 % 86_400 * 1000,
        requests=shape,
        scheduling_group=f"group-{group}" if grouped else "",
    )


def _member(number: int) -> Pod:
    name = f"gang-{number:04}"
    requests = {"cpu": 8000, "memory": 16 * GI, "pods": 1}
    return Pod(
        uid=name,
        namespace="ns",
        name=name,
        priority=1000,
        created_ms=_NOW_MS,
        requests=requests,
        scheduling_group="gang",
    )


def _node(number: int) -> Node:
    name = f"node-{number:05}"
    return Node(
        name=name,
        allocatable={"cpu": 32_000, "memory": 128 * GI, "pods": 110},
        labels={_ZONE: f"zone-{number % 3}", _HOST: name},
    )
