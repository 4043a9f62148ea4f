"""Small clusters at random, their queues with every rule by which quota is lent and taken."""

import random
from typing import Any

from engine.model.objects import Pod
from engine.model.queue_tree import Queue, QueueTree, Take
from engine.model.snapshot import ClusterState
from tests.builders import NOW, ask, node, pod, queue, tree

NODES = [node(f"n{number}", cpu=16) for number in range(3)]
WITHIN = (None, Take.NEVER, Take.LOWER_PRIORITY, Take.LOWER_OR_NEWER_EQUAL_PRIORITY)


def leaf(by: random.Random) -> Queue:
    """With rules of its own, or none."""
    return queue(
        by.choice([None, by.randint(0, 6)]),
        max=by.choice([None, None, by.randint(1, 10)]),
        disabled=by.random() < 0.1,
        take_within=by.choice(WITHIN),
        take_reclaim=by.choice([*WITHIN, Take.ANY]),
        take_borrowing=by.choice([None, True, False]),
        take_threshold=by.choice([None, 1]),
        lendable={"cpu": by.randint(0, 4_000)} if by.random() < 0.3 else {},
    )


def shape(by: random.Random) -> QueueTree:
    """Up to three parents with up to three leaves."""
    queues = {"root": queue(by.choice([None, 9]), max=by.choice([None, 20]))}
    for parent in "abc"[: by.randint(1, 3)]:
        weight = by.choice([0, 10**9, 2 * 10**9])
        queues[parent] = queue(by.choice([None, by.randint(1, 12)]), fence=by.random() < 0.2, weight=weight)
        queues |= {f"{parent}.{name}": leaf(by) for name in "xyz"[: by.randint(1, 3)]}
    return tree(queues)


def crowd(by: random.Random, leaves: list[str]) -> list[Pod]:
    """Who runs and who asks."""

    def some(controllers: tuple[str, ...]) -> dict[str, Any]:
        times = {"created_ms": by.randint(0, NOW), "priority": by.randint(0, 3)}
        return {"queue": by.choice(leaves), "cpu": by.randint(1, 4), "controller": by.choice(controllers), **times}

    run, wait = ("ReplicaSet/r", "Job/j", "StatefulSet/s"), ("ReplicaSet/r", "Job/j", "Job/k")
    running = [
        pod(f"p{one}", node=f"n{one % 3}", started_ms=by.randint(0, NOW), terminating=by.random() < 0.1, **some(run))
        for one in range(by.randint(0, 20))
    ]
    return [*running, *(ask(f"a{one}", **some(wait)) for one in range(by.randint(1, 8)))]


def world(by: random.Random) -> tuple[ClusterState, QueueTree]:
    """A cluster under a tree."""
    where, state = shape(by), ClusterState()
    state.nodes = {one.name: one for one in NODES}
    state.pods.update({one.uid: one for one in crowd(by, list(where.leaves))})
    return state, where
