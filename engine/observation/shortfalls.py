"""Find queues that are below their guarantee while pods wait for the missing resources."""

from collections.abc import Iterable, Mapping

from engine.model.objects import Pod
from engine.model.quantities import Amounts
from engine.model.queue_tree import QueueTree


def shortfalls(tree: QueueTree, used: Mapping[str, Mapping[str, int]], pending: Iterable[Pod]) -> dict[str, int]:
    """Return a map: path of a queue below its guarantee -> number of pods that wait for a resource it lacks.

    Queues without such pods are left out. ``used``: path -> what its bound pods hold, with descendants. A pod counts as
    waiting once the scheduler has found no room for it.
    """
    short = {path: amounts_below_guarantee(tree[path].guaranteed, used[path]) for path in tree.queues}
    waiting: dict[str, int] = {}
    for pod in pending:
        if pod.queue is None or pod.waiting_ms is None:
            continue
        for path in tree.lineage(pod.queue):
            if any(pod.requests.get(name) for name in short[path]):
                waiting[path] = waiting.get(path, 0) + 1
    return waiting


def amounts_below_guarantee(guaranteed: Mapping[str, int], used: Mapping[str, int]) -> Amounts:
    """Return the guaranteed amounts of the resources of which less is used."""
    return {name: amount for name, amount in guaranteed.items() if used.get(name, 0) < amount}
