"""Checks for amounts of a resource in one flavor of nodes, which only policies that know flavors can decide by."""

from collections.abc import Iterator

from engine.model.message import gettext_noop
from engine.model.notes import Note, Severity
from engine.model.quantities import FLAVOR
from engine.model.queue_tree import QueueTree
from engine.tree.lint.found import make_note


def flavors(tree: QueueTree, policy: str) -> Iterator[Note]:
    """Yield an error for each amount in a flavor under a policy that does not know flavors.

    Pods request a resource without a flavor, so that the amount would promise and limit nothing.
    """
    for path in tree.walk():
        queue = tree.queues[path]
        if FLAVOR not in "".join((*queue.guaranteed, *queue.max)):  # as in nearly all trees
            continue
        for field, amounts in (("guaranteed", queue.guaranteed), ("max", queue.max)):
            for resource in amounts:
                name, at, flavor = resource.partition(FLAVOR)
                if at:
                    params = {"resource": name, "flavor": flavor, "policy": policy}
                    message = gettext_noop(
                        "%(resource)s of flavor %(flavor)s: the policy %(policy)s does not support flavors."
                    )
                    remedy = gettext_noop("Set the total %(resource)s of all flavors.")
                    yield make_note(Severity.ERROR, path, message, remedy, field, resource, **params)
