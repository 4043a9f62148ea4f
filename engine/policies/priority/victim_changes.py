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
from engine.policies.priority.attempt import PriorityAttempt
from engine.policies.priority.node_candidates import NodeCandidates, find_node_candidates
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
    left = {victim.pod.uid: victim.pod.key for victim in victims}
    let_in, with_none = retrying.let_in(), retrying.let_in(retrying.attempt.departing)
    by, node_candidates, tries = 0, retrying.node_candidates, Tries()
    while left and tries.take():
        step = _next(node_candidates, resource, let_in, with_none)
        if step is None or by + step > retrying.ask.requests[resource]:
            return
        by += step
        ask = retrying.smaller({resource: by})
        node_candidates = find_node_candidates(PriorityAttempt(retrying.snapshot, ask))
        evicted = _evicted(node_candidates)
        if any(uid not in evicted for uid in left):
            again = retrying.decided(retrying.snapshot, ask)
            evicted = {victim.pod.uid for victim in again.victims}
            for uid in [uid for uid in left if uid not in evicted]:
                yield Counterfactual.of(
                    again, Then.SPARED, Change.REQUEST, spared=left.pop(uid), smaller={resource: by}
                )


def _evicted(node_candidates: NodeCandidates) -> set[str]:
    attempt, best = node_candidates.attempt, node_candidates.best
    if attempt.fits.any() or best is None:
        return set()
    return {attempt.columns.pods[row].uid for row in node_candidates.victims_on(best)}


def _next(node_candidates: NodeCandidates, resource: str, let_in: Flags, with_none: Flags) -> int | None:
    """Return the least further reduction of a request that changes something on any node, or None if none does."""
    attempt = node_candidates.attempt
    limit = limit_of(attempt, resource)
    if limit is None:
        return None
    steps = [
        -room(limit)[let_in],
        -room(limit, attempt.departing)[with_none],
        _refused_by(node_candidates, limit),
    ]
    return min((int(step[step > 0].min()) for step in steps if (step > 0).any()), default=None)


def _refused_by(node_candidates: NodeCandidates, limit: AmountCheck) -> Numbers:
    """Return by how much each victim, on any node, exceeded the limit when it was to be reprieved."""
    attempt, columns = node_candidates.attempt, node_candidates.attempt.columns
    rows = np.flatnonzero(attempt.candidates & attempt.can_make_room[columns.node])
    order = rows[np.lexsort((rows, ~attempt.budgets.violating[rows], columns.node[rows]))]
    evicted = np.isin(order, node_candidates.rows)
    node = columns.node[order]
    back = np.where(evicted, 0, limit.weight[order])
    before = np.cumsum(back) - back
    taken = before - before[np.searchsorted(node, node)]
    over = limit.weight[order] - (room(limit, attempt.departing)[node] - taken)
    refused: Numbers = over[evicted]
    return refused


def by_priority(retrying: Retrying, victim: PodVerdict) -> Iterator[Counterfactual]:
    """Yield the lowest priority with which the victim is kept."""
    node_candidates, best = retrying.node_candidates, retrying.node_candidates.best
    assert best is not None
    small, others = retrying.decisive
    pods = retrying.attempt.columns.pods
    rivals = [pods[row].priority for place in others for row in node_candidates.victims_on(place)]
    priorities = _decisive_priorities(retrying, best, rivals, victim.pod.priority)
    rival = sum(priority + PRIORITY_SHIFT for priority in rivals)
    tries = Tries() if len(small.nodes) <= _SMALL else Tries(_FEW)
    while priorities and tries.take():
        priority = priorities.pop(0)
        again = retrying.decided(_with(small, victim.pod.uid, priority))
        if victim.pod.uid not in {evicted.pod.uid for evicted in again.victims}:
            yield Counterfactual.of(
                again, Then.SPARED, Change.PRIORITY, spared=victim.pod.key, pod=victim.pod.key, priority=priority
            )
            return
        total = sum(
            (priority if evicted.pod.uid == victim.pod.uid else evicted.pod.priority) + PRIORITY_SHIFT
            for evicted in again.victims
        )
        for more in (rival - total, rival - total + 1):
            if more > 0 and priority + more < retrying.ask.priority and priority + more not in priorities:
                insort(priorities, priority + more)


def _decisive_priorities(retrying: Retrying, best: int, rivals: list[int], own: int) -> list[int]:
    """Return the priorities at which the victim changes order with another pod, or its node with the next best.

    The priorities are in ascending order.
    """
    of_pods = retrying.attempt.columns.priority
    others = {int(of_pods[row]) for row in retrying.node_candidates.order_on(best)} | set(rivals[:1])
    decisive = {priority + more for priority in others for more in (0, 1)} | {retrying.ask.priority}
    return sorted(priority for priority in decisive if own < priority <= retrying.ask.priority)


def _with(snapshot: Snapshot, uid: str, priority: int) -> Snapshot:
    pods = (msgspec.structs.replace(pod, priority=priority) if pod.uid == uid else pod for pod in snapshot.pods)
    return msgspec.structs.replace(snapshot, pods=tuple(pods))


def by_budget(retrying: Retrying, victim: PodVerdict) -> Iterator[Counterfactual]:
    """Yield, for each budget that covers the victim, the highest number of disruptions that keeps the victim."""
    pod = next(pod for pod in retrying.attempt.columns.pods if pod.uid == victim.pod.uid)
    for budget in retrying.snapshot.budgets:
        if not covers(budget, pod):
            continue
        for allowed in range(budget.allowed - 1, max(budget.allowed - 1 - _TIGHTER, -1), -1):
            again = retrying.decided(retrying.with_budgets({key_of(budget): allowed}))
            if victim.pod.uid not in {evicted.pod.uid for evicted in again.victims}:
                yield Counterfactual.of(
                    again, Then.SPARED, Change.BUDGET, spared=victim.pod.key, budgets={key_of(budget): allowed}
                )
                break
