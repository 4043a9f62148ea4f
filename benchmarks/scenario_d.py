"""Scenario D: many consumers side by side, half of them with nearly all of the cluster, the others waiting."""

from engine.model.objects import Node, Pod
from engine.model.quantities import parse_amounts
from engine.model.queue_tree import ROOT, WEIGHT_ONE, Queue, QueueTree
from engine.model.snapshot import ClusterState, Snapshot

NOW_MS = 1_767_268_800_000
NODES, PODS, LEAVES, WAITING, GROUP = 5_000, 150_000, 1_000, 300, 10
_EACH = parse_amounts({"cpu": "1", "memory": "4Gi", "pods": "1"})
_ASKED = parse_amounts({"cpu": "2", "memory": "8Gi", "pods": "1"})


def scenario_d(scale: float) -> tuple[Snapshot, QueueTree]:
    """At ``scale`` times 5,000 nodes, 150,000 pods, 1,000 consumers and 300 pods that wait; all were told long ago."""
    nodes, pods, leaves, waiting = (max(2, round(full * scale)) for full in (NODES, PODS, LEAVES, WAITING))
    each = -(-pods // nodes)
    room = parse_amounts({"cpu": str(each), "memory": f"{4 * each}Gi", "pods": "110"})
    state = ClusterState()
    state.nodes = {name: Node(name=name, allocatable=room) for name in map(_node, range(nodes))}
    for number in range(pods):
        turn, last = divmod(number, 10)
        leaf = 2 * turn + 1 if last == 9 else 2 * (9 * turn + last)  # noqa: PLR2004 - the tenth of ten
        state.pods[str(number)] = _runs(number, leaf % leaves, _node(number % nodes))
    for number in range(waiting):
        state.pods[f"ask-{number}"] = _waits(number, (2 * (number // GROUP) + 1) % leaves)
    queues = [Queue(path=_path(leaf), weight=(1 + leaf % 10) * WEIGHT_ONE) for leaf in range(leaves)]
    tree = QueueTree([Queue(path=ROOT), *queues])
    notices = dict.fromkeys(tree.queues, 0)
    return state.snapshot(tree, now_ms=NOW_MS, notices=notices), tree


def _node(number: int) -> str:
    return f"n-{number:05}"


def _path(leaf: int) -> str:
    return f"{ROOT}.q-{leaf:04}"


def _runs(number: int, leaf: int, node: str) -> Pod:
    created_ms = NOW_MS - (3600 + number % 1800) * 1000
    return Pod(
        uid=str(number),
        namespace=f"q-{leaf:04}",
        name=f"p-{number:06}",
        created_ms=created_ms,
        started_ms=created_ms,
        requests=_EACH,
        node=node,
        controller=f"Job/j-{leaf:04}",
        queue_label=_path(leaf),
    )


def _waits(number: int, leaf: int) -> Pod:
    created_ms = NOW_MS - 3_600_000 + number
    return Pod(
        uid=f"ask-{number}",
        namespace=f"q-{leaf:04}",
        name=f"ask-{number:04}",
        created_ms=created_ms,
        unschedulable_ms=created_ms,
        requests=_ASKED,
        controller=f"Job/waits-{number // GROUP:03}",
        queue_label=_path(leaf),
    )
