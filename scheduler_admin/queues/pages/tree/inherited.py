"""What a queue inherits of the queues above it, and of the cluster."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.formats.tree_json.durations import format_duration
from engine.model.quantities import Amounts, format_amount
from engine.model.queue_tree import PreemptionPolicy, QueueTree
from engine.policies import delay_inheriting_dialects
from scheduler_admin.queues.selectors.queues import Figure


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
    deserved: int | None = None
    """Where the cluster is divided by shares; then the guarantee is what is reserved for the queue itself."""


def shared(tree: QueueTree, path: str, figures: Sequence[Figure]) -> list[Granted]:
    """What is reserved for a queue, what it deserves, and the tightest hard cap above it, of every resource."""
    result = []
    for figure in figures:
        reserved = tree[path].guaranteed.get(figure.resource)
        limit, limit_by = tightest(tree, path, figure.resource) or (None, None)
        by = None if reserved is None else path
        result.append(Granted(figure.resource, reserved, by, limit, limit_by, figure.deserved))
    return result


def granted(tree: QueueTree, path: str, resources: list[str], capacity: Amounts) -> list[Granted]:
    """Guarantee and max in effect for every resource, each with the queue that says so."""
    result = []
    for resource in resources:
        by = tree.entitling(path, resource)
        limit, limit_by = tightest(tree, path, resource) or (capacity.get(resource), None)
        result.append(Granted(resource, tree[by].guaranteed[resource] if by else None, by, limit, limit_by))
    return result


def tightest(tree: QueueTree, path: str, resource: str) -> tuple[int, str] | None:
    """The least max of a queue and those above it, with the queue that says so; None where none does."""
    limits = [(tree[above].max[resource], above) for above in tree.lineage(path) if resource in tree[above].max]
    return min(limits, key=lambda one: one[0], default=None)


def from_above(tree: QueueTree, parent: str, setting: str, dialect: str) -> Inherited | None:
    """What holds for a queue below ``parent`` that says nothing of a setting (``max/cpu``) itself, as people type it.

    None where nothing above says anything.
    """
    field, _slash, resource = setting.partition("/")
    match field:
        case "guaranteed" if by := tree.entitling(parent, resource):
            return Inherited(format_amount(resource, tree[by].guaranteed[resource]), by)
        case "max" if found := tightest(tree, parent, resource):
            return Inherited(format_amount(resource, found[0]), found[1])
        case "preemption_policy" if by := tree.disabled_by(parent):
            return Inherited(PreemptionPolicy.DISABLED.value, by)
        case "delay" if dialect in delay_inheriting_dialects() and (by := tree.delay_by(parent, inherited=True)):
            return Inherited(format_duration(tree[by].delay_ms or 0), by)
        case "quota_delay" if by := tree.quota_delay_by(parent):
            return Inherited(format_duration(tree[by].quota_delay_ms or 0), by)
        case _:
            return None
