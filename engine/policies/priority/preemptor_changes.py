"""Find what would let a preemptor evict nothing, or respect its victims' budgets, under policy ``priority``."""

from collections.abc import Iterator, Mapping

import numpy as np

from engine.model.change import Change
from engine.model.columns.node_columns import Flags, Numbers
from engine.model.counterfactual import Counterfactual, Then
from engine.model.decision import Decision, Outcome, PodReason, PodVerdict
from engine.model.quantities import Amounts
from engine.policies.priority.retry import Retrying, key_of, limit_of, room

_PARTS = 1_000_000
_MORE = 8
"""Number of additional disruptions of a budget that are tried."""


def for_ask(retrying: Retrying, decision: Decision) -> Iterator[Counterfactual]:
    """Yield the smaller requests that fit without any preemption, then the budgets that would not be violated."""
    yield from _fits(retrying)
    yield from _no_violation(retrying, decision)


def _fits(retrying: Retrying) -> Iterator[Counterfactual]:
    """Yield the smaller requests with which the pending pod runs without any preemption."""
    for by in _reductions(retrying, retrying.let_in()):
        again = retrying.decided(retrying.snapshot, retrying.smaller(by))
        if again.outcome is Outcome.FITS:
            yield Counterfactual.of(again, Then.FITS, Change.REQUEST, smaller=by)


def _reductions(retrying: Retrying, let_in: Flags) -> Iterator[Amounts]:
    """Yield the least reduction of each single resource that is enough, or else the least of several resources.

    ``let_in``, by node index: whether resources are all that keeps the pod off.
    """
    short = _short(retrying)
    lacking = sum((amounts > 0 for amounts in short.values()), start=np.zeros(len(let_in), np.int64))
    alone = False
    for name, amounts in short.items():
        places = np.flatnonzero(let_in & (amounts > 0) & (lacking == 1))
        if len(places):
            alone = True
            yield {name: int(amounts[places].min())}
    places = np.flatnonzero(let_in & (lacking > 1))
    if not alone and len(places):
        best = places[_least(retrying, {name: amounts[places] for name, amounts in short.items()})]
        yield {name: int(amounts[best]) for name, amounts in short.items() if amounts[best]}


def _short(retrying: Retrying) -> dict[str, Numbers]:
    """Return a map: resource -> per node, how much of the request is missing there, at most all of it."""
    short = {}
    for name in retrying.resources:
        limit, wanted = limit_of(retrying.attempt, name), retrying.ask.requests[name]
        missing = np.full(len(retrying.attempt.columns.nodes), wanted) if limit is None else -room(limit)
        short[name] = np.clip(missing, 0, wanted)
    return short


def _least(retrying: Retrying, short: Mapping[str, Numbers]) -> int:
    """Return the index of the node where the largest fraction of a request that must go is smallest.

    Ties are decided by the smallest sum of fractions, then by the first node.
    """
    parts = [(amounts * _PARTS // retrying.ask.requests[name]).astype(np.int64) for name, amounts in short.items()]
    return int(np.lexsort((np.sum(parts, axis=0), np.max(parts, axis=0)))[0])


def _no_violation(retrying: Retrying, decision: Decision) -> Iterator[Counterfactual]:
    """Yield the increase of a single budget that leaves no violation, or else of all of them by the same number."""
    budgets = {key_of(budget): budget.allowed for budget in retrying.snapshot.budgets}
    over = {f"{victim.pod.namespace}/{name}" for victim in _violating(decision) for name in victim.detail.split(", ")}
    overdrawn = sorted(over & budgets.keys())
    changes = [change for key in overdrawn if (change := _allowing(retrying, {key: budgets[key]}))]
    if not changes and len(overdrawn) > 1:
        together = _allowing(retrying, {key: budgets[key] for key in overdrawn})
        changes = [together] if together else []
    yield from changes


def _allowing(retrying: Retrying, allowed: Mapping[str, int]) -> Counterfactual | None:
    """Return the smallest increase of each budget that leaves no violation, or None."""
    for more in range(1, _MORE + 1):
        raised = {key: count + more for key, count in allowed.items()}
        again = retrying.decided(retrying.with_budgets(raised))
        if again.outcome is Outcome.PREEMPT and not _violating(again):
            return Counterfactual.of(again, Then.NO_VIOLATION, Change.BUDGET, budgets=raised)
    return None


def _violating(decision: Decision) -> list[PodVerdict]:
    return [victim for victim in decision.victims if victim.reason is PodReason.OVER_BUDGET]
