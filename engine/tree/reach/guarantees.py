"""Which queues may preempt which under policy ``fence``, as far as the tree alone determines it, with reasons.

A border between two leaves is open if there are usages, sizes and priorities with which an ordinary pending pod of one
leaf has a pod of the other evicted. Pending pods of DaemonSets and the last resort are not ordinary.
"""

from collections.abc import Hashable, Mapping
from functools import lru_cache

from engine.model.quantities import PODS
from engine.model.queue_tree import PriorityPolicy, QueueTree
from engine.tree.reach.barriers import nearest_common, pair_barrier, preemptor_barrier
from engine.tree.reach.borders import Border, BorderReason


def border(tree: QueueTree, preemptor: str, victim: str) -> Border:
    """Return the border from ``preemptor`` to ``victim``, both paths of leaves.

    Reasons that apply to all pending pods of ``preemptor`` come first.
    """
    reason, queue = (
        _preemptor_reason(tree, preemptor, victim)
        or _pair_reason(tree, preemptor, victim)
        or _open(tree, preemptor, victim)
    )
    return Border(preemptor=preemptor, victim=victim, reason=reason, queue=queue)


def kind(tree: QueueTree, leaf: str) -> Hashable:
    """Return all that borders depend on of a leaf's own settings; see ``Reach.kind``. Amounts count only of pods."""
    queue = tree[leaf]
    guaranteed, most = queue.guaranteed, queue.max
    return (
        queue.preemption_policy,
        queue.priority_policy,
        queue.priority_offset,
        frozenset((name, amount > 0) for name, amount in guaranteed.items()),
        frozenset(name for name, amount in most.items() if amount <= 0),
        (guaranteed.get(PODS), most.get(PODS)),
    )


def _preemptor_reason(tree: QueueTree, preemptor: str, victim: str) -> tuple[BorderReason, str] | None:
    """Return why no pending pod of the leaf may preempt anything, whatever the victim; None if one may."""
    if barrier := preemptor_barrier(tree, preemptor, victim):
        return barrier
    if not claims(tree, preemptor):
        return BorderReason.NO_GUARANTEE, preemptor
    return None


def _pair_reason(tree: QueueTree, preemptor: str, victim: str) -> tuple[BorderReason, str] | None:
    """Return why no pending pod of one leaf may preempt pods of the other leaf; None if one may."""
    if barrier := pair_barrier(tree, preemptor, victim):
        return barrier
    if ranked := _ranked_above(tree, preemptor, victim):
        return BorderReason.PRIORITY_FENCE, ranked
    if shared := _shared_claim(tree, preemptor, victim):
        return BorderReason.SHARED_GUARANTEE, shared
    if capped := _capped(tree, preemptor, victim):
        return BorderReason.OVER_MAX, capped
    return None


def _open(tree: QueueTree, preemptor: str, victim: str) -> tuple[BorderReason, str]:
    fence = tree.fence(preemptor)
    return (BorderReason.SAME_FENCE, fence) if fence else (BorderReason.NO_FENCE, tree.fence(victim) or "")


def claims(tree: QueueTree, preemptor: str) -> Mapping[str, str]:
    """Return, by resource, the queue whose guarantee pending pods of the leaf may claim.

    The nearest queue with a guarantee of the resource decides. Every pending pod requests itself as a pod: if pods are
    guaranteed and none can be claimed, nothing can be.
    """
    return claims_of_all(tree)[preemptor]


@lru_cache(maxsize=8)  # callers query each tree for all of its leaves in a row
def claims_of_all(tree: QueueTree) -> Mapping[str, Mapping[str, str]]:
    """Return ``claims`` of every queue, computed from the root down."""
    entitling: dict[str, Mapping[str, str]] = {}
    barred: dict[str, frozenset[str]] = {}
    claims_by_queue: dict[str, Mapping[str, str]] = {}
    for path in tree.walk():
        queue, parent = tree[path], tree.parents[path]
        above, shut = (entitling[parent], barred[parent]) if parent else ({}, frozenset[str]())
        entitling[path] = {**above, **dict.fromkeys(queue.guaranteed, path)} if queue.guaranteed else above
        without_room = [name for name, most in queue.max.items() if most <= 0]
        barred[path] = shut.union(without_room) if without_room else shut
        claims_by_queue[path] = _claimed(tree, entitling[path], barred[path])
    return claims_by_queue


def _claimed(tree: QueueTree, entitling: Mapping[str, str], barred: frozenset[str]) -> Mapping[str, str]:
    queues = tree.queues
    claimed = {
        name: path for name, path in entitling.items() if queues[path].guaranteed[name] > 0 and name not in barred
    }
    return claimed if PODS not in entitling or PODS in claimed else {}


def _shared_claim(tree: QueueTree, preemptor: str, victim: str) -> str | None:
    """Return the nearest queue whose guarantee leaves nothing to claim, as both leaves share it, or None.

    That is so if both share every claim, or the claim of pods.
    """
    own_claims = claims(tree, preemptor)
    shared = {name: path for name, path in own_claims.items() if tree.contains(path, victim)}
    if PODS in shared:
        return shared[PODS]
    return max(shared.values(), key=len) if len(shared) == len(own_claims) else None


def _ranked_above(tree: QueueTree, preemptor: str, victim: str) -> str | None:
    """Return the victim's priority fence that ranks above the preemptor; None if a high enough priority gets past.

    As policy ``fence`` reads ``priority.policy`` and ``priority.offset``: a fence puts its offset in place of the
    priorities below it.
    """
    shared = nearest_common(tree, preemptor, victim)
    rank: int | None = None  # unbounded: the pending pod's own priority
    for path in tree.lineage(preemptor):
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


def _capped(tree: QueueTree, preemptor: str, victim: str) -> str | None:
    """Return the queue, from ``preemptor`` upwards, whose max in pods a further pod would exceed, or None.

    The victim's queues are taken to be at their guarantee. Only the number of pods matters, because of all other
    resources a pending pod may request as little as it likes.
    """
    preemptor_queues = tree.lineage(preemptor)
    if not any(PODS in tree[path].max for path in preemptor_queues):  # as in nearly all trees
        return None
    guaranteed_pods = max(
        (tree[path].guaranteed.get(PODS, 0) for path in tree.lineage(victim) if path not in preemptor_queues), default=0
    )
    for path in preemptor_queues:
        if tree[path].max.get(PODS, guaranteed_pods + 1) <= (guaranteed_pods if tree.contains(path, victim) else 0):
            return path
    return None
