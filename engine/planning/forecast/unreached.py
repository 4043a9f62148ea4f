"""Finds guarantees that are not reached in a forecast's end, although pods wait for them."""

import msgspec

from engine.model.quantities import PODS
from engine.model.queue_tree import QueueTree
from engine.planning.forecast.outcome import Forecast, Settling


class UnreachedGuarantee(msgspec.Struct, frozen=True, order=True):
    """A queue below its guarantee in the end, while one of its pods that requests the resource waits."""

    queue: str
    resource: str
    used: int
    guaranteed: int
    """Both amounts are in the resource's integer unit."""


def unreached_guarantees(result: Forecast, tree: QueueTree) -> tuple[UnreachedGuarantee, ...]:
    """Return the guarantees that remain out of reach under the forecast's tree, by queue and resource.

    Nothing where the forecast does not reach a stable state: its end is unknown then.
    """
    if result.settles is not Settling.STABLE:
        return ()
    snapshot = result.end.snapshot(tree, now_ms=result.rounds[-1].now_ms)
    tree, used = snapshot.tree, snapshot.usage(snapshot.tree)
    requested = tree.usage((audited.decision.ask.queue, audited.decision.ask.requests) for audited in result.waiting)
    missed = [
        UnreachedGuarantee(path, resource, used[path].get(resource, 0), guaranteed)
        for path in tree.walk()
        for resource, guaranteed in tree[path].guaranteed.items()
        if resource != PODS and used[path].get(resource, 0) < guaranteed and requested[path].get(resource, 0)
    ]
    return tuple(sorted(missed))
