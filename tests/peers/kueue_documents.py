"""Trees at random, written as Kueue's objects, most of which it refuses, and what the real one says of each.

tests/data/kueue-documents.jsonl.gz holds the answers to 250 of them.
"""

import random
from typing import Any

from engine.formats import kueue
from engine.model.queue_tree import TAKES_RECLAIM, TAKES_WITHIN, PreemptionPolicy, Queue, QueueTree
from tests.peers.kueues import Kueue

_RESOURCES = ("cpu", "memory", "nvidia.com/gpu", "pods")
_AMOUNTS = (0, 1, 500, 4_000, 8_000, 2**30, 10**15)
_WEIGHTS = (0, 1, 2, 10, 500_000, 10**9, 10**12)
_DEEPEST = 4


def trees(seed: int, count: int) -> list[QueueTree]:
    """Return so many trees; the same for the same seed."""
    draw = random.Random(seed)
    return [_tree(draw) for _ in range(count)]


def refusal(found: Kueue, tree: QueueTree) -> str:
    """What Kueue and the API server have against the objects of a tree, tried and not made; empty: nothing."""
    return found.tried(kueue.write("", tree).text)


def _tree(draw: random.Random) -> QueueTree:
    queues = {"root": Queue(path="root", parent_declared=True)}
    for _ in range(draw.randrange(1, 3)):
        _grow(draw, queues, "root", 1)
    return QueueTree(queues.values())


def _grow(draw: random.Random, queues: dict[str, Queue], above: str, depth: int) -> None:
    path, leaf = f"{above}.q{len(queues)}", depth == _DEEPEST or draw.random() < 0.6
    queues[path] = Queue(path=path, **_settings(draw, leaf=leaf, top=depth == 1))
    for _ in range(0 if leaf else draw.randrange(1, 4)):
        _grow(draw, queues, path, depth + 1)


def _settings(draw: random.Random, *, leaf: bool, top: bool) -> dict[str, Any]:
    """Each is set now and then."""
    found: dict[str, Any] = {
        "guaranteed": _some(draw),
        "max": _some(draw),
        "lendable": _some(draw),
        "weight": draw.choice(_WEIGHTS),
        "take_within": draw.choice(TAKES_WITHIN),
        "take_reclaim": draw.choice(TAKES_RECLAIM),
        "take_borrowing": draw.random() < 0.5,
        "take_threshold": draw.choice((0, -5, 2**31 - 1)),
    }
    found = {name: value for name, value in found.items() if draw.random() < 0.5}
    found["parent_declared"] = not leaf
    if top:
        found["preemption_policy"] = PreemptionPolicy.FENCE
    return found


def _some(draw: random.Random) -> dict[str, int]:
    return {name: draw.choice(_AMOUNTS) for name in _RESOURCES if draw.random() < 0.4}
