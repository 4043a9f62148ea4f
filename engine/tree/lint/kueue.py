"""Checks for what Kueue refuses in a tree that it reads itself.

Source: clusterqueue_webhook.go and cohort_webhook.go of Kueue's pkg/webhooks, and its CustomResourceDefinitions.
"""

from collections.abc import Collection, Iterator

from engine.model.message import gettext_noop
from engine.model.notes import Note, Severity
from engine.model.quantities import format_amount
from engine.model.queue_tree import PreemptionPolicy, Queue, QueueTree, Take
from engine.tree.lint.found import make_note

LEAST_WEIGHT = 2
"""The least weight above 0, in billionths: Kueue takes 0, and what is above 1n, whatever its message says (10e-9)."""


def refusals(tree: QueueTree) -> Iterator[Note]:
    """Yield an error for every reason for which Kueue refuses all changes of a queue."""
    for path in tree.walk():
        queue = tree[path]
        if 0 < queue.weight < LEAST_WEIGHT:
            message = gettext_noop("Its weight is too small. Kueue rejects it.")
            remedy = gettext_noop("Set it to 0 or to a larger value.")
            yield make_note(Severity.ERROR, path, message, remedy, "weight")
        if tree.is_leaf(path):
            if not _alone(tree, queue):
                yield from lends_too_much(queue, queue.guaranteed.keys() | queue.max.keys(), Severity.ERROR)
            yield from borrows_in_vain(queue, queue.take_reclaim or Take.NEVER, Severity.ERROR)


def _alone(tree: QueueTree, queue: Queue) -> bool:
    """Return whether the queue's ClusterQueue is in no cohort, so that it lends nothing."""
    return queue.parent == tree.root and queue.preemption_policy is PreemptionPolicy.FENCE


def lends_too_much(queue: Queue, among: Collection[str], severity: Severity) -> Iterator[Note]:
    """Yield where a leaf may lend more than it is guaranteed, of the resources in ``among``."""
    for resource, amount in queue.lendable.items():
        promised = queue.guaranteed.get(resource, 0)
        if amount > promised and resource in among:
            message = gettext_noop(
                "Lendable %(resource)s %(lendable)s exceeds the guarantee of %(guaranteed)s. Kueue rejects that."
            )
            remedy = gettext_noop("Lower it to %(guaranteed)s, or remove it to lend the whole guarantee.")
            params = {"lendable": format_amount(resource, amount), "guaranteed": format_amount(resource, promised)}
            yield make_note(severity, queue.path, message, remedy, "lendable", resource, resource=resource, **params)


def borrows_in_vain(queue: Queue, reclaim: Take | None, severity: Severity) -> Iterator[Note]:
    """Yield where a leaf is to preempt while it borrows, but never in other queues.

    ``reclaim``: which pods it may preempt in other queues.
    """
    if queue.take_borrowing and reclaim is Take.NEVER:
        message = gettext_noop(
            "It does not preempt other queues, so it can’t do so while it borrows either. Kueue rejects "
            "this combination."
        )
        remedy = gettext_noop("Allow it to preempt other queues, or do not let it preempt while it borrows.")
        yield make_note(severity, queue.path, message, remedy, "take_borrowing")
