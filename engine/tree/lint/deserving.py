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
            message = gettext_noop(
                "With a weight of 0, its deserved share is only its reservation, regardless of what it requests."
            )
            remedy = gettext_noop("Set a weight above 0 to give it a share beside other queues.")
            yield make_note(Severity.INFO, path, message, remedy, "weight")
        yield from _of_other_policies(queue)


def _of_other_policies(queue: Queue) -> Iterator[Note]:
    if queue.lendable:
        message = gettext_noop(
            "Its lendable amount has no effect: all idle resources are lent until they are claimed back."
        )
        yield make_note(
            Severity.WARNING, queue.path, message, gettext_noop("Remove it."), "lendable", min(queue.lendable)
        )
    if names := [setting.name for setting in TAKES if setting.is_set(queue)]:
        message = gettext_noop("Its preemption settings have no effect: queues above their deserved share give back.")
        yield make_note(Severity.WARNING, queue.path, message, gettext_noop("Remove it."), names[0])
