"""Which queues may preempt which under policy ``deserved``: a queue that uses more than it deserves gives back.

So do the queues around the victim that do not contain the preemptor. Nothing has to be guaranteed, and priorities are
no bar. What a queue deserves depends on what all queues request.
"""

from collections.abc import Hashable

from engine.model.queue_tree import QueueTree
from engine.tree.reach.barriers import nearest_common, pair_barrier, preemptor_barrier
from engine.tree.reach.borders import Border, BorderReason


def border(tree: QueueTree, preemptor: str, victim: str) -> Border:
    """Return the border from ``preemptor`` to ``victim``, both paths of leaves."""
    reason, queue = (
        preemptor_barrier(tree, preemptor, victim)
        or pair_barrier(tree, preemptor, victim)
        or _open(tree, preemptor, victim)
    )
    return Border(preemptor=preemptor, victim=victim, reason=reason, queue=queue)


def kind(tree: QueueTree, leaf: str) -> Hashable:
    """Return whether a leaf is a fence, or turns preemption off; see ``Reach.kind``."""
    return tree[leaf].preemption_policy


def _open(tree: QueueTree, preemptor: str, victim: str) -> tuple[BorderReason, str]:
    common = nearest_common(tree, preemptor, victim)
    if tree[victim].parent != common:  # then a queue around the victim alone decides
        line = tree.lineage(victim)
        return BorderReason.OVERUSED, line[line.index(common) - 1]
    return (BorderReason.OVERUSED, victim) if common == tree.root else (BorderReason.RELATED, common)
