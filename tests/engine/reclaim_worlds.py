"""Small, crowded clusters at random, some of whose queues use more than they deserve, told or not."""

import random
from typing import Any

import msgspec

from engine.model.objects import DisruptionBudget, Node, Pod, Requirement
from engine.model.queue_tree import DEFAULT_DELAY_MS, WEIGHT_ONE, Queue, QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.deserved import Parameters
from tests.builders import NOW, OPTED_OUT, ask, node, pod, queue, snapshot, tree


def amounts(by: random.Random, most: int) -> dict[str, str | int]:
    """Of some resources."""
    found: dict[str, str | int] = {"cpu": by.randint(0, most)} if by.random() < 0.4 else {}
    if by.random() < 0.2:
        found["memory"] = f"{by.randint(0, most)}Gi"
    return found


def leaf(by: random.Random) -> Queue:
    """A consumer, with a hard limit, a fence, or a grace period of its own at times."""
    return queue(
        amounts(by, 3),
        max=by.choice([None, None, None, amounts(by, 10)]),
        weight=by.choice([0, 1, 1, 1, 2]) * WEIGHT_ONE,
        disabled=by.random() < 0.05,
        fence=by.random() < 0.05,
        delay_ms=by.choice([None, None, 1_000]),
    )


def shape(by: random.Random) -> QueueTree:
    """Up to three consumers or areas of up to three."""
    queues = {"root": queue(max=by.choice([None, None, {"cpu": by.randint(4, 20)}]))}
    for area in "abc"[: by.randint(2, 3)]:
        if by.random() < 0.5:
            queues[area] = leaf(by)
        else:
            queues[area] = queue(amounts(by, 6), max=by.choice([None, None, amounts(by, 14)]))
            queues |= {f"{area}.{name}": leaf(by) for name in "xyz"[: by.randint(1, 3)]}
    return tree(queues)


def _asked(by: random.Random, leaves: list[str]) -> dict[str, Any]:
    resources = {"memory": f"{by.randint(1, 2)}Gi"} if by.random() < 0.5 else {}
    resources |= {"nvidia.com/gpu": "1"} if by.random() < 0.1 else {}
    namespace = by.choice(["ns"] * 15 + ["kube-system"])
    return {
        "queue": by.choice(leaves),
        "resources": resources,
        "namespace": namespace,
        "created_ms": by.randint(0, NOW),
    }


def crowd(by: random.Random, leaves: list[str], nodes: list[Node]) -> list[Pod]:
    """Pods of one or two queues as far as the nodes hold them, and asks of all."""
    found, free = [], {one.name: dict(one.allocatable) for one in nodes}
    greedy = by.sample(leaves, min(len(leaves), 2))
    for number in range(30):
        one = pod(
            f"p{number}",
            node=by.choice(nodes).name,
            cpu=by.randint(1, 2),
            labels={"app": by.choice("uvw")},
            priority=by.randint(0, 2),
            terminating=by.random() < 0.03,
            priority_class=by.choice([""] * 15 + ["keep"]),
            controller=by.choice(["ReplicaSet/r"] * 15 + ["DaemonSet/d"]),
            **_asked(by, greedy if by.random() < 0.8 else leaves),
        )
        room = free[one.node or ""]
        if all(room.get(name, 0) >= amount for name, amount in one.requests.items()):
            free[one.node or ""] = {name: amount - one.requests.get(name, 0) for name, amount in room.items()}
            found.append(one)
    asks = [
        ask(
            f"a{number}",
            cpu=by.randint(1, 2),
            priority=by.randint(0, 3),
            priority_class=by.choice(["", "", "urgent"]),
            **_asked(by, leaves),
        )
        for number in range(by.randint(1, 6))
    ]
    return [*found, *asks]


def world(by: random.Random) -> tuple[Snapshot, QueueTree, Parameters]:
    """A cluster under a tree, and how it is to be divided."""
    where = shape(by)
    nodes = [
        node(
            f"n{number}",
            cpu=by.randint(3, 6),
            resources={"memory": f"{by.randint(3, 8)}Gi", "nvidia.com/gpu": by.choice([0, 2])},
            ready=by.random() > 0.05,
            unschedulable=by.random() < 0.05,
        )
        for number in range(by.randint(1, 3))
    ]
    leaves = list(where.leaves)
    budgets = tuple(
        DisruptionBudget(namespace="ns", name=app, expressions=(Requirement("app", "In", (app,)),), allowed=allowed)
        for app in "uv"
        if (allowed := by.randint(0, 6)) < 3
    )
    at = snapshot(where, nodes, crowd(by, leaves, nodes), OPTED_OUT).with_budgets(budgets)
    told = {leaf: by.choice([0, NOW - DEFAULT_DELAY_MS, NOW - 1]) for leaf in leaves if by.random() < 0.8}
    parameters = Parameters(
        method=by.choice(["drf", "proportional"]),
        node_fit=by.random() < 0.8,
        high_priority=by.choice([(), ("urgent",)]),
    )
    return msgspec.structs.replace(at, notices=told), where, parameters
