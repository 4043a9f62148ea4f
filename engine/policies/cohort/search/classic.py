"""Policy ``cohort``: selects the workloads to preempt for a pending workload.

Source: Kueue's pkg/scheduler/preemption/classical.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from engine.model.columns.node_columns import Flags, Rows
from engine.model.quota import Take
from engine.policies.cohort.search.bulk_removal import removed_until_fit
from engine.policies.cohort.search.candidates import other_rows, own_rows
from engine.policies.cohort.search.quota_attempt import QuotaAttempt, left_after
from engine.policies.cohort.search.targets import (
    NO_TARGETS,
    PreemptionReason,
    TargetSearch,
    fill_back,
)


class _Candidates(NamedTuple):
    """The workloads that may be preempted, as rows of the quota index, each group in the order of preemption."""

    owed: Rows
    """Those in queues from which the preemptor reclaims by right."""
    others: Rows
    """Those in the other borrowing queues."""
    own: Rows
    """Those in the preemptor's own queue."""


def search(attempt: QuotaAttempt) -> TargetSearch:
    """Return the workloads to preempt so that the pending workload fits, or ``NO_TARGETS`` if that is impossible."""
    candidates = _candidates(attempt)
    for borrowing in _borrowing_attempts(attempt, candidates):
        attempt.start_over()
        rows, reasons = _in_order(attempt, candidates, borrowing=borrowing)
        removed = removed_until_fit(attempt, rows, borrowing=borrowing)
        if removed is not None:
            why = [_REASONS[reason] for reason in reasons[removed].tolist()]
            return fill_back(attempt, rows[removed].tolist(), why, borrowing=borrowing)
    return NO_TARGETS


def _candidates(attempt: QuotaAttempt) -> _Candidates:
    lenders = list(_borrowing_queues(attempt))
    owed, others = (
        np.sort(other_rows(attempt, [node for node, by_right in lenders if by_right is right]))
        for right in (True, False)
    )
    return _Candidates(owed, others, own_rows(attempt))


def _borrowing_attempts(attempt: QuotaAttempt, candidates: _Candidates) -> tuple[bool, ...]:
    """Return for each attempt, in order, whether the pending workload may borrow.

    Source: Preemptor.classicalPreemptions of Kueue.
    """
    forbidden = not attempt.queue.preemption.borrow.allowed
    full = any(
        attempt.usage.used(attempt.node, of) >= attempt.tree.quota(attempt.node, of).nominal for of in attempt.contested
    )
    elsewhere = len(candidates.owed) + len(candidates.others)
    if not elsewhere or (forbidden and full):
        return (True,)
    return (False, True) if forbidden and not len(candidates.owed) else (True, False)


def _borrowing_queues(attempt: QuotaAttempt) -> Iterator[tuple[int, bool]]:
    """Yield the borrowing queues of the preemptor's cohorts, and whether the preemptor reclaims from them by right.

    All cohorts between a queue and the cohort it shares with the preemptor borrow too. The preemptor reclaims what it
    is entitled to if a part of the quota tree that contains it, but not the other queue, has enough quota of its own.
    Otherwise priority decides.

    Source: collectCandidatesForHierarchicalReclaim of Kueue.
    """
    if attempt.queue.preemption.reclaim is Take.NEVER:
        return
    by_right, left = left_after(attempt.usage, attempt.node, attempt.asked)
    borrowers = attempt.borrowers().tolist()
    visited = attempt.node
    for cohort in attempt.path[1:]:
        for node in _borrowing_queues_below(attempt, cohort, visited, borrowers):
            yield node, by_right
        fits, left = left_after(attempt.usage, cohort, left)
        by_right = by_right or fits
        visited = cohort


def _borrowing_queues_below(
    attempt: QuotaAttempt, cohort: int, visited: int, borrowers: Sequence[bool]
) -> Iterator[int]:
    """Yield the borrowing queues below a cohort, except those in the branch ``visited``.

    ``borrowers``: for every node, whether it borrows.

    Source: collectCandidatesInSubtree of Kueue.
    """
    pending = [cohort]
    while pending:
        for node in attempt.tree.children[pending.pop()]:
            if node == visited or not borrowers[node]:
                continue
            if attempt.tree.is_queue(node):
                yield node
            else:
                pending.append(node)


_REASONS = (PreemptionReason.RECLAMATION, PreemptionReason.WHILE_BORROWING, PreemptionReason.IN_QUEUE)


def _in_order(attempt: QuotaAttempt, candidates: _Candidates, *, borrowing: bool) -> tuple[Rows, Rows]:
    """Return the candidates in the order of preemption, each with the position in ``_REASONS`` of what permits it.

    Source: NewCandidateIterator of Kueue.
    """
    low = _low_priority(attempt, candidates.others)
    others, by_priority = (candidates.others[low], low[low]) if borrowing else (candidates.others, low)
    groups = (candidates.owed, others, candidates.own)
    reasons = (np.zeros(len(candidates.owed), np.intp), by_priority.astype(np.intp), np.full(len(candidates.own), 2))
    rows, why = np.concatenate(groups), np.concatenate(reasons)
    staying = rows >= attempt.quota_index.leaving
    order = np.argsort(staying, kind="stable")  # those already being evicted come first
    return rows[order], why[order]


def _low_priority(attempt: QuotaAttempt, rows: Rows) -> Flags:
    """Return whether the priority of each workload is so low that it may be preempted even while the preemptor borrows.

    It matters if the preemptor is not entitled to reclaim from the workload's queue.

    Source: classifyPreemptionVariant of Kueue.
    """
    borrow, priority = attempt.queue.preemption.borrow, attempt.quota_index.priority[rows]
    if not borrow.allowed:
        return np.zeros(len(rows), np.bool_)
    low: Flags = priority < attempt.ask.priority
    return low if borrow.threshold is None else low & (priority <= borrow.threshold)
