"""Checks for preemption settings that have no effect, or not the one that they seem to have."""

from collections.abc import Iterator

from engine.model.message import gettext_noop
from engine.model.notes import Note, Severity
from engine.model.queue_tree import PreemptionPolicy, Queue, QueueTree
from engine.tree.lint.found import make_note


def effects(tree: QueueTree, *, design: bool = True) -> Iterator[Note]:
    """Yield remarks on policies and delays, comparing each queue with the queues above it.

    Without ``design`` only what holds by YuniKorn's own rules too: there leaves inherit the delay of a queue above, and
    queues that turned preemption off still preempt.
    """
    for path in tree.walk():
        queue = tree[path]
        if path == tree.root:
            yield from _root(queue)
        else:
            yield from _policy(tree, queue, design=design)
        if design and not tree.is_leaf(path) and queue.delay_ms is not None:
            message = gettext_noop("A delay has no effect on a parent queue. Set it on its leaf queues.")
            remedy = gettext_noop("Remove it, and set it on the leaf queues below.")
            yield make_note(Severity.WARNING, path, message, remedy, "delay")


def _root(queue: Queue) -> Iterator[Note]:
    if queue.preemption_policy is not PreemptionPolicy.DEFAULT:
        message = gettext_noop("The root’s preemption policy has no effect: nothing is outside the root.")
        remedy = gettext_noop("Set it to default. Set fence or disabled on the queues below.")
        yield make_note(Severity.WARNING, queue.path, message, remedy, "preemption_policy")


def _policy(tree: QueueTree, queue: Queue, *, design: bool) -> Iterator[Note]:
    if queue.preemption_policy is PreemptionPolicy.DEFAULT:
        return
    above = queue.parent or tree.root
    if design and (disabled := tree.disabled_by(above)):
        message = gettext_noop(
            "Its preemption policy has no effect: %(queue)s disables preemption for all queues below it."
        )
        remedy = gettext_noop("Set its policy or that of %(queue)s to default.")
        yield make_note(Severity.WARNING, queue.path, message, remedy, "preemption_policy", queue=disabled)
    elif queue.preemption_policy is PreemptionPolicy.DISABLED:
        if design and (fence := tree.fence(above)):
            message = gettext_noop(
                "Preemption is disabled here, inside the fence of %(queue)s. Even the queues inside that "
                "fence can’t preempt it, and it can’t preempt them."
            )
            remedy = gettext_noop(
                "Set it to default if the queues inside %(queue)s should be able to preempt each other."
            )
            yield make_note(Severity.INFO, queue.path, message, remedy, "preemption_policy", queue=fence)
    elif tree.is_leaf(queue.path):
        message = gettext_noop("Its own fence lets nothing out, so it can’t preempt, regardless of its guarantee.")
        remedy = gettext_noop("If it should preempt, set the fence on its parent queue instead.")
        yield make_note(Severity.INFO, queue.path, message, remedy, "preemption_policy")
