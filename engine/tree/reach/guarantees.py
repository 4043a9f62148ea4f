"""Which queues may preempt which under policy ``fence``, as far as the tree alone determines it, with reasons.

A border between two leaves is open if there are usages, sizes and priorities with which an ordinary pending pod of one
leaf has a pod of the other evicted. Pending pods of DaemonSets and the last resort are not ordinary.
"""

from collections.abc import Mapping
from functools import lru_cache

from engine.model.quantities import PODS
from engine.model.queue_tree import PriorityPolicy, QueueTree
from engine.tree.reach.barriers import nearest_common, pair_barrier, preemptor_barrier
from engine.tree.reach.borders import Border, BorderReason


@lru_cache(maxsize=100_000)  # pages query the same tree again and again; an entry has some 300 bytes
def border(tree: QueueTree, asker: str, victim: str) -> Border:
    """Return the border from ``asker`` to ``victim``, both paths of leaves.

    Reasons that apply to all pending pods of ``asker`` come first.
    """
    reason, queue = _of_asker(tree, asker, victim) or _of_pair(tree, asker, victim) or _open(tree, asker, victim)
    return Border(asker=asker, victim=victim, reason=reason, queue=queue)


def _of_asker(tree: QueueTree, asker: str, victim: str) -> tuple[BorderReason, str] | None:
    """Return why no pending pod of the leaf may preempt anything, whatever the victim; None if one may."""
    if found := preemptor_barrier(tree, asker, victim):
        return found
    if not claims(tree, asker):
        return BorderReason.NO_GUARANTEE, asker
    return None


def _of_pair(tree: QueueTree, asker: str, victim: str) -> tuple[BorderReason, str] | None:
    """Return why no pending pod of one leaf may preempt pods of the other leaf; None if one may."""
    if found := pair_barrier(tree, asker, victim):
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
    """Return, by resource, the queue whose guarantee pending pods of the leaf may claim.

    The nearest queue with a guarantee of the resource decides. Every pending pod requests itself as a pod: if pods are
    guaranteed and none can be claimed, nothing can be.
    """
    return claims_of_all(tree)[asker]


@lru_cache(maxsize=8)  # callers query each tree for all of its leaves in a row
def claims_of_all(tree: QueueTree) -> Mapping[str, Mapping[str, str]]:
    """Return ``claims`` of every queue, computed from the root down."""
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
    """Return the nearest queue whose guarantee leaves nothing to claim, as both leaves share it, or None.

    That is so if both share every claim, or the claim of pods.
    """
    found = claims(tree, asker)
    shared = {name: path for name, path in found.items() if tree.contains(path, victim)}
    if PODS in shared:
        return shared[PODS]
    return max(shared.values(), key=len) if len(shared) == len(found) else None


def _ranked_above(tree: QueueTree, asker: str, victim: str) -> str | None:
    """Return the victim's priority fence that ranks above the preemptor; None if a high enough priority gets past.

    As policy ``fence`` reads ``priority.policy`` and ``priority.offset``: a fence puts its offset in place of the
    priorities below it.
    """
    shared = nearest_common(tree, asker, victim)
    rank: int | None = None  # unbounded: the pending pod's own priority
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
    """Return the queue, from ``asker`` upwards, whose max in pods a further pod would exceed, or None.

    The victim's queues are taken to be at their guarantee. Only the number of pods matters, because of all other
    resources a pending pod may request as little as it likes.
    """
    own = tree.lineage(asker)
    if not any(PODS in tree[path].max for path in own):  # as in nearly all trees
        return None
    kept = max((tree[path].guaranteed.get(PODS, 0) for path in tree.lineage(victim) if path not in own), default=0)
    for path in own:
        if tree[path].max.get(PODS, kept + 1) <= (kept if tree.contains(path, victim) else 0):
            return path
    return None
