"""Barriers that several policies have: the preemptor's own queue, disabled preemption, and one-way fences."""

from engine.model.queue_tree import QueueTree
from engine.tree.reach.borders import BorderReason


def preemptor_barrier(tree: QueueTree, asker: str, victim: str) -> tuple[BorderReason, str] | None:
    """Return why the preemptor's queue may preempt nothing, or nothing in itself, and the queue to blame, or None."""
    if asker == victim:
        return BorderReason.SAME_QUEUE, asker
    if disabled := tree.disabled_by(asker):
        return BorderReason.DISABLED, disabled
    if tree.fence(asker) == asker:
        return BorderReason.LEAF_FENCE, asker
    return None


def pair_barrier(tree: QueueTree, asker: str, victim: str) -> tuple[BorderReason, str] | None:
    """Return why no pod of the victim's queue may be evicted for the preemptor, and the queue to blame, or None."""
    fence = tree.fence(asker)
    if fence and not tree.contains(fence, victim):
        return BorderReason.FENCE, fence
    disabled = tree.disabled_by(victim)
    return (BorderReason.DISABLED, disabled) if disabled else None


def nearest_common(tree: QueueTree, one: str, other: str) -> str:
    """Return the lowest queue that contains both queues."""
    return next(path for path in tree.lineage(one) if tree.contains(path, other))
