"""Small clusters with disruption budgets and pauses, of which every set of pods can be tried."""

from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING

from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Safeguards, Snapshot
from tests.builders import ask, budget, node, pod, snapshot

if TYPE_CHECKING:
    from engine.model.objects import DisruptionBudget, Node, Pod


def world(seed: int, under: QueueTree, *, spare: int = 0, notices: Mapping[str, int] | None = None) -> Snapshot:
    """Up to three nodes with up to four pods each of test.a and test.b, and an ask of prod of one to three cores.

    Up to ``spare`` cores are free on each node; budgets and pauses are at random.
    """
    random = Random(seed)
    objects: list[Node | Pod | DisruptionBudget] = []
    for number in range(random.randint(1, 3)):
        sizes = [random.randint(1, 2) for _ in range(random.randint(1, 4))]
        objects.append(node(f"n{number}", sum(sizes) + random.randint(0, spare)))
        objects += [
            pod(
                f"p{number}{place}",
                queue=random.choice(["test.a", "test.b"]),
                node=f"n{number}",
                cpu=size,
                created_ms=random.randint(0, 3),
                priority=random.choice([-1, -2, -2]),
                started_ms=random.randint(0, 3),
                labels={"app": random.choice("xyz")},
            )
            for place, size in enumerate(sizes)
        ]
    for name in random.sample("xyz", random.randint(0, 3)):
        objects.append(budget(random.randint(0, 2), name, **({} if random.random() < 0.2 else {"app": name})))
    paused = tuple(random.sample(["root.test.a", "root.test.b"], random.choice([0, 0, 1])))
    wanted = ask("want", queue="prod", cpu=random.randint(1, 3))
    return snapshot(under, wanted, objects, safeguards=Safeguards(paused=paused), notices=notices)
