"""Policy ``fair-share``: who goes for an ask. Source: Kueue's pkg/scheduler/preemption, preemption.go, fairsharing."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import chain

from engine.model.objects import KueueSettings
from engine.model.quota import Take
from engine.policies.cohort.search.candidates import takeable
from engine.policies.cohort.search.quota_attempt import Lack, QuotaAttempt
from engine.policies.cohort.search.quota_index import Ranked
from engine.policies.cohort.search.target_queue_ordering import Ladder, Pick
from engine.policies.cohort.search.targets import (
    NOBODY,
    PreemptionReason,
    Target,
    TargetRemoval,
    TargetSearch,
    alike,
    settled,
)


class Strategy(StrEnum):
    """When the share of the ask's side allows to take a workload; Kueue's words."""

    FINAL = "LessThanOrEqualToFinalShare"
    """It is at most that of the other side afterwards."""
    INITIAL = "LessThanInitialShare"
    """It is less than that of the other side before."""


STRATEGIES = (Strategy.FINAL, Strategy.INITIAL)


def strategies_of(sharing: KueueSettings) -> tuple[Strategy, ...] | None:
    """Return the strategies of fair sharing that a Kueue is set to; None: it preempts the classic way.

    Raises ValueError for a strategy that is not known here.
    """
    return (tuple(map(Strategy, sharing.strategies)) or STRATEGIES) if sharing.fair else None


def search(question: QuotaAttempt, strategies: Sequence[Strategy] = STRATEGIES) -> TargetSearch:
    """Who goes so that the ask fits; nobody where that is not to be had. Of two strategies the first is tried first."""
    candidates = _candidates(question)
    question.usage.add(question.node, question.asked)  # shares are those with the ask
    taking = TargetRemoval(question, lambda: _lacks(question))
    left: dict[int, list[Ranked]] = {}
    found = _first(question, candidates, strategies[0], taking, left)
    if not found and len(strategies) > 1:
        found = _second(question, left, taking)
    question.usage.add(question.node, question.asked, -1)
    return settled(question, taking.targets, borrowing=True) if found else NOBODY


def _lacks(question: QuotaAttempt) -> Lack | None:
    """What the ask, which counts as used already, has no room for."""
    question.usage.add(question.node, question.asked, -1)
    lack = question.lacks(borrowing=True)
    question.usage.add(question.node, question.asked)
    return lack


def _candidates(question: QuotaAttempt) -> dict[int, Iterable[Ranked]]:
    """By queue: of the ask's own, and of all in its cohorts that borrow."""
    tree, nodes = question.tree, [question.node]
    if question.queue.preemption.reclaim is not Take.NEVER:
        nodes += [
            node
            for node in tree.within(question.path[-1])
            if tree.is_queue(node) and node != question.node and not question.within_nominal(node)
        ]
    return {node: _in_order(question, tree.names[node]) for node in nodes}


def _in_order(question: QuotaAttempt, queue: str) -> Iterable[Ranked]:
    return chain(takeable(question, queue, leaving=True), takeable(question, queue, leaving=False))


def _first(
    question: QuotaAttempt,
    candidates: Mapping[int, Iterable[Ranked]],
    strategy: Strategy,
    taking: TargetRemoval,
    left: dict[int, list[Ranked]],
) -> bool:
    """Whether there is room; ``left`` gets those whose share did not allow it."""
    entitled = question.within_nominal(question.node)
    ladder = Ladder(question, candidates)
    while (pick := ladder.pick()) is not None:
        if pick.node == question.node:
            ranked, why = pick.pop(), PreemptionReason.IN_QUEUE
        elif entitled:
            ranked, why = pick.pop(), PreemptionReason.RECLAMATION
        else:
            ranked, why = _allowed(pick, strategy, left.setdefault(pick.node, [])), PreemptionReason.FAIR_SHARING
        if ranked is not None and taking.take(Target(ranked[1], why)):
            return True
    return False


def _allowed(pick: Pick, strategy: Strategy, left: list[Ranked]) -> Ranked | None:
    """The first workload of the queue that the shares allow to take; those before it are ``left``."""
    ask, before = pick.ranks()
    refused: set[Hashable] = set()
    while (ranked := pick.pop()) is not None:
        one = ranked[1]
        if (likes := alike(one)) not in refused:
            if ask <= pick.rank_without(one) if strategy is Strategy.FINAL else ask < before:
                return ranked
            refused.add(likes)
        left.append(ranked)
    return None


def _second(question: QuotaAttempt, left: Mapping[int, Iterable[Ranked]], taking: TargetRemoval) -> bool:
    """Whether there is room; every queue is looked at once."""
    ladder = Ladder(question, left)
    while (pick := ladder.pick()) is not None:
        ask, before = pick.ranks()
        if ask < before and (ranked := pick.pop()) and taking.take(Target(ranked[1], PreemptionReason.FAIR_SHARING)):
            return True
        ladder.drop(pick)
    return False
