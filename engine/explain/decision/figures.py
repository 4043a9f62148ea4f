"""Reads figures from a decision's trace: the decisive resource, and a queue's distance from its guarantee."""

from collections.abc import Iterable
from fractions import Fraction

from engine.model.decision import Decision, QueueFigures
from engine.model.quantities import PODS, Amounts, total


def figures(decision: Decision, path: str) -> QueueFigures | None:
    """Return the trace's figures of a queue, None if it has none."""
    return next((queue_figures for queue_figures in decision.trace.queues if queue_figures.path == path), None)


def shortfall(decision: Decision, resource: str) -> tuple[str, int] | None:
    """Return the queue whose guarantee the pending pod claims, and how far it was below (negative: above)."""
    path = decision.trace.entitling.get(resource)
    queue_figures = figures(decision, path) if path else None
    if path is None or queue_figures is None or resource not in queue_figures.guaranteed:
        return None
    return path, queue_figures.guaranteed[resource] - queue_figures.before.get(resource, 0)


def surplus(decision: Decision, path: str, resource: str) -> int | None:
    """Return how far a queue was above its guarantee; None without figures or guarantee."""
    queue_figures = figures(decision, path)
    if queue_figures is None or resource not in queue_figures.guaranteed:
        return None
    return queue_figures.before.get(resource, 0) - queue_figures.guaranteed[resource]


def requested_amounts(decision: Decision) -> Amounts:
    """Return what the pending pod requests, without the pod itself unless it requests nothing else."""
    requests = {name: value for name, value in decision.ask.requests.items() if value > 0}
    return {name: value for name, value in requests.items() if name != PODS} or requests


def decisive(decision: Decision) -> str | None:
    """Return the resource that a sentence is about: the one in which the pending pod's claim was the narrowest.

    Resources with a claim that the victims hold come first; of those, the one whose claim is the smallest multiple of
    the request. So for a pod that requests 8 of 72 missing cores and 2 of 2 missing GPUs, the sentence is about GPUs.
    """
    requests = requested_amounts(decision)
    freed = total(verdict.pod.requests for verdict in decision.victims)

    def rank(resource: str) -> tuple[bool, bool, Fraction, str]:
        claim = shortfall(decision, resource)
        room = Fraction(claim[1], requests[resource]) if claim else Fraction(0)
        return (claim is None, freed.get(resource, 0) == 0, room, resource)

    return min(requests, key=rank, default=None)


def queues_of(decision: Decision) -> list[str]:
    """Return the queues of the evicted pods, each once, in the victims' order."""
    return list(dict.fromkeys(verdict.pod.queue for verdict in decision.to_evict))


def narrowest(queue_figures: QueueFigures, resources: Iterable[str]) -> str | None:
    """Return the guaranteed resource in which a queue ended nearest to its guarantee."""
    held = [name for name in resources if queue_figures.guaranteed.get(name, 0) > 0]
    return min(
        held,
        key=lambda name: (Fraction(queue_figures.after.get(name, 0), queue_figures.guaranteed[name]), name),
        default=None,
    )
