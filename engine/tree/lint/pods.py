"""Checks for queues in which no pod can run, and namespaces and former paths that lead nowhere, under any policy."""

from collections.abc import Container, Iterator

from engine.model.message import gettext_noop
from engine.model.notes import Note, Severity
from engine.model.placement import DEFAULT_LEAF
from engine.model.quantities import PODS
from engine.model.queue_tree import Queue, QueueTree
from engine.tree.lint.dynamic import may_give, may_grow
from engine.tree.lint.found import make_note


def pods(tree: QueueTree) -> Iterator[Note]:
    """Yield queues that no pod can reach, and namespaces and former paths of queues that have no effect."""
    full = {path for path, queue in tree.queues.items() if queue.max.get(PODS) == 0}
    for path in tree.walk():
        yield from _former(tree, tree[path])
        if not tree.is_leaf(path):
            yield from _parent(tree, tree[path])
            continue
        yield from _unreached(tree, tree[path])
        if full:
            yield from _no_room(tree, path, full)
        yield from _claimed_before(tree, tree[path])


def _former(tree: QueueTree, queue: Queue) -> Iterator[Note]:
    for index, path in enumerate(queue.former_paths):
        now = tree.written.get(path.lower()) or tree.by_former_path[path.lower()]
        if path.lower() in tree.written:
            message = gettext_noop("Pods that name %(former)s belong to the queue that has this path now.")
        elif now != queue.path:
            message = gettext_noop("Pods that name %(former)s belong to %(queue)s, which also had this path.")
        else:
            continue
        remedy = gettext_noop("Remove the former path here.")
        yield make_note(
            *(Severity.WARNING, queue.path, message, remedy, "former_paths", str(index)), former=path, queue=now
        )


def _parent(tree: QueueTree, queue: Queue) -> Iterator[Note]:
    if not tree.children[queue.path] and not may_grow(tree, queue.path):
        message = gettext_noop("It contains no queue, so no pod can run in it.")
        remedy = gettext_noop("Add a queue below it, make it a leaf queue, or delete it.")
        yield make_note(Severity.WARNING, queue.path, message, remedy)
    if queue.namespaces:
        message = gettext_noop("Namespaces have no effect on a parent queue. Assign them to a leaf queue.")
        remedy = gettext_noop("Move them to one of the leaf queues below.")
        yield make_note(Severity.WARNING, queue.path, message, remedy, "namespaces")


def _unreached(tree: QueueTree, leaf: Queue) -> Iterator[Note]:
    if not tree.placement or leaf.namespaces or leaf.path.lower() == DEFAULT_LEAF:
        return
    if not any(may_give(rule, leaf.path) for rule in tree.placement):
        message = gettext_noop("No placement rule leads to it, and it claims no namespace, so no pod can run in it.")
        remedy = gettext_noop("Add a placement rule that leads to it, such as “provided”, or let it claim a namespace.")
        yield make_note(Severity.WARNING, leaf.path, message, remedy)


def _no_room(tree: QueueTree, leaf: str, shut: Container[str]) -> Iterator[Note]:
    full = next((path for path in tree.lineage(leaf) if path in shut), None)
    if full is not None:
        message = gettext_noop("The max of %(queue)s is 0 pods, so no pod can run in it.")
        remedy = gettext_noop("Raise the max pods of %(queue)s, or remove it.")
        field = ("max", PODS) if full == leaf else ()
        yield make_note(Severity.WARNING, leaf, message, remedy, *field, queue=full)


def _claimed_before(tree: QueueTree, leaf: Queue) -> Iterator[Note]:
    for index, namespace in enumerate(leaf.namespaces):
        first = tree.leaf_by_namespace[namespace]
        if first != leaf.path:
            message = gettext_noop("Namespace %(namespace)s belongs to %(queue)s, which comes before it.")
            remedy = gettext_noop("Remove it here or from %(queue)s.")
            params = {"namespace": namespace, "queue": first}
            yield make_note(Severity.WARNING, leaf.path, message, remedy, "namespaces", str(index), **params)
