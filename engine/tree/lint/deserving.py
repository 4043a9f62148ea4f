"""Checks for settings that have no effect, or not the expected one, where queues get what they deserve.

Source: docs/policies/deserved.md.
"""

from collections.abc import Iterator

from engine.model.message import gettext_noop
from engine.model.notes import Note, Severity
from engine.model.queue_tree import Queue, QueueTree
from engine.tree.lint.found import make_note
from engine.tree.lint.lending import TAKES, has_sibling, weight


def deserving(tree: QueueTree) -> Iterator[Note]:
    """Yield remarks on weights, and on settings by which other policies lend."""
    for path in tree.walk():
        queue = tree[path]
        yield from weight(tree, queue)
        if queue.weight == 0 and has_sibling(tree, queue):
            message = gettext_noop("With a weight of 0 it deserves what is reserved for it alone, whatever it asks.")
            remedy = gettext_noop("Give it a weight above 0 if it is to have a share beside others.")
            yield make_note(Severity.INFO, path, message, remedy, "weight")
        yield from _of_other_policies(queue)


def _of_other_policies(queue: Queue) -> Iterator[Note]:
    if queue.lendable:
        message = gettext_noop("What it may lend has no effect: all that idles is lent, until it is claimed.")
        yield make_note(
            Severity.WARNING, queue.path, message, gettext_noop("Take it away."), "lendable", min(queue.lendable)
        )
    if names := [setting.name for setting in TAKES if setting.is_set(queue)]:
        message = gettext_noop("Whom it may preempt has no effect: those give that use more than they deserve.")
        yield make_note(Severity.WARNING, queue.path, message, gettext_noop("Take it away."), names[0])
