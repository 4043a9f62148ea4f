"""Who may preempt whom under policy ``fence``, as far as the tree alone tells, with the reason at each border.

A border between two leaves is open when there is some world of usages, sizes and priorities in which an ordinary ask of
the one has a pod of the other evicted. DaemonSets' asks and the last resort are no ordinary asks.
"""

from collections.abc import Mapping
from functools import lru_cache

from engine.model.quantities import PODS
from engine.model.queue_tree import PriorityPolicy, QueueTree
from engine.tree.reach.barriers import closed, nearest_common, parted
from engine.tree.reach.borders import Border, BorderReason


@lru_cache(maxsize=100_000)  # pages ask again and again of the same tree; some 300 bytes each
def border(tree: QueueTree, asker: str, victim: str) -> Border:
    """The border from ``asker`` to ``victim``, both paths of leaves; reasons that bind all its asks come first."""
    reason, queue = _of_asker(tree, asker, victim) or _of_pair(tree, asker, victim) or _open(tree, asker, victim)
    return Border(asker=asker, victim=victim, reason=reason, queue=queue)


def _of_asker(tree: QueueTree, asker: str, victim: str) -> tuple[BorderReason, str] | None:
    """Why no ask of the leaf takes anything, whoever the victim."""
    if found := closed(tree, asker, victim):
        return found
    if not claims(tree, asker):
        return BorderReason.NO_GUARANTEE, asker
    return None


def _of_pair(tree: QueueTree, asker: str, victim: str) -> tuple[BorderReason, str] | None:
    """Why no ask of the one leaf takes from the other."""
    if found := parted(tree, asker, victim):
        return found
    if ranked := _ranked_above(tree, asker, victim):
        return BorderReason.PRIORITY_FENCE, ranked
    if shared := _shared_claim(tree, asker, victim):
        return BorderReason.SHARED_GUARANTEE, shared
    if capped := _capped(tree, asker, victim):
        return BorderReason.OVER_MAX, capped
    return None


def _open(tree: QueueTree, asker: str, victim: str) -> tuple[BorderReason, str]:
    fence = tree.fence(asker)
    return (BorderReason.SAME_FENCE, fence) if fence else (BorderReason.NO_FENCE, tree.fence(victim) or "")


def claims(tree: QueueTree, asker: str) -> Mapping[str, str]:
    """Resource -> the queue whose guarantee an ask of the leaf may claim for it; the nearest that has one decides.

    Every ask asks for itself as a pod: where pods are guaranteed and none can be claimed, nothing can.
    """
    return claims_of_all(tree)[asker]


@lru_cache(maxsize=8)  # each tree is asked for all its leaves in a row
def claims_of_all(tree: QueueTree) -> Mapping[str, Mapping[str, str]]:
    """``claims`` of every queue, worked out from the root down."""
    entitling: dict[str, Mapping[str, str]] = {}
    barred: dict[str, frozenset[str]] = {}
    found: dict[str, Mapping[str, str]] = {}
    for path in tree.walk():
        queue, parent = tree[path], tree.parents[path]
        above, shut = (entitling[parent], barred[parent]) if parent else ({}, frozenset[str]())
        entitling[path] = {**above, **dict.fromkeys(queue.guaranteed, path)} if queue.guaranteed else above
        none = [name for name, most in queue.max.items() if most <= 0]
        barred[path] = shut.union(none) if none else shut
        found[path] = _claimed(tree, entitling[path], barred[path])
    return found


def _claimed(tree: QueueTree, entitling: Mapping[str, str], barred: frozenset[str]) -> Mapping[str, str]:
    queues = tree.queues
    found = {name: path for name, path in entitling.items() if queues[path].guaranteed[name] > 0 and name not in barred}
    return found if PODS not in entitling or PODS in found else {}


def _shared_claim(tree: QueueTree, asker: str, victim: str) -> str | None:
    """The nearest queue that holds both, where every claim is one that is promised to both; else None."""
    found = claims(tree, asker)
    shared = {name: path for name, path in found.items() if tree.contains(path, victim)}
    if PODS in shared:
        return shared[PODS]
    return max(shared.values(), key=len) if len(shared) == len(found) else None


def _ranked_above(tree: QueueTree, asker: str, victim: str) -> str | None:
    """The priority fence of the victim that ranks above the asker's own, None where a high enough priority gets by.

    As policy ``fence`` reads ``priority.policy`` and ``priority.offset``: a fence puts its offset in place of the
    priorities below it.
    """
    shared = nearest_common(tree, asker, victim)
    rank: int | None = None  # unbounded: the ask's own priority
    for path in tree.lineage(asker):
        queue = tree[path]
        if queue.priority_policy is PriorityPolicy.FENCE:
            rank = queue.priority_offset
        elif rank is not None:
            rank += queue.priority_offset
        if path == shared:
            break
    if rank is None:
        return None
    below = [path for path in reversed(tree.lineage(victim)) if path != shared and tree.contains(shared, path)]
    for path in below:
        if tree[path].priority_policy is PriorityPolicy.FENCE:
            return path if tree[path].priority_offset > rank else None
        rank -= tree[path].priority_offset
    return None


def _capped(tree: QueueTree, asker: str, victim: str) -> str | None:
    """The queue above the asker whose max in pods the ask would exceed with the victim's queues at their guarantee.

    Pods alone matter: of all else the world may hold as little as the ask likes.
    """
    own = tree.lineage(asker)
    if not any(PODS in tree[path].max for path in own):  # as nearly all
        return None
    kept = max((tree[path].guaranteed.get(PODS, 0) for path in tree.lineage(victim) if path not in own), default=0)
    for path in own:
        if tree[path].max.get(PODS, kept + 1) <= (kept if tree.contains(path, victim) else 0):
            return path
    return None
