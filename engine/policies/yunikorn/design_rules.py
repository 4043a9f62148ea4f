"""The design's own rules, each for a quirk that is turned off."""

from collections.abc import Iterable, Mapping

from engine.feasibility import NodeChecks
from engine.model.decision import NodeReason
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.yunikorn.queue_balances import QueueBalances


def claims(tree: QueueTree, leaf: str, requests: Mapping[str, int]) -> dict[str, str]:
    """Resource that is requested -> the nearest queue upwards that guarantees it: whose guarantee is claimed."""
    wanted = (name for name, amount in requests.items() if amount > 0)
    return {name: path for name in wanted if (path := tree.entitling(leaf, name)) is not None}


def entitled(books: QueueBalances, leaf: str, requests: Mapping[str, int]) -> bool:
    """Law 4: every queue whose guarantee is claimed is below it now, and there is one."""
    found = claims(books.tree, leaf, requests)
    below = (books.used(path, name) < books.tree[path].guaranteed[name] for name, path in found.items())
    return bool(found) and all(below)


def count_leaving(books: QueueBalances, snapshot: Snapshot) -> None:
    """Pods on their way out, and the room kept for other asks, count as usage again."""
    for pod in snapshot.pods:
        if pod.node is not None and pod.terminating and pod.queue is not None and pod.queue in books.tree:
            books.add(pod.queue, pod.requests)
    for held in snapshot.reservations:
        if held.queue in books.tree:
            books.add(held.queue, held.requests)


def within_max(books: QueueBalances, ask: Pod, victims: Iterable[Pod]) -> bool:
    """Whether the ask is within the max of its leaf and of every queue above once the victims are gone."""
    for path in books.tree.lineage(ask.queue or ""):
        below = [pod for pod in victims if pod.queue is not None and books.tree.contains(path, pod.queue)]
        for name, most in books.tree[path].max.items():
            wanted, gone = ask.requests.get(name, 0), sum(pod.requests.get(name, 0) for pod in below)
            if wanted > 0 and books.allocated[path].get(name, 0) - gone + wanted > most:
                return False
    return True


def within_max_soon(books: QueueBalances, ask: Pod) -> bool:
    """Whether the ask is within the max of its leaf and of every queue above once those on their way out are gone."""
    return all(
        books.used(path, name) + ask.requests[name] <= most
        for path in books.tree.lineage(ask.queue or "")
        for name, most in books.tree[path].max.items()
        if ask.requests.get(name, 0) > 0
    )


def kept_out(spot: NodeChecks, gone: Iterable[Pod]) -> bool:
    """Whether something besides amounts keeps the ask off a node once these pods are gone."""
    refused = spot.refusal([pod.uid for pod in gone])
    return refused is not None and refused.reason is not NodeReason.INSUFFICIENT
