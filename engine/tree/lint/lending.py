"""Checks for settings of lending and taking that have no effect, or not the one that they seem to have.

Source: Kueue's cohorts and fair sharing, and what its webhooks refuse of a ClusterQueue.
"""

from collections.abc import Iterator

from engine.model.message import gettext_noop
from engine.model.notes import Note, Severity
from engine.model.queue_settings import LENDING_SETTINGS
from engine.model.queue_tree import WEIGHT_ONE, PreemptionPolicy, Queue, QueueTree
from engine.tree.lint.dynamic import may_grow
from engine.tree.lint.found import make_note
from engine.tree.lint.kueue import borrows_in_vain, lends_too_much

TAKES = tuple(setting for setting in LENDING_SETTINGS if setting.leaf_only)
"""The settings that say which pods a leaf may preempt."""


def lending(tree: QueueTree) -> Iterator[Note]:
    """Yield remarks on weights, on what is lendable, and on which pods queues may preempt."""
    for path in tree.walk():
        queue = tree[path]
        yield from weight(tree, queue)
        if queue.weight == 0 and has_sibling(tree, queue):
            message = gettext_noop(
                "With a weight of 0, everything it borrows counts as the largest share. Under fair "
                "sharing, it is preempted first and borrows last."
            )
            remedy = gettext_noop("Set a weight above 0 if it should borrow beside other queues.")
            yield make_note(Severity.INFO, queue.path, message, remedy, "weight")
        if queue.lendable:
            yield from _lendable(tree, queue)
        if tree.is_leaf(path):
            yield from _borrowing(queue)
        else:
            yield from _parent(queue)


def weight(tree: QueueTree, queue: Queue) -> Iterator[Note]:
    """Yield a remark on a weight that there is no other weight to compare with."""
    if queue.weight != WEIGHT_ONE and not has_sibling(tree, queue):
        message = gettext_noop("Its weight has no effect: no queue beside it shares with it.")
        remedy = gettext_noop("Remove it, or set it on the queues below.")
        yield make_note(Severity.WARNING, queue.path, message, remedy, "weight")


def _lendable(tree: QueueTree, queue: Queue) -> Iterator[Note]:
    if not any(has_sibling(tree, tree[above]) for above in _inside(tree, queue.path)):
        message = gettext_noop("Its lendable amount has no effect: no other queue could borrow it.")
        remedy = gettext_noop("Remove it.")
        yield make_note(Severity.WARNING, queue.path, message, remedy, "lendable", min(queue.lendable))
        return
    if tree.is_leaf(queue.path):
        yield from lends_too_much(queue, queue.lendable, Severity.WARNING)


def _inside(tree: QueueTree, path: str) -> Iterator[str]:
    """Yield the queue and those above it, up to the top of their cohort; the root is left out."""
    for above in tree.lineage(path)[:-1]:
        yield above
        if _is_border(tree, tree[above]):
            return


def _is_border(tree: QueueTree, queue: Queue) -> bool:
    """Return whether the queue is the top of a separate cohort: a fence below the root, as Kueue's are read."""
    return queue.parent == tree.root and queue.preemption_policy is PreemptionPolicy.FENCE


def has_sibling(tree: QueueTree, queue: Queue) -> bool:
    """Return whether there is, or may be created, a queue beside it that shares with it."""
    parent = queue.parent
    if parent is None or _is_border(tree, queue):
        return False
    siblings = [tree[path] for path in tree.children[parent] if path != queue.path]
    return any(not _is_border(tree, other) for other in siblings) or may_grow(tree, parent)


def _parent(queue: Queue) -> Iterator[Note]:
    if names := [setting.name for setting in TAKES if setting.is_set(queue)]:
        message = gettext_noop("Preemption settings have no effect on a parent queue. Set them on its leaf queues.")
        remedy = gettext_noop("Remove it, and set it on the leaf queues below.")
        yield make_note(Severity.WARNING, queue.path, message, remedy, names[0])


def _borrowing(queue: Queue) -> Iterator[Note]:
    yield from borrows_in_vain(queue, queue.take_reclaim, Severity.WARNING)
    if queue.take_threshold is not None and queue.take_borrowing is False:
        message = gettext_noop(
            "The highest priority preempted while borrowing has no effect: the queue never preempts while it borrows."
        )
        remedy = gettext_noop("Remove it, or let the queue preempt while it borrows.")
        yield make_note(Severity.WARNING, queue.path, message, remedy, "take_threshold")
