"""Whom a queue may preempt and who may preempt it, by the rules of the tree alone."""

from dataclasses import dataclass

from engine.queues import PriorityPolicy, QueueTree
from engine.resources import Amounts


@dataclass(frozen=True)
class Reach:
    """Leaves on either side of a queue. ``fence``: what keeps its asks inside; ``disabled``: what turned it off."""

    fence: str | None
    disabled: str | None
    may_preempt: list[str]
    preempted_by: list[str]


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


def reach(tree: QueueTree, path: str) -> Reach:
    """Who is on either side of the queue; of a parent: what any leaf below it may do to leaves that are not."""
    inside = [leaf for leaf in tree.leaves if tree.contains(path, leaf)]
    outside = [leaf for leaf in tree.leaves if leaf not in inside]
    return Reach(
        fence=tree.fence(path),
        disabled=tree.disabled_by(path),
        may_preempt=[other for other in outside if any(allowed(tree, leaf, other) for leaf in inside)],
        preempted_by=[other for other in outside if any(allowed(tree, other, leaf) for leaf in inside)],
    )


def allowed(tree: QueueTree, asker: str, other: str) -> bool:
    """Whether the tree lets asks of one leaf preempt pods of another, as far as guarantees and priorities allow."""
    if asker == other or tree.disabled_by(asker) or tree.disabled_by(other):
        return False
    fence = tree.fence(asker)
    return fence is None or (fence != asker and tree.contains(fence, other))


def granted(tree: QueueTree, path: str, resources: list[str], capacity: Amounts) -> list[Granted]:
    """Guarantee and max in effect for every resource, each with the queue that says so."""
    result = []
    for resource in resources:
        by = tree.entitling(path, resource)
        limits = [(tree[above].max[resource], above) for above in tree.lineage(path) if resource in tree[above].max]
        limit, limit_by = min(limits, key=lambda one: one[0], default=(capacity.get(resource), None))
        result.append(Granted(resource, tree[by].guaranteed[resource] if by else None, by, limit, limit_by))
    return result


def delay(tree: QueueTree, path: str) -> Inherited:
    """How long its asks wait before they may preempt, in milliseconds."""
    return Inherited(tree.delay_ms(path), path if tree[path].delay_ms is not None else None)


def priority_fence(tree: QueueTree, path: str) -> str | None:
    """The nearest queue from this one upwards that keeps priorities to itself."""
    for above in tree.lineage(path):
        if tree[above].priority_policy is PriorityPolicy.FENCE:
            return above
    return None
