"""Queues below their guarantee while asks wait for what they lack."""

from collections.abc import Iterable, Mapping

from engine.model.objects import Pod
from engine.model.quantities import Amounts
from engine.model.queue_tree import QueueTree


def shortfalls(tree: QueueTree, used: Mapping[str, Mapping[str, int]], asks: Iterable[Pod]) -> dict[str, int]:
    """Path -> how many asks wait for something of which the queue has less than it is guaranteed; only such queues.

    ``used``: path -> what its bound pods hold, rolled up. An ask waits once the scheduler has found no room for it.
    """
    short = {path: lacking(tree[path].guaranteed, used[path]) for path in tree.queues}
    found: dict[str, int] = {}
    for ask in asks:
        if ask.queue is None or ask.waiting_ms is None:
            continue
        for path in tree.lineage(ask.queue):
            if any(ask.requests.get(name) for name in short[path]):
                found[path] = found.get(path, 0) + 1
    return found


def lacking(guaranteed: Mapping[str, int], used: Mapping[str, int]) -> Amounts:
    """What is guaranteed of the resources of which less is used."""
    return {name: amount for name, amount in guaranteed.items() if used.get(name, 0) < amount}
