"""Policy ``fair-share``: selects the workloads to preempt for a pending workload.

Source: Kueue's pkg/scheduler/preemption, preemption.go, fairsharing.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial

import numpy as np

from engine.model.collections.offsets import run_starts
from engine.model.columns.node_columns import Rows
from engine.model.objects import KueueSettings
from engine.policies.cohort.search.bulk_removal import removed_until_fit
from engine.policies.cohort.search.candidates import other_rows, own_rows
from engine.policies.cohort.search.quota_attempt import MissingQuota, QuotaAttempt
from engine.policies.cohort.search.reclaim_order import in_reclaim_order
from engine.policies.cohort.search.target_queue_ordering import TargetQueue, TargetQueueOrdering
from engine.policies.cohort.search.targets import (
    NO_TARGETS,
    PreemptionReason,
    TargetRemoval,
    TargetSearch,
    fill_back,
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
    rows = _candidates(attempt)
    attempt.usage.add(attempt.node, attempt.asked)  # shares include the pending workload
    entitled = attempt.within_nominal(attempt.node)
    search_in = _reclaim if entitled else partial(_by_shares, strategies=strategies)
    found = search_in(attempt, rows)
    return NO_TARGETS if found is None else fill_back(attempt, *found, borrowing=True)


_Removed = tuple[list[int], list[PreemptionReason]]
"""The rows of the workloads that were removed, in this order, each with its reason."""


def _reclaim(attempt: QuotaAttempt, rows: Rows) -> _Removed | None:
    """Remove workloads, whatever the shares, until a pending workload fits that reclaims what it is entitled to."""
    ordered = in_reclaim_order(attempt, rows)
    attempt.usage.add(attempt.node, attempt.asked, -1)
    removed = removed_until_fit(attempt, ordered, borrowing=True, from_borrowers=False)
    if removed is None:
        return None
    taken = ordered[removed]
    own = (attempt.quota_index.node[taken] == attempt.node).tolist()
    return taken.tolist(), [PreemptionReason.IN_QUEUE if one else PreemptionReason.RECLAMATION for one in own]


def _by_shares(attempt: QuotaAttempt, rows: Rows, strategies: Sequence[Strategy]) -> _Removed | None:
    """Remove workloads as the strategies permit until the pending workload fits."""
    removal = TargetRemoval(attempt, lambda: _missing_quota(attempt))
    passed_over: dict[int, list[int]] = {}
    found = _apply_first_strategy(attempt, _by_queue(attempt, rows), strategies[0], removal, passed_over)
    if not found and len(strategies) > 1:
        found = _apply_second_strategy(attempt, passed_over, removal)
    attempt.usage.add(attempt.node, attempt.asked, -1)
    return (removal.rows, removal.reasons) if found else None


def _missing_quota(attempt: QuotaAttempt) -> MissingQuota | None:
    """Return what the pending workload, whose usage is already counted, has too little quota for.

    Source: workloadFitsForFairSharing of Kueue.
    """
    attempt.usage.add(attempt.node, attempt.asked, -1)
    lack = attempt.lacks(borrowing=True)
    attempt.usage.add(attempt.node, attempt.asked)
    return lack


def _candidates(attempt: QuotaAttempt) -> Rows:
    """Return the candidates of the preemptor's own queue, and of all borrowing queues in its cohorts.

    Source: Preemptor.findCandidates of Kueue.
    """
    others = attempt.borrowers() & attempt.quota_index.queues_below(attempt.path[-1])
    others[attempt.node] = False
    return np.concatenate([own_rows(attempt), other_rows(attempt, np.flatnonzero(others))])


def _by_queue(attempt: QuotaAttempt, rows: Rows) -> dict[int, Rows]:
    nodes = attempt.quota_index.node[rows]
    first = np.flatnonzero(run_starts(nodes))
    return dict(zip(nodes[first].tolist(), np.split(rows, first[1:]), strict=True)) if len(rows) else {}


def _apply_first_strategy(
    attempt: QuotaAttempt,
    candidates: Mapping[int, Rows],
    strategy: Strategy,
    removal: TargetRemoval,
    passed_over: dict[int, list[int]],
) -> bool:
    """Apply the first strategy and return whether the pending workload fits then.

    ``passed_over`` is filled with the candidates that the shares did not allow to preempt.

    Source: runFirstFsStrategy of Kueue.
    """
    kinds = attempt.quota_index.kind
    ordering = TargetQueueOrdering(attempt, candidates)
    while (queue := ordering.next()) is not None:
        if queue.node == attempt.node:
            row, why = queue.pop(), PreemptionReason.IN_QUEUE
        else:
            before = passed_over.setdefault(queue.node, [])
            row, why = _pop_allowed(queue, strategy, before), PreemptionReason.FAIR_SHARING
        if row is not None and removal.take(row, kinds.item(row), why):
            return True
    return False


def _pop_allowed(queue: TargetQueue, strategy: Strategy, passed_over: list[int]) -> int | None:
    """Return the first workload of the queue that the shares allow to preempt.

    Those before it are added to ``passed_over``.
    """
    ask, before = queue.ranks()
    refused: set[int] = set()
    while (row := queue.pop()) is not None:
        if (kind := queue.kind(row)) not in refused:
            if ask <= queue.rank_without(kind) if strategy is Strategy.FINAL else ask < before:
                return row
            refused.add(kind)
        passed_over.append(row)
    return None


def _apply_second_strategy(
    attempt: QuotaAttempt, passed_over: Mapping[int, Sequence[int]], removal: TargetRemoval
) -> bool:
    """Apply the second strategy and return whether the pending workload fits then.

    Every queue is considered only once.

    Source: runSecondFsStrategy of Kueue.
    """
    ordering = TargetQueueOrdering(attempt, {node: np.array(rows, np.intp) for node, rows in passed_over.items()})
    while (queue := ordering.next()) is not None:
        ask, before = queue.ranks()
        row = queue.pop() if ask < before else None
        if row is not None and removal.take(row, queue.kind(row), PreemptionReason.FAIR_SHARING):
            return True
        ordering.drop(queue)
    return False
