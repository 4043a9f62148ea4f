"""What is wrong with a tree, what in it does not do what it seems to, and what holds.

Errors contradict themselves: such a tree is never published. Warnings are published, once read. What holds is said too.
"""

from collections.abc import Iterable, Iterator, Mapping

from engine.formats.notes import Note, Place, Severity, gettext_noop
from engine.queues import PreemptionPolicy, Queue, QueueTree
from engine.resources import Amounts, format_amount, total


def lint(tree: QueueTree, capacity: Mapping[str, int] | None = None) -> tuple[Note, ...]:
    """Errors first, then warnings, then what holds; within each the order of the tree.

    ``capacity`` is what the cluster's nodes hold; None where no cluster is known. Source of the rules on amounts: how
    YuniKorn checks its configuration.
    """
    promised = promises(tree)
    found = [note for path in tree.walk() for note in _queue(tree, path, promised)]
    found += _namespaces(tree)
    if capacity is not None:
        found += _against_capacity(tree.root, promised[tree.root], capacity)
    order = list(Severity)
    return tuple(sorted(found, key=lambda note: order.index(note.severity)))


def promises(tree: QueueTree) -> dict[str, Amounts]:
    """Path -> what the queue is guaranteed; where it says nothing of a resource, what those below it are together."""
    found: dict[str, Amounts] = {}
    for path in reversed(list(tree.walk())):
        found[path] = total(found[child] for child in tree.children[path]) | tree[path].guaranteed
    return found


def errors(tree: QueueTree) -> tuple[Note, ...]:
    """Only what keeps the tree from being published."""
    return tuple(note for note in lint(tree) if note.severity is Severity.ERROR)


def _note(severity: Severity, path: str, message: str, *field: str, **params: str) -> Note:
    place = Place(path=path).at(*field)
    return Note(severity=severity, path=path, line=None, message=message, params=params, field=place.field)


def _queue(tree: QueueTree, path: str, promised: Mapping[str, Amounts]) -> Iterator[Note]:
    queue = tree[path]
    yield from _guaranteed_above_max(tree, queue)
    yield from _promised_below(queue, total(promised[child] for child in tree.children[path]))
    yield from _without_effect(tree, queue)
    if tree.is_leaf(path):
        yield from _leaf(tree, queue)
    elif not tree.children[path]:
        yield _note(Severity.WARNING, path, gettext_noop("It holds no queue, so no pod can run in it."))


def _guaranteed_above_max(tree: QueueTree, queue: Queue) -> Iterator[Note]:
    for resource, promised in queue.guaranteed.items():
        for above in tree.lineage(queue.path):
            limit = tree[above].max.get(resource)
            if limit is not None and promised > limit:
                message = gettext_noop(
                    "Guaranteed %(resource)s %(guaranteed)s is above the max of %(queue)s, %(max)s: it can't be kept."
                )
                amounts = {"guaranteed": format_amount(resource, promised), "max": format_amount(resource, limit)}
                params = {"resource": resource, "queue": above, **amounts}
                yield _note(Severity.ERROR, queue.path, message, "guaranteed", resource, **params)
                break


def _promised_below(queue: Queue, below: Amounts) -> Iterator[Note]:
    for resource, own in queue.guaranteed.items():
        if below.get(resource, 0) > own:
            message = gettext_noop(
                "It is guaranteed %(own)s %(resource)s, and the queues below it %(below)s together: "
                "they can't all claim what they were promised."
            )
            amounts = {"own": format_amount(resource, own), "below": format_amount(resource, below[resource])}
            yield _note(Severity.WARNING, queue.path, message, "guaranteed", resource, resource=resource, **amounts)


def _without_effect(tree: QueueTree, queue: Queue) -> Iterator[Note]:
    if queue.path == tree.root and queue.preemption_policy is not PreemptionPolicy.DEFAULT:
        message = gettext_noop("The root's preemption policy has no effect: there is nothing outside of it.")
        yield _note(Severity.WARNING, queue.path, message, "preemption_policy")
    if not tree.is_leaf(queue.path) and queue.delay_ms is not None:
        message = gettext_noop("A delay has no effect on a queue that holds queues: set it on its leaves.")
        yield _note(Severity.WARNING, queue.path, message, "delay")
    if not tree.is_leaf(queue.path) and queue.namespaces:
        message = gettext_noop("Namespaces have no effect on a queue that holds queues: give them to a leaf.")
        yield _note(Severity.WARNING, queue.path, message, "namespaces")
    for resource, limit in queue.max.items():
        above = [path for path in tree.lineage(queue.path)[1:] if tree[path].max.get(resource, limit) < limit]
        if above:
            message = gettext_noop("Max %(resource)s %(max)s is never reached: %(queue)s above has %(limit)s.")
            params = {"max": format_amount(resource, limit), "queue": above[0]}
            params["limit"] = format_amount(resource, tree[above[0]].max[resource])
            yield _note(Severity.WARNING, queue.path, message, "max", resource, resource=resource, **params)


def _leaf(tree: QueueTree, queue: Queue) -> Iterator[Note]:
    entitled = any(tree[above].guaranteed for above in tree.lineage(queue.path))
    fence, disabled = tree.fence(queue.path), tree.disabled_by(queue.path)
    if disabled:
        if queue.guaranteed:
            message = gettext_noop("%(queue)s turns preemption off: its guarantee helps only while room is free.")
            yield _note(Severity.WARNING, queue.path, message, "preemption_policy", queue=disabled)
    elif not entitled:
        message = gettext_noop("It has no guarantee: it may preempt nothing, and all that it runs may be preempted.")
        yield _note(Severity.WARNING, queue.path, message, "guaranteed")
    elif fence == queue.path:
        message = gettext_noop(
            "Its own fence lets nothing out: it can preempt nothing, its guarantee helps only while room is free."
        )
        yield _note(Severity.WARNING, queue.path, message, "preemption_policy")
    elif fence and not any(other != queue.path and tree.is_leaf(other) for other in tree.walk(fence)):
        message = gettext_noop("It is the only leaf inside the fence of %(queue)s, so it can preempt nothing.")
        yield _note(Severity.WARNING, queue.path, message, "preemption_policy", queue=fence)


def _namespaces(tree: QueueTree) -> Iterator[Note]:
    for leaf in tree.leaves:
        for index, namespace in enumerate(tree[leaf].namespaces):
            first = tree.leaf_by_namespace[namespace]
            if first != leaf:
                message = gettext_noop("Namespace %(namespace)s belongs to %(queue)s, which stands before it.")
                params = {"namespace": namespace, "queue": first}
                yield _note(Severity.WARNING, leaf, message, "namespaces", str(index), **params)


def _against_capacity(root: str, promised: Amounts, capacity: Mapping[str, int]) -> Iterable[Note]:
    wanted = {resource: amount for resource, amount in promised.items() if amount}
    over = {resource for resource, amount in wanted.items() if amount > capacity.get(resource, 0)}
    for resource in sorted(over):
        message = gettext_noop("Guarantees don't fit: %(wanted)s %(resource)s of %(capacity)s.")
        amounts = {"wanted": format_amount(resource, wanted[resource])}
        amounts["capacity"] = format_amount(resource, capacity.get(resource, 0))
        yield _note(Severity.WARNING, root, message, "guaranteed", resource, resource=resource, **amounts)
    if wanted and not over:
        shares = [
            f"{format_amount(name, wanted[name])} / {format_amount(name, capacity[name])} {name}"
            for name in sorted(wanted)
        ]
        yield _note(Severity.INFO, root, gettext_noop("Guarantees fit: %(shares)s."), shares=", ".join(shares))
