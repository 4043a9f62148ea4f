"""Find the nearest changes that let a pending pod pass a tier; a change is reported only after it was verified."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from engine.analysis.pending_reasons.pending_case import PendingCase
from engine.model.change import Change
from engine.model.objects import HIGHEST_PRIORITY
from engine.model.pending_reasons import NODES, Remedy, Tier, TierName
from engine.model.quantities import CPU, PODS, Amounts


def remedies(case: PendingCase, tier: Tier) -> tuple[Remedy, ...]:
    """Return the changes to the pending pod or its queues that are enough to pass the tier, the nearest first."""
    sufficient = []
    for remedy in _proposed(case, tier):
        changed = case.with_remedy(remedy)
        if changed.lets(tier.name):
            sufficient.append(_judged(changed, remedy))
    return tuple(sufficient)


def combined(all_remedies: Iterable[Remedy]) -> Iterator[Remedy]:
    """Yield remedies merged by the kind of change; of two reductions or priorities, the larger is used."""
    by_change: dict[Change, Remedy] = {}
    for remedy in all_remedies:
        other = by_change.get(remedy.change)
        if other is not None:
            names = sorted({*other.smaller, *remedy.smaller})
            smaller = {name: max(other.smaller.get(name, 0), remedy.smaller.get(name, 0)) for name in names}
            priority = max((merged.priority for merged in (other, remedy) if merged.priority is not None), default=None)
            remedy = Remedy(change=remedy.change, smaller=smaller, queues=remedy.queues, priority=priority)  # noqa: PLW2901
        by_change[remedy.change] = remedy
    yield from by_change.values()


def _judged(changed: PendingCase, remedy: Remedy) -> Remedy:
    unkept = (changed.tree.unkept(path, name) for path, amounts in remedy.queues.items() for name in amounts)
    first = next(filter(None, unkept), "") if remedy.change is Change.GUARANTEE else ""
    return msgspec.structs.replace(remedy, unkept=first, enough=changed.gets_room())


def _proposed(case: PendingCase, tier: Tier) -> Iterator[Remedy]:
    match tier.name:
        case TierName.QUOTA:
            yield from _smaller(case, tier)
            yield Remedy(change=Change.MAX, queues=_raised(case, tier, "max"))
        case TierName.HARD:
            yield from _smaller(case, tier)
            yield Remedy(change=Change.HARD, queues=_raised(case, tier, "max"))
        case TierName.DESERVED:
            yield from _smaller(case, tier)
            yield Remedy(change=Change.RESERVED, queues=_reserved(tier))
        case TierName.GUARANTEE:
            if any(need.required > 1 for need in tier.needs):  # the whole request must be guaranteed
                yield from _smaller(case, tier)
            yield Remedy(change=Change.GUARANTEE, queues=_raised(case, tier, "guaranteed"))
        case TierName.FENCE | TierName.OVERUSED if fence := tier.needs[0].where:
            yield Remedy(change=Change.FENCE, queues={fence: {}})
        case TierName.PRIORITY:
            yield from _may_preempt(case)
            yield from _priority(case, tier.name)
        case TierName.NODE:
            yield from _smaller(case, tier)
            yield from _less_guaranteed(case, tier)
            yield from _priority(case, tier.name)
        case TierName.POTENTIAL | TierName.AVAILABLE if any(need.missing for need in tier.needs):
            yield from _smaller(case, tier)
            yield Remedy(change=Change.GUARANTEE, queues=_raised(case, tier, "guaranteed"))


def _smaller(case: PendingCase, tier: Tier) -> Iterator[Remedy]:
    """Yield the reduction of the request by what is missing, if something of the request remains."""
    by: Amounts = {}
    for need in tier.needs:
        if need.missing and need.resource not in (PODS, NODES):
            by[need.resource] = max(by.get(need.resource, 0), need.missing)
    pods = any(need.missing and need.resource == PODS for need in tier.needs)
    if not by or pods or any(amount >= case.ask.requests[resource] for resource, amount in by.items()):
        return
    tried = len(by) == 1 and (case.rules.quick or tier.name is not TierName.NODE)
    yield Remedy(change=Change.REQUEST, smaller=_least(case, tier.name, by) if tried else by)


def _least(case: PendingCase, name: TierName, by: Amounts) -> Amounts:
    """Return the least sufficient reduction of one resource.

    A reduction smaller than what is missing may be enough, on another node or with other victims.
    """
    ((resource, most),) = by.items()

    def passes(less: int) -> bool:
        return case.with_remedy(Remedy(change=Change.REQUEST, smaller={resource: less})).lets(name)

    enough = most == 1 or not passes(most - 1)
    return by if enough else {resource: bisect_left(range(most), True, lo=1, key=passes)}


def _raised(case: PendingCase, tier: Tier, field: str) -> dict[str, Amounts]:
    """Return what each queue's max or guarantee would have to be.

    If a queue has no value yet for a missing resource, only one such resource is raised: CPU if possible.
    """
    short = [need for need in tier.needs if need.missing]
    of_none = [need for need in short if need.resource not in getattr(case.tree[need.where], field)]
    if of_none:
        short = [min(of_none, key=lambda need: (need.resource == PODS, need.resource != CPU, need.resource))]
    queues: dict[str, Amounts] = {}
    for need in short:
        now = getattr(case.tree[need.where], field).get(need.resource, 0)
        queues.setdefault(need.where, {})[need.resource] = now + need.missing
    return queues


def _less_guaranteed(case: PendingCase, tier: Tier) -> Iterator[Remedy]:
    """Yield the least reduction of the guarantee that prevents pods from being evicted together."""
    limit = tier.limit
    if limit is None or not limit.queue:
        return
    guaranteed, most = case.tree[limit.queue].guaranteed[limit.resource], limit.held - limit.left

    def remedy(less: int) -> Remedy:
        return Remedy(change=Change.LESS_GUARANTEED, queues={limit.queue: {limit.resource: guaranteed - less}})

    def passes(less: int) -> bool:
        return case.with_remedy(remedy(less)).lets(tier.name)

    if most <= guaranteed and passes(most):
        yield remedy(bisect_left(range(most), True, lo=1, key=passes))


def _reserved(tier: Tier) -> dict[str, Amounts]:
    """Return what would have to be reserved for the queue: its whole usage of what exceeds the deserved amounts."""
    (queue,) = {need.where for need in tier.needs}
    return {queue: {need.resource: need.required for need in tier.needs if need.missing}}


def _may_preempt(case: PendingCase) -> Iterator[Remedy]:
    if case.ask.never_preempts:
        yield Remedy(change=Change.MAY_PREEMPT)


def _priority(case: PendingCase, name: TierName) -> Iterator[Remedy]:
    """Yield the lowest priority that passes the tier; a higher priority never has fewer candidates."""
    higher = _higher(case) if case.rules.ranks else ()

    def passes(priority: int) -> bool:
        return case.with_remedy(Remedy(change=Change.PRIORITY, priority=priority)).lets(name)

    if higher and passes(higher[-1]):
        yield Remedy(change=Change.PRIORITY, priority=higher[bisect_left(higher, True, key=passes)])


def _higher(case: PendingCase) -> Sequence[int]:
    """Return the higher priorities at which something may change, ascending.

    Returns all higher priorities if queues have priority settings.
    """
    current, queues = case.ask.priority, case.tree.queues.values()
    if any(queue.priority_offset or queue.priority_policy != "default" for queue in queues):
        return range(current + 1, HIGHEST_PRIORITY + 1)
    priorities = {pod.priority for pod in case.snapshot.columns.pods}
    priorities |= {pod.priority for pod in case.snapshot.nominated}
    return sorted(
        {priority + step for priority in priorities for step in (0, 1) if current < priority + step <= HIGHEST_PRIORITY}
    )
