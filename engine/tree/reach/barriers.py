"""Barriers that several policies have: the preemptor's own queue, disabled preemption, and one-way fences."""

from engine.model.queue_tree import QueueTree
from engine.tree.reach.borders import BorderReason


def preemptor_barrier(tree: QueueTree, preemptor: str, victim: str) -> tuple[BorderReason, str] | None:
    """Return why the preemptor's queue may preempt nothing, or nothing in itself, and the queue to blame, or None."""
    if preemptor == victim:
        return BorderReason.SAME_QUEUE, preemptor
    if disabled := tree.disabled_by(preemptor):
        return BorderReason.DISABLED, disabled
    if tree.fence(preemptor) == preemptor:
        return BorderReason.LEAF_FENCE, preemptor
    return None


def pair_barrier(tree: QueueTree, preemptor: str, victim: str) -> tuple[BorderReason, str] | None:
    """Return why no pod of the victim's queue may be evicted for the preemptor, and the queue to blame, or None."""
    fence = tree.fence(preemptor)
    if fence and not tree.contains(fence, victim):
        return BorderReason.FENCE, fence
    disabled = tree.disabled_by(victim)
    return (BorderReason.DISABLED, disabled) if disabled else None


def nearest_common(tree: QueueTree, first: str, second: str) -> str:
    """Return the lowest queue that contains both queues."""
    return next(path for path in tree.lineage(first) if tree.contains(path, second))
