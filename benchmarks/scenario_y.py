"""Scenario Y: many leaf queues, every node nearly full, one ask of an empty queue below its guarantee."""

import msgspec

from engine.model.objects import Node, Pod, PriorityClass
from engine.model.quantities import parse_amounts
from engine.model.queue_tree import Queue, QueueTree
from engine.model.snapshot import ClusterState, Snapshot

NOW_MS = 1_767_268_800_000
ASK = "ask"
"""Its uid."""
NODES, PODS, LEAVES = 5_000, 150_000, 1_000
_OUT = PriorityClass(name="out", opted_out=True)
_EACH = parse_amounts({"cpu": "1", "memory": "4Gi", "pods": "1"})
"""What a running pod requests, made once: pods that are read from a cluster share it too."""


def scenario_y(scale: float, *, priority: int = 100) -> tuple[Snapshot, QueueTree, Pod]:
    """Snapshot, tree and ask of a cluster of ``scale``."""
    state, tree = cluster_y(scale, priority=priority)
    snapshot = state.snapshot(tree, now_ms=NOW_MS)
    return snapshot, tree, next(pod for pod in snapshot.asks if pod.uid == ASK)


def cluster_y(scale: float, *, priority: int = 100) -> tuple[ClusterState, QueueTree]:
    """A cluster and its tree at ``scale`` times 5,000 nodes, 150,000 pods, 1,000 leaves, and one ask.

    ``priority`` is the ask's; with -1000 nothing is eligible.
    """
    nodes, pods, leaves = (max(1, round(full * scale)) for full in (NODES, PODS, LEAVES))
    leaves = max(10, leaves - leaves % 10)
    state = ClusterState()
    state.classes[_OUT.name] = _OUT
    for number in range(nodes):
        room = parse_amounts({"cpu": "32", "memory": "128Gi", "pods": "110"})
        state.nodes[f"n-{number:05}"] = Node(name=f"n-{number:05}", allocatable=room)
    counts = [0] * leaves
    for number in range(pods):
        leaf = 1 + (number * 7919 + number // nodes) % (leaves - 1)
        counts[leaf] += 1
        state.pods[str(number)] = _pod(number, leaf, f"n-{number % nodes:05}")
    ask = Pod(
        uid=ASK,
        namespace="q-0000",
        name="ask",
        created_ms=NOW_MS - 3_600_000,
        unschedulable_ms=NOW_MS - 3_600_000,
        requests=parse_amounts({"cpu": "4", "memory": "16Gi", "pods": "1"}),
        priority=priority,
        queue_label=_path(0),
        application_label="app-0",
    )
    state.pods[ask.uid] = ask
    return state, _tree(counts)


def waiting_y(
    scale: float, *, asks: int = 1_000, shapes: int = 50, at: tuple[Snapshot, QueueTree] | None = None
) -> tuple[Snapshot, QueueTree]:
    """Scenario Y, or one such snapshot, with many asks in place of the one, of queues that are promised more.

    They are of as many shapes: a queue each, and a size of 3 to 6 cores. At full size all of them preempt.
    """
    snapshot, tree = at or scenario_y(scale)[:2]
    ask = next(pod for pod in snapshot.asks if pod.uid == ASK)
    claiming = [path for number, path in enumerate(tree.leaves) if number % 10 == 9]  # noqa: PLR2004 - as in _tree
    waiting = []
    for number in range(asks):
        shape = number % min(shapes, len(claiming))
        path, cpu = claiming[shape], 3 + shape % 4
        own = {"uid": f"ask-{number:04}", "name": f"ask-{number:04}", "namespace": f"ask-{shape:02}", "queue": path}
        requests = parse_amounts({"cpu": str(cpu), "memory": f"{4 * cpu}Gi", "pods": "1"})
        waiting.append(msgspec.structs.replace(ask, requests=requests, application=f"waits-{shape:02}", **own))
    running = (pod for pod in snapshot.pods if pod.uid != ask.uid)
    pods = sorted([*waiting, *running], key=lambda pod: (pod.namespace, pod.name))
    return msgspec.structs.replace(snapshot, pods=tuple(pods)), tree


def _path(leaf: int) -> str:
    return f"root.t-{leaf // 10:03}.q-{leaf:04}"


def _pod(number: int, leaf: int, node: str) -> Pod:
    created = NOW_MS - (3600 + number % 1800) * 1000
    return Pod(
        uid=str(number),
        namespace=f"q-{leaf:04}",
        name=f"p-{number:06}",
        created_ms=created,
        started_ms=created,
        requests=_EACH,
        node=node,
        priority=(number % 3) * 100,
        priority_class="out" if number % 10 == 0 else "",
        queue_label=_path(leaf),
        application_label=f"app-{leaf}-{number % 2}",
    )


def _tree(counts: list[int]) -> QueueTree:
    queues = [Queue(path="root")]
    for leaf, count in enumerate(counts):
        if leaf % 10 == 0:
            queues.append(Queue(path=_path(leaf).rpartition(".")[0]))
        each = ("40", "160Gi") if leaf == 0 else (f"{count * 500}m", f"{count * 2}Gi")
        if leaf and leaf % 10 == 9:  # noqa: PLR2004 - every tenth is promised more than it uses
            each = (str(count * 2), f"{count * 8}Gi")
        queues.append(Queue(path=_path(leaf), guaranteed=parse_amounts({"cpu": each[0], "memory": each[1]})))
    return QueueTree(queues)
