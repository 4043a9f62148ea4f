"""Policy ``fair-share``: selects the workloads to preempt for a pending workload.

Source: Kueue's pkg/scheduler/preemption, preemption.go, fairsharing.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import chain

from engine.model.objects import KueueSettings
from engine.model.quota import Take
from engine.policies.cohort.search.candidates import preemptable_workloads
from engine.policies.cohort.search.quota_attempt import MissingQuota, QuotaAttempt
from engine.policies.cohort.search.quota_index import RankedWorkload
from engine.policies.cohort.search.target_queue_ordering import TargetQueue, TargetQueueOrdering
from engine.policies.cohort.search.targets import (
    NO_TARGETS,
    PreemptionReason,
    Target,
    TargetRemoval,
    TargetSearch,
    fill_back,
    usage_key,
)


class Strategy(StrEnum):
    """The condition on shares under which a workload may be preempted, by its name in Kueue.

    Source: Kueue's pkg/scheduler/preemption/fairsharing, strategy.go.
    """

    FINAL = "LessThanOrEqualToFinalShare"
    """The preemptor's share is at most the other side's share after the preemption."""
    INITIAL = "LessThanInitialShare"
    """The preemptor's share is less than the other side's share before the preemption."""


STRATEGIES = (Strategy.FINAL, Strategy.INITIAL)


def strategies_of(sharing: KueueSettings) -> tuple[Strategy, ...] | None:
    """Return the fair sharing strategies that Kueue is configured with, or None for classic preemption.

    Raises ValueError for an unknown strategy.

    Source: parseStrategies of Kueue.
    """
    return (tuple(map(Strategy, sharing.strategies)) or STRATEGIES) if sharing.fair else None


def search(attempt: QuotaAttempt, strategies: Sequence[Strategy] = STRATEGIES) -> TargetSearch:
    """Return the workloads to preempt so that the pending workload fits, or ``NO_TARGETS`` if that is impossible.

    The second strategy is used only if the first does not free enough quota.

    Source: Preemptor.fairPreemptions of Kueue.
    """
    candidates = _candidates(attempt)
    attempt.usage.add(attempt.node, attempt.asked)  # shares include the pending workload
    removal = TargetRemoval(attempt, lambda: _missing_quota(attempt))
    passed_over: dict[int, list[RankedWorkload]] = {}
    found = _apply_first_strategy(attempt, candidates, strategies[0], removal, passed_over)
    if not found and len(strategies) > 1:
        found = _apply_second_strategy(attempt, passed_over, removal)
    attempt.usage.add(attempt.node, attempt.asked, -1)
    return fill_back(attempt, removal.targets, borrowing=True) if found else NO_TARGETS


def _missing_quota(attempt: QuotaAttempt) -> MissingQuota | None:
    """Return what the pending workload, whose usage is already counted, has too little quota for.

    Source: workloadFitsForFairSharing of Kueue.
    """
    attempt.usage.add(attempt.node, attempt.asked, -1)
    lack = attempt.lacks(borrowing=True)
    attempt.usage.add(attempt.node, attempt.asked)
    return lack


def _candidates(attempt: QuotaAttempt) -> dict[int, Iterable[RankedWorkload]]:
    """Return the candidates by queue: the preemptor's own queue, and all borrowing queues in its cohorts.

    Source: Preemptor.findCandidates of Kueue.
    """
    tree, nodes = attempt.tree, [attempt.node]
    if attempt.queue.preemption.reclaim is not Take.NEVER:
        nodes += [
            node
            for node in tree.within(attempt.path[-1])
            if tree.is_queue(node) and node != attempt.node and not attempt.within_nominal(node)
        ]
    return {node: _ordered_candidates(attempt, tree.names[node]) for node in nodes}


def _ordered_candidates(attempt: QuotaAttempt, queue: str) -> Iterable[RankedWorkload]:
    return chain(
        preemptable_workloads(attempt, queue, leaving=True), preemptable_workloads(attempt, queue, leaving=False)
    )


def _apply_first_strategy(
    attempt: QuotaAttempt,
    candidates: Mapping[int, Iterable[RankedWorkload]],
    strategy: Strategy,
    removal: TargetRemoval,
    passed_over: dict[int, list[RankedWorkload]],
) -> bool:
    """Apply the first strategy and return whether the pending workload fits then.

    ``passed_over`` is filled with the candidates that the shares did not allow to preempt.

    Source: runFirstFsStrategy of Kueue.
    """
    entitled = attempt.within_nominal(attempt.node)
    ordering = TargetQueueOrdering(attempt, candidates)
    while (queue := ordering.next()) is not None:
        if queue.node == attempt.node:
            ranked, why = queue.pop(), PreemptionReason.IN_QUEUE
        elif entitled:
            ranked, why = queue.pop(), PreemptionReason.RECLAMATION
        else:
            before = passed_over.setdefault(queue.node, [])
            ranked, why = _pop_allowed(queue, strategy, before), PreemptionReason.FAIR_SHARING
        if ranked is not None and removal.take(Target(ranked[1], why)):
            return True
    return False


def _pop_allowed(queue: TargetQueue, strategy: Strategy, passed_over: list[RankedWorkload]) -> RankedWorkload | None:
    """Return the first workload of the queue that the shares allow to preempt.

    Those before it are added to ``passed_over``.
    """
    ask, before = queue.ranks()
    refused: set[Hashable] = set()
    while (ranked := queue.pop()) is not None:
        workload = ranked[1]
        if (usage := usage_key(workload)) not in refused:
            if ask <= queue.rank_without(workload) if strategy is Strategy.FINAL else ask < before:
                return ranked
            refused.add(usage)
        passed_over.append(ranked)
    return None


def _apply_second_strategy(
    attempt: QuotaAttempt, passed_over: Mapping[int, Iterable[RankedWorkload]], removal: TargetRemoval
) -> bool:
    """Apply the second strategy and return whether the pending workload fits then.

    Every queue is considered only once.

    Source: runSecondFsStrategy of Kueue.
    """
    ordering = TargetQueueOrdering(attempt, passed_over)
    while (queue := ordering.next()) is not None:
        ask, before = queue.ranks()
        if ask < before and (ranked := queue.pop()) and removal.take(Target(ranked[1], PreemptionReason.FAIR_SHARING)):
            return True
        ordering.drop(queue)
    return False
