"""What stands in the way under several policies: a queue's own, what is turned off, and fences that go one way."""

from engine.model.queue_tree import QueueTree
from engine.tree.reach.borders import BorderReason


def closed(tree: QueueTree, asker: str, victim: str) -> tuple[BorderReason, str] | None:
    """Why an asker takes nothing from anybody, or not from itself."""
    if asker == victim:
        return BorderReason.SAME_QUEUE, asker
    if disabled := tree.disabled_by(asker):
        return BorderReason.DISABLED, disabled
    if tree.fence(asker) == asker:
        return BorderReason.LEAF_FENCE, asker
    return None


def parted(tree: QueueTree, asker: str, victim: str) -> tuple[BorderReason, str] | None:
    """Why none of the victim's pods goes for the asker."""
    fence = tree.fence(asker)
    if fence and not tree.contains(fence, victim):
        return BorderReason.FENCE, fence
    disabled = tree.disabled_by(victim)
    return (BorderReason.DISABLED, disabled) if disabled else None


def nearest_common(tree: QueueTree, one: str, other: str) -> str:
    """The lowest queue that holds both."""
    return next(path for path in tree.lineage(one) if tree.contains(path, other))
