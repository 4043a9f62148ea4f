"""Which queues may preempt which under policy ``priority``: queues are ignored, so every border is open.

That includes the border from a queue to itself.
"""

from collections.abc import Hashable

from engine.model.queue_tree import QueueTree
from engine.tree.reach.borders import Border, BorderReason


def border(tree: QueueTree, preemptor: str, victim: str) -> Border:  # noqa: ARG001 - the signature of every policy
    """Return the border from ``preemptor`` to ``victim``, both paths of leaves."""
    return Border(preemptor=preemptor, victim=victim, reason=BorderReason.LOWER_PRIORITY, queue="")


def kind(tree: QueueTree, leaf: str) -> Hashable:  # noqa: ARG001 - the signature of every policy
    """Return nothing, as borders do not depend on settings; see ``Reach.kind``."""
    return None
