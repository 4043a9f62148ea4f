"""Checks for guarantees that can't be kept: because of a max, of other guarantees, or of the cluster.

Source: how YuniKorn checks its configuration (checkQueueResource of its package common/configs).
"""

from collections.abc import Iterator, Mapping

from engine.model.message import gettext_noop
from engine.model.notes import Note, Severity
from engine.model.quantities import Amounts, format_amount
from engine.model.queue_tree import Queue, QueueTree
from engine.tree.lint.found import make_note


def above_max(tree: QueueTree) -> Iterator[Note]:
    """Yield errors for guarantees that are above a max."""
    for path, limits in tightest(tree).items():
        queue = tree.queues[path]
        if limits and any(amount > limits.get(resource, amount) for resource, amount in queue.guaranteed.items()):
            yield from _above_max(tree, queue)


def amounts(tree: QueueTree) -> Iterator[Note]:
    """Yield the other contradictions of a queue's guarantee and max with the queues above or below it."""
    promised, least = tree.promised_below, tightest(tree)
    for path in tree.walk():
        queue, limits = tree[path], least[path]
        if promised[path]:
            yield from _promised_below(queue, promised[path])
        if limits is not queue.max and any(limits[resource] < limit for resource, limit in queue.max.items()):
            yield from _never_reached(tree, queue)


def tightest(tree: QueueTree) -> dict[str, Amounts]:
    """Return, by path, the least max of the queue and of those above it, resource by resource.

    Nearly every queue needs no closer look than that.
    """
    limits: dict[str, Amounts] = {}
    queues, parents = tree.queues, tree.parents
    for path in tree.walk():
        own_max, parent = queues[path].max, parents[path]
        above = limits[parent] if parent else {}
        if not own_max or not above:
            limits[path] = own_max or above
            continue
        tighter = {resource: limit for resource, limit in own_max.items() if limit < above.get(resource, limit + 1)}
        limits[path] = above | tighter if tighter else above
    return limits


def against_capacity(tree: QueueTree, capacity: Mapping[str, int]) -> Iterator[Note]:
    """Yield what the cluster's nodes can't keep, queue by queue and together, or that they can keep everything."""
    guaranteed = {resource: amount for resource, amount in tree.promised[tree.root].items() if amount}
    over = sorted(resource for resource, amount in guaranteed.items() if amount > capacity.get(resource, 0))
    for path in tree.walk():
        for resource, promised in tree[path].guaranteed.items() if path != tree.root else ():
            if promised > capacity.get(resource, 0):
                message = gettext_noop(
                    "The guarantee of %(guaranteed)s %(resource)s exceeds the capacity of all nodes, %(capacity)s."
                )
                remedy = gettext_noop("Lower the guarantee to the capacity of the nodes, or add nodes.")
                params = {"guaranteed": format_amount(resource, promised), **_held(resource, capacity)}
                yield make_note(Severity.WARNING, path, message, remedy, "guaranteed", resource, **params)
    yield from _outdated_shares(tree, capacity)
    for resource in over:
        message = gettext_noop("The guarantees exceed the capacity: %(wanted)s of %(capacity)s %(resource)s.")
        remedy = gettext_noop("Lower guarantees until they fit, or add nodes.")
        params = {"wanted": format_amount(resource, guaranteed[resource]), **_held(resource, capacity)}
        yield make_note(Severity.WARNING, tree.root, message, remedy, "guaranteed", resource, **params)
    if guaranteed and not over:
        shares = ", ".join(
            f"{format_amount(name, guaranteed[name])} / {format_amount(name, capacity[name])} {name}"
            for name in sorted(guaranteed)
        )
        yield make_note(Severity.INFO, tree.root, gettext_noop("The guarantees fit: %(shares)s."), "", shares=shares)


def _outdated_shares(tree: QueueTree, capacity: Mapping[str, int]) -> Iterator[Note]:
    for resource, then in sorted(tree.capacity.items()):
        if then != capacity.get(resource, 0):
            message = gettext_noop(
                "Percentages are based on a cluster of %(then)s %(resource)s; all nodes now have %(capacity)s."
            )
            remedy = gettext_noop("Update the capacity in a draft, or publish the document without capacity.")
            params = {"then": format_amount(resource, then), **_held(resource, capacity)}
            yield make_note(Severity.WARNING, tree.root, message, remedy, "capacity", resource, **params)


def _held(resource: str, capacity: Mapping[str, int]) -> dict[str, str]:
    return {"resource": resource, "capacity": format_amount(resource, capacity.get(resource, 0))}


def _above_max(tree: QueueTree, queue: Queue) -> Iterator[Note]:
    for resource, promised in queue.guaranteed.items():
        for above in tree.lineage(queue.path):
            limit = tree[above].max.get(resource)
            if limit is not None and promised > limit:
                message = gettext_noop(
                    "The guarantee of %(guaranteed)s %(resource)s is above the max of %(queue)s, %(max)s, "
                    "so it can’t be fulfilled."
                )
                remedy = gettext_noop("Lower the guarantee, or raise the max of %(queue)s to %(guaranteed)s.")
                params = {"guaranteed": format_amount(resource, promised), "max": format_amount(resource, limit)}
                place = ("guaranteed", resource)
                yield make_note(
                    Severity.ERROR, queue.path, message, remedy, *place, resource=resource, queue=above, **params
                )
                break


def _promised_below(queue: Queue, below: Amounts) -> Iterator[Note]:
    for resource, promised in below.items():
        guaranteed, limit = queue.guaranteed.get(resource), queue.max.get(resource)
        params = {"resource": resource, "below": format_amount(resource, promised)}
        if guaranteed is not None and promised > guaranteed:
            message = gettext_noop(
                "Its guarantee is %(own)s %(resource)s, but the queues below it have %(below)s in total, "
                "so not all of them can claim their guarantee."
            )
            remedy = gettext_noop("Raise its guarantee to %(below)s, or lower the guarantees below it.")
            params["own"] = format_amount(resource, guaranteed)
            yield make_note(Severity.WARNING, queue.path, message, remedy, "guaranteed", resource, **params)
        elif limit is not None and promised > limit:
            message = gettext_noop(
                "Its max is %(max)s %(resource)s, but the queues below it have guarantees of %(below)s in "
                "total, so not all of them can be fulfilled."
            )
            remedy = gettext_noop("Raise its max to %(below)s, or lower the guarantees below it.")
            params["max"] = format_amount(resource, limit)
            yield make_note(Severity.WARNING, queue.path, message, remedy, "max", resource, **params)


def _never_reached(tree: QueueTree, queue: Queue) -> Iterator[Note]:
    for resource, limit in queue.max.items():
        above = [path for path in tree.lineage(queue.path)[1:] if tree[path].max.get(resource, limit) < limit]
        if above:
            message = gettext_noop(
                "The max of %(max)s %(resource)s is never reached: the parent queue %(queue)s has %(limit)s."
            )
            remedy = gettext_noop("Lower it to %(limit)s, remove it, or raise the max of %(queue)s.")
            params = {"max": format_amount(resource, limit), "queue": above[0]}
            params["limit"] = format_amount(resource, tree[above[0]].max[resource])
            yield make_note(Severity.WARNING, queue.path, message, remedy, "max", resource, resource=resource, **params)
