"""Explains what would make a pending pod eligible to preempt: only what follows exactly from the trace's arithmetic."""

from engine.explain.decision.figures import figures, requested_amounts
from engine.model.decision import Decision, QueueFigures, Reason
from engine.model.message import Message, gettext_noop, short_name
from engine.model.quantities import format_amount

CLAIM_GUARANTEE = gettext_noop(
    "A guarantee of more than %(used)s %(resource)s for %(queue)s (now %(guaranteed)s, using %(used)s): "
    "it would then be below its guarantee and could preempt."
)
MORE_MAX = gettext_noop(
    "A max of %(would)s %(resource)s for %(queue)s (now %(max)s, using %(used)s): the pending pod would "
    "then fit below it."
)


def remedies(decision: Decision) -> tuple[Message, ...]:
    """Return the changes that together would make a pod eligible which requests too much for its guarantees.

    Nothing where another rule forbids it, or where the trace lacks a queue that matters.
    """
    if decision.group:  # what one of its pods lacks does not tell what all of them lack
        return ()
    if decision.reason not in (Reason.AT_GUARANTEE, Reason.OVER_MAX) or figures(decision, decision.ask.queue) is None:
        return ()
    messages: list[Message] = []
    for resource, requested in requested_amounts(decision).items():
        entitling = _entitling(decision, resource)
        if entitling is None:
            return ()
        messages += _claim(entitling, resource) + _under_max(decision, resource, requested)
    return tuple(messages)


def _entitling(decision: Decision, resource: str) -> tuple[QueueFigures, ...] | None:
    """Return the nearest queue upwards with a guarantee in a resource, if any; None where figures are missing."""
    path = decision.ask.queue
    while path:
        queue_figures = figures(decision, path)
        if queue_figures is None:
            return None
        if resource in queue_figures.guaranteed:
            return (queue_figures,)
        path = path.rpartition(".")[0]
    return ()


def _claim(entitling: tuple[QueueFigures, ...], resource: str) -> list[Message]:
    """Return the guarantees to raise: invariant 4 requires usage below the guarantee in every requested resource."""
    return [
        Message(
            CLAIM_GUARANTEE,
            {
                "queue": short_name(queue_figures.path),
                "resource": resource,
                "used": format_amount(resource, queue_figures.before.get(resource, 0)),
                "guaranteed": format_amount(resource, queue_figures.guaranteed[resource]),
            },
        )
        for queue_figures in entitling
        if queue_figures.before.get(resource, 0) >= queue_figures.guaranteed[resource]
    ]


def _under_max(decision: Decision, resource: str, requested: int) -> list[Message]:
    """Return the max to raise: evictions free nothing under the leaf's own max, as no pod of the leaf is evicted."""
    queue_figures = figures(decision, decision.ask.queue)
    if queue_figures is None or resource not in queue_figures.max:
        return []
    used = queue_figures.before.get(resource, 0)
    if used + requested <= queue_figures.max[resource]:
        return []
    return [
        Message(
            MORE_MAX,
            {
                "queue": short_name(queue_figures.path),
                "resource": resource,
                "used": format_amount(resource, used),
                "would": format_amount(resource, used + requested),
                "max": format_amount(resource, queue_figures.max[resource]),
            },
        )
    ]
