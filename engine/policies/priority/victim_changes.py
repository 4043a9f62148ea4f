"""Find what would have kept a victim under policy ``priority``: a smaller request, a higher priority, a budget."""

from bisect import insort
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from engine.feasibility.checks import AmountCheck
from engine.model.change import Change
from engine.model.columns.node_columns import Flags, Numbers
from engine.model.counterfactual import Counterfactual, Then
from engine.model.decision import PodVerdict
from engine.model.snapshot import Snapshot
from engine.policies.common.decide_again import Tries
from engine.policies.priority.node_candidates import NodeCandidates
from engine.policies.priority.retry import Retrying, key_of, limit_of, room
from engine.policies.priority.victims import PRIORITY_SHIFT, covers

_TIGHTER = 3
"""Number of steps by which a budget's allowed disruptions are lowered."""
_SMALL, _FEW = 500, 2
"""Number of nodes above which deciding again takes longer, and the number of tries that are then made."""


def by_smaller_ask(retrying: Retrying, victims: Sequence[PodVerdict]) -> Iterator[Counterfactual]:
    """Yield, for each resource, the reduction of the preemptor's request with which each of the victims is kept."""
    for resource in retrying.resources:
        yield from _smaller(retrying, resource, victims)


def _smaller(retrying: Retrying, resource: str, victims: Sequence[PodVerdict]) -> Iterator[Counterfactual]:
    """Yield the reductions of one resource that keep victims, stepping between amounts at which something changes."""
    left = {one.pod.uid: one.pod.key for one in victims}
    let_in, with_none = retrying.let_in(), retrying.let_in(retrying.found.leaving)
    by, found, tries = 0, retrying.found, Tries()
    while left and tries.take():
        step = _next(found, resource, let_in, with_none)
        if step is None or by + step > retrying.ask.requests[resource]:
            return
        by += step
        ask = retrying.smaller({resource: by})
        found = NodeCandidates(retrying.snapshot, ask)
        going = _going(found)
        if any(uid not in going for uid in left):
            again = retrying.decided(retrying.snapshot, ask)
            going = {one.pod.uid for one in again.victims}
            for uid in [uid for uid in left if uid not in going]:
                yield Counterfactual.of(
                    again, Then.SPARED, Change.REQUEST, spared=left.pop(uid), smaller={resource: by}
                )


def _going(found: NodeCandidates) -> set[str]:
    if found.fits.any() or found.best is None:
        return set()
    return {found.columns.pods[row].uid for row in found.victims_on(found.best)}


def _next(found: NodeCandidates, resource: str, let_in: Flags, with_none: Flags) -> int | None:
    """Return the least further reduction of a request that changes something on any node, or None if none does."""
    limit = limit_of(found, resource)
    if limit is None:
        return None
    steps = [
        -room(limit)[let_in],
        -room(limit, found.leaving)[with_none],
        _refused_by(found, limit),
    ]
    return min((int(each[each > 0].min()) for each in steps if (each > 0).any()), default=None)


def _refused_by(found: NodeCandidates, limit: AmountCheck) -> Numbers:
    """Return by how much each victim, on any node, exceeded the limit when it was to be reprieved."""
    rows = np.flatnonzero(found.candidates & found.chosen[found.columns.node])
    order = rows[np.lexsort((rows, ~found.budgets.violating[rows], found.columns.node[rows]))]
    goes = np.isin(order, found.victims)
    node = found.columns.node[order]
    back = np.where(goes, 0, limit.weight[order])
    before = np.cumsum(back) - back
    taken = before - before[np.searchsorted(node, node)]
    over = limit.weight[order] - (room(limit, found.leaving)[node] - taken)
    refused: Numbers = over[goes]
    return refused


def by_priority(retrying: Retrying, victim: PodVerdict) -> Iterator[Counterfactual]:
    """Yield the lowest priority with which the victim is kept."""
    found, best = retrying.found, retrying.found.best
    assert best is not None
    small, others = retrying.decisive
    rivals = [found.columns.pods[row].priority for place in others for row in found.victims_on(place)]
    turns = _turns(retrying, best, rivals, victim.pod.priority)
    rival = sum(priority + PRIORITY_SHIFT for priority in rivals)
    tries = Tries() if len(small.nodes) <= _SMALL else Tries(_FEW)
    while turns and tries.take():
        priority = turns.pop(0)
        again = retrying.decided(_with(small, victim.pod.uid, priority))
        going = {one.pod.uid for one in again.victims}
        if victim.pod.uid not in going:
            yield Counterfactual.of(
                again, Then.SPARED, Change.PRIORITY, spared=victim.pod.key, pod=victim.pod.key, priority=priority
            )
            return
        total = sum(
            (priority if one.pod.uid == victim.pod.uid else one.pod.priority) + PRIORITY_SHIFT for one in again.victims
        )
        for more in (rival - total, rival - total + 1):
            if more > 0 and priority + more < retrying.ask.priority and priority + more not in turns:
                insort(turns, priority + more)


def _turns(retrying: Retrying, best: int, rivals: list[int], own: int) -> list[int]:
    """Return the priorities at which the victim changes order with another pod, or its node with the next best.

    The priorities are in ascending order.
    """
    found = retrying.found
    others = {int(found.columns.priority[row]) for row in found.order_on(best)} | set(rivals[:1])
    turns = {one + more for one in others for more in (0, 1)} | {retrying.ask.priority}
    return sorted(one for one in turns if own < one <= retrying.ask.priority)


def _with(snapshot: Snapshot, uid: str, priority: int) -> Snapshot:
    pods = (msgspec.structs.replace(pod, priority=priority) if pod.uid == uid else pod for pod in snapshot.pods)
    return msgspec.structs.replace(snapshot, pods=tuple(pods))


def by_budget(retrying: Retrying, victim: PodVerdict) -> Iterator[Counterfactual]:
    """Yield, for each budget that covers the victim, the highest number of disruptions that keeps the victim."""
    pod = next(pod for pod in retrying.found.columns.pods if pod.uid == victim.pod.uid)
    for budget in retrying.snapshot.budgets:
        if not covers(budget, pod):
            continue
        for allowed in range(budget.allowed - 1, max(budget.allowed - 1 - _TIGHTER, -1), -1):
            again = retrying.decided(retrying.with_budgets({key_of(budget): allowed}))
            if victim.pod.uid not in {one.pod.uid for one in again.victims}:
                yield Counterfactual.of(
                    again, Then.SPARED, Change.BUDGET, spared=victim.pod.key, budgets={key_of(budget): allowed}
                )
                break
