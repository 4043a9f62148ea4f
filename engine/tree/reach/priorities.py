"""Policy ``priority``: no queue is looked at, so no border is shut, not even to the queue itself."""

from engine.model.queue_tree import QueueTree
from engine.tree.reach.borders import Border, BorderReason


def border(tree: QueueTree, asker: str, victim: str) -> Border:  # noqa: ARG001 - of every policy
    """The border from ``asker`` to ``victim``, both paths of leaves."""
    return Border(asker=asker, victim=victim, reason=BorderReason.LOWER_PRIORITY, queue="")
