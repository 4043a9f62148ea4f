"""The settings of a queue that are in effect, each with the queue that they come from."""

from dataclasses import dataclass

from engine.policies import FOREIGN
from engine.queues import PriorityPolicy, QueueTree
from engine.resources import Amounts


@dataclass(frozen=True)
class Inherited:
    """A setting in effect, with the queue that it comes from; None: a default."""

    value: str | int | None
    source: str | None


@dataclass(frozen=True)
class Granted:
    """One resource: the guarantee that an ask of the queue claims, and the tightest max above it."""

    resource: str
    guaranteed: int | None
    guaranteed_by: str | None
    max: int | None
    max_by: str | None


def granted(tree: QueueTree, path: str, resources: list[str], capacity: Amounts) -> list[Granted]:
    """Guarantee and max in effect for every resource, each with the queue that says so."""
    result = []
    for resource in resources:
        by = tree.entitling(path, resource)
        limits = [(tree[above].max[resource], above) for above in tree.lineage(path) if resource in tree[above].max]
        limit, limit_by = min(limits, key=lambda one: one[0], default=(capacity.get(resource), None))
        result.append(Granted(resource, tree[by].guaranteed[resource] if by else None, by, limit, limit_by))
    return result


def delay(tree: QueueTree, path: str, dialect: str) -> Inherited | None:
    """How long a leaf's asks wait before they may preempt, in milliseconds; None for queues that hold queues."""
    if not tree.is_leaf(path):
        return None
    inherited = dialect in FOREIGN
    return Inherited(tree.delay_ms(path, inherited=inherited), tree.delay_by(path, inherited=inherited))


def priority_fence(tree: QueueTree, path: str) -> str | None:
    """The nearest queue from this one upwards that keeps priorities to itself."""
    for above in tree.lineage(path):
        if tree[above].priority_policy is PriorityPolicy.FENCE:
            return above
    return None
