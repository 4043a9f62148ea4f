"""Numbers out of a decision's trace: which resource decided, how far a queue stood from its guarantee."""

from collections.abc import Iterable
from fractions import Fraction

from engine.model.decision import Decision, QueueFigures
from engine.model.quantities import PODS, Amounts, total


def figures(decision: Decision, path: str) -> QueueFigures | None:
    """The trace's figures of a queue, None if it has none."""
    return next((found for found in decision.trace.queues if found.path == path), None)


def shortfall(decision: Decision, resource: str) -> tuple[str, int] | None:
    """The queue whose guarantee the ask claims, and how far it stood below (negative: above)."""
    path = decision.trace.entitling.get(resource)
    found = figures(decision, path) if path else None
    if path is None or found is None or resource not in found.guaranteed:
        return None
    return path, found.guaranteed[resource] - found.before.get(resource, 0)


def surplus(decision: Decision, path: str, resource: str) -> int | None:
    """How far a queue stood above its guarantee; None without figures or guarantee."""
    found = figures(decision, path)
    if found is None or resource not in found.guaranteed:
        return None
    return found.before.get(resource, 0) - found.guaranteed[resource]


def asked(decision: Decision) -> Amounts:
    """What the ask requests, without the pod itself unless it asks nothing else."""
    wanted = {name: value for name, value in decision.ask.requests.items() if value > 0}
    return {name: value for name, value in wanted.items() if name != PODS} or wanted


def decisive(decision: Decision) -> str | None:
    """The resource that a sentence is about: where the ask's claim was the narrowest.

    Of what it asks, first what the victims hold and what it has a claim to; of those, where the claim is the fewest
    times what it asks. So an ask for 8 of 72 missing cores and 2 of 2 missing GPUs is about GPUs.
    """
    wanted = asked(decision)
    freed = total(verdict.pod.requests for verdict in decision.victims)

    def rank(resource: str) -> tuple[bool, bool, Fraction, str]:
        claim = shortfall(decision, resource)
        room = Fraction(claim[1], wanted[resource]) if claim else Fraction(0)
        return (claim is None, freed.get(resource, 0) == 0, room, resource)

    return min(wanted, key=rank, default=None)


def queues_of(decision: Decision) -> list[str]:
    """The queues of those that are evicted, each once, in the victims' order."""
    return list(dict.fromkeys(verdict.pod.queue for verdict in decision.to_evict))


def narrowest(found: QueueFigures, resources: Iterable[str]) -> str | None:
    """Of what a queue has a guarantee in, the resource in which it ended nearest to it."""
    held = [name for name in resources if found.guaranteed.get(name, 0) > 0]
    return min(held, key=lambda name: (Fraction(found.after.get(name, 0), found.guaranteed[name]), name), default=None)
