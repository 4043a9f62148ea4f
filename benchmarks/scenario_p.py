"""Scenario P: every node full of pods of ten priorities, an ask of a higher one that needs several of them gone."""

from engine.model.objects import AffinityTerm, DisruptionBudget, Node, Pod, Requirement, SpreadConstraint
from engine.model.queue_tree import ROOT, Queue, QueueTree
from engine.model.snapshot import Snapshot

GI = 2**30
_STARTED_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z."""
_NOW_MS = _STARTED_MS + 90_000_000
_PER_NODE = 30
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


NODES = 5_000


def scenario_p(scale: float, *, budgets: bool = False, rules: bool = False) -> tuple[Snapshot, QueueTree, Pod]:
    """Snapshot, tree and ask at ``scale`` times 5,000 nodes with 150,000 pods.

    ``budgets``: with thirty disruption budgets. ``rules``: the ask is spread over zones and keeps away from its own
    application.
    """
    nodes = max(1, round(NODES * scale))
    labels = [{"app": f"app-{number}"} for number in range(_PER_NODE)]
    shapes = [{"cpu": cpu, "memory": 2 * GI, "pods": 1} for cpu in (250, 500, 750)]
    ask = Pod(uid="ask", namespace="ns-0", name="ask", priority=1000, created_ms=_NOW_MS, requests=_asked())
    if rules:
        ask = _with_rules(ask)
    pods = [_pod(node, number, shapes, labels) for node in range(nodes) for number in range(_PER_NODE)]
    snapshot = Snapshot(
        now_ms=_NOW_MS,
        nodes=tuple(_node(node) for node in range(nodes)),
        pods=(*pods, ask),
        budgets=tuple(_budget(number) for number in range(_PER_NODE)) if budgets else (),
    )
    return snapshot, QueueTree([Queue(path=ROOT)]), ask


def _asked() -> dict[str, int]:
    return {"cpu": 3000, "memory": 4 * GI, "pods": 1}


def _with_rules(ask: Pod) -> Pod:
    own = (Requirement("app", "In", ("app-0",)),)
    return Pod(
        uid=ask.uid,
        namespace=ask.namespace,
        name=ask.name,
        priority=ask.priority,
        created_ms=ask.created_ms,
        requests=ask.requests,
        labels={"app": "app-0"},
        anti_affinity=(AffinityTerm(HOST, own, (ask.namespace,)),),
        spread=(SpreadConstraint(topology_key=ZONE, max_skew=1, selector=own),),
    )


def _pod(node: int, number: int, shapes: list[dict[str, int]], labels: list[dict[str, str]]) -> Pod:
    return Pod(
        uid=f"p-{node:05}-{number:02}",
        namespace=f"ns-{number % 10}",
        name=f"p-{node:05}-{number:02}",
        labels=labels[number],
        node=f"node-{node:05}",
        priority=((7 * node + 13 * number + (node * number) % 11) % 10) * 100,
        started_ms=_STARTED_MS + (31 * node + 17 * number) % 86_400 * 1000,
        requests=shapes[(node + number) % 3],
    )


def _node(node: int) -> Node:
    name = f"node-{node:05}"
    return Node(
        name=name,
        allocatable={"cpu": 16_000, "memory": 64 * GI, "pods": 110},
        labels={ZONE: f"zone-{node % 3}", HOST: name},
    )


def _budget(number: int) -> DisruptionBudget:
    return DisruptionBudget(
        namespace=f"ns-{number % 10}",
        name=f"pdb-{number}",
        expressions=(Requirement("app", "In", (f"app-{number % 50}",)),),
        allowed=number % 3,
    )
