"""Policy ``deserved``: whoever uses more than it deserves gives, and so must the areas around it that hold it alone.

Nothing has to be guaranteed, and priorities are no bar. What anybody deserves depends on what all ask.
"""

from engine.model.queue_tree import QueueTree
from engine.tree.reach.barriers import closed, nearest_common, parted
from engine.tree.reach.borders import Border, BorderReason


def border(tree: QueueTree, asker: str, victim: str) -> Border:
    """The border from ``asker`` to ``victim``, both paths of leaves."""
    reason, queue = closed(tree, asker, victim) or parted(tree, asker, victim) or _open(tree, asker, victim)
    return Border(asker=asker, victim=victim, reason=reason, queue=queue)


def _open(tree: QueueTree, asker: str, victim: str) -> tuple[BorderReason, str]:
    common = nearest_common(tree, asker, victim)
    if tree[victim].parent != common:  # then an area around the victim alone has a say
        line = tree.lineage(victim)
        return BorderReason.OVERUSED, line[line.index(common) - 1]
    return (BorderReason.OVERUSED, victim) if common == tree.root else (BorderReason.RELATED, common)
