"""Policy ``cohort``: selects the workloads to preempt for a pending workload.

Source: Kueue's pkg/scheduler/preemption/classical.
"""

import heapq
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from engine.model.quota import Take, Workload
from engine.policies.cohort.search.candidates import has_preemptable_workloads, preemptable_workloads
from engine.policies.cohort.search.quota_attempt import QuotaAttempt, left_after
from engine.policies.cohort.search.targets import (
    NO_TARGETS,
    PreemptionReason,
    Target,
    TargetRemoval,
    TargetSearch,
    fill_back,
)


class _BorrowingQueue(NamedTuple):
    """Another queue from which workloads may be preempted."""

    name: str
    borrowing: tuple[int, ...]
    """The queue, and the cohorts between it and the cohort that it shares with the preemptor.

    Each of them must borrow for any workload of the queue to be preempted.
    """
    by_right: bool
    """Whether the preemptor reclaims from this queue what it is entitled to.

    That is so if a part of the quota tree that contains the preemptor, but not this queue, has enough quota of its own.
    Otherwise priority decides.
    """


def search(attempt: QuotaAttempt) -> TargetSearch:
    """Return the workloads to preempt so that the pending workload fits, or ``NO_TARGETS`` if that is impossible."""
    lenders = [one for one in _borrowing_queues(attempt) if has_preemptable_workloads(attempt, one.name)]
    for borrowing in _borrowing_attempts(attempt, lenders):
        attempt.start_over()
        removal = TargetRemoval(attempt, partial(attempt.lacks, borrowing=borrowing))
        for target in _ordered_targets(attempt, lenders, borrowing=borrowing):
            if removal.take(target):
                return fill_back(attempt, removal.targets, borrowing=borrowing)
    return NO_TARGETS


def _borrowing_attempts(attempt: QuotaAttempt, lenders: Sequence[_BorrowingQueue]) -> tuple[bool, ...]:
    """Return for each attempt, in order, whether the pending workload may borrow.

    Source: Preemptor.classicalPreemptions of Kueue.
    """
    forbidden = not attempt.queue.preemption.borrow.allowed
    full = any(
        attempt.usage.used(attempt.node, of) >= attempt.tree.quota(attempt.node, of).nominal for of in attempt.contested
    )
    if not lenders or (forbidden and full):
        return (True,)
    return (False, True) if forbidden and not any(one.by_right for one in lenders) else (True, False)


def _borrowing_queues(attempt: QuotaAttempt) -> Iterator[_BorrowingQueue]:
    """Yield the borrowing queues of the preemptor's cohorts, from the nearest cohort up.

    All cohorts between a queue and the cohort it shares with the preemptor borrow too.

    Source: collectCandidatesForHierarchicalReclaim of Kueue.
    """
    if attempt.queue.preemption.reclaim is Take.NEVER:
        return
    by_right, left = left_after(attempt.usage, attempt.node, attempt.asked)
    visited = attempt.node
    for cohort in attempt.path[1:]:
        for node, borrowing in _borrowing_queues_below(attempt, cohort, visited):
            yield _BorrowingQueue(attempt.tree.names[node], borrowing, by_right)
        fits, left = left_after(attempt.usage, cohort, left)
        by_right = by_right or fits
        visited = cohort


def _borrowing_queues_below(attempt: QuotaAttempt, cohort: int, visited: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the borrowing queues below a cohort with the cohorts between, except those in the branch ``visited``.

    Source: collectCandidatesInSubtree of Kueue.
    """
    pending: list[tuple[int, tuple[int, ...]]] = [(cohort, ())]
    while pending:
        above, between = pending.pop()
        for node in attempt.tree.children[above]:
            if node == visited or attempt.within_nominal(node):
                continue
            if attempt.tree.is_queue(node):
                yield node, (node, *between)
            else:
                pending.append((node, (node, *between)))


def _ordered_targets(attempt: QuotaAttempt, lenders: Sequence[_BorrowingQueue], *, borrowing: bool) -> Iterator[Target]:
    """Yield the targets in the order of preemption, given that all earlier targets are preempted.

    Source: NewCandidateIterator of Kueue.
    """
    owing, others = [one for one in lenders if one.by_right], [one for one in lenders if not one.by_right]
    for leaving in (True, False):
        for group in (owing, others):
            yield from _targets_in_other_queues(attempt, group, leaving=leaving, borrowing=borrowing)
        for _, one in preemptable_workloads(attempt, attempt.ask.queue, leaving=leaving):
            yield Target(one, PreemptionReason.IN_QUEUE)


def _targets_in_other_queues(
    attempt: QuotaAttempt, lenders: Sequence[_BorrowingQueue], *, leaving: bool, borrowing: bool
) -> Iterator[Target]:
    """Yield the targets of all these queues in the order of preemption, as long as their queues still borrow.

    Source: candidateIterator.candidateIsValid of Kueue.
    """
    heap = []
    for lender in lenders:
        following = preemptable_workloads(attempt, lender.name, leaving=leaving)
        for place, one in following:
            heap.append((place, one, lender, following))
            break
    heapq.heapify(heap)
    while heap:
        _, one, lender, following = heap[0]
        if any(map(attempt.within_nominal, lender.borrowing)):
            heapq.heappop(heap)  # for good: no workload of this queue is put back during this attempt
            continue
        why = PreemptionReason.RECLAMATION if lender.by_right else _priority_reason(attempt, one)
        if lender.by_right or why is PreemptionReason.WHILE_BORROWING or not borrowing:
            yield Target(one, why)
        for place, successor in following:
            heapq.heapreplace(heap, (place, successor, lender, following))
            break
        else:
            heapq.heappop(heap)


def _priority_reason(attempt: QuotaAttempt, one: Workload) -> PreemptionReason:
    """Return why a workload may be preempted, if the preemptor is not entitled to reclaim from its queue.

    Low-priority workloads may be preempted even while the preemptor's queue borrows.

    Source: classifyPreemptionVariant of Kueue.
    """
    borrow = attempt.queue.preemption.borrow
    low = one.priority < attempt.ask.priority and (borrow.threshold is None or one.priority <= borrow.threshold)
    return PreemptionReason.WHILE_BORROWING if borrow.allowed and low else PreemptionReason.RECLAMATION
