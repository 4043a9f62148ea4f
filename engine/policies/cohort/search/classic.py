"""Policy ``cohort``: who goes for an ask. Source: Kueue's pkg/scheduler/preemption/classical."""

import heapq
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from engine.model.quota import Take, Workload
from engine.policies.cohort.search.candidates import any_takeable, takeable
from engine.policies.cohort.search.quota_attempt import QuotaAttempt, left_after
from engine.policies.cohort.search.targets import NOBODY, PreemptionReason, Target, TargetRemoval, TargetSearch, settled


class _Lender(NamedTuple):
    """Another queue of which somebody may go."""

    name: str
    borrowing: tuple[int, ...]
    """The queue and the cohorts below the one that it shares with the ask: each must borrow for anybody of it to go."""
    by_right: bool
    """Whether it owes the ask: the cohort around that has room for it in its own quota. Else priority counts."""


def search(question: QuotaAttempt) -> TargetSearch:
    """Who goes so that the ask fits; nobody where that is not to be had."""
    lenders = [one for one in _lenders(question) if any_takeable(question, one.name)]
    for borrowing in _attempts(question, lenders):
        question.start_over()
        taking = TargetRemoval(question, partial(question.lacks, borrowing=borrowing))
        for target in _in_order(question, lenders, borrowing=borrowing):
            if taking.take(target):
                return settled(question, taking.targets, borrowing=borrowing)
    return NOBODY


def _attempts(question: QuotaAttempt, lenders: Sequence[_Lender]) -> tuple[bool, ...]:
    """Whether to borrow, in the order in which both are tried."""
    forbidden = not question.queue.preemption.borrow.allowed
    full = any(
        question.usage.used(question.node, of) >= question.tree.quota(question.node, of).nominal
        for of in question.contested
    )
    if not lenders or (forbidden and full):
        return (True,)
    return (False, True) if forbidden and not any(one.by_right for one in lenders) else (True, False)


def _lenders(question: QuotaAttempt) -> Iterator[_Lender]:
    """Queues that borrow and are in cohorts that all do, from the nearest cohort around the ask up."""
    if question.queue.preemption.reclaim is Take.NEVER:
        return
    by_right, left = left_after(question.usage, question.node, question.asked)
    visited = question.node
    for cohort in question.path[1:]:
        for node, borrowing in _borrowing(question, cohort, visited):
            yield _Lender(question.tree.names[node], borrowing, by_right)
        fits, left = left_after(question.usage, cohort, left)
        by_right = by_right or fits
        visited = cohort


def _borrowing(question: QuotaAttempt, cohort: int, visited: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Queues of a cohort, but for the branch that was visited, with the cohorts between."""
    pending: list[tuple[int, tuple[int, ...]]] = [(cohort, ())]
    while pending:
        above, between = pending.pop()
        for node in question.tree.children[above]:
            if node == visited or question.within_nominal(node):
                continue
            if question.tree.is_queue(node):
                yield node, (node, *between)
            else:
                pending.append((node, (node, *between)))


def _in_order(question: QuotaAttempt, lenders: Sequence[_Lender], *, borrowing: bool) -> Iterator[Target]:
    """Whom to take next, once the former ones are gone."""
    owing, others = [one for one in lenders if one.by_right], [one for one in lenders if not one.by_right]
    for leaving in (True, False):
        for group in (owing, others):
            yield from _of_others(question, group, leaving=leaving, borrowing=borrowing)
        for _, one in takeable(question, question.ask.queue, leaving=leaving):
            yield Target(one, PreemptionReason.IN_QUEUE)


def _of_others(
    question: QuotaAttempt, lenders: Sequence[_Lender], *, leaving: bool, borrowing: bool
) -> Iterator[Target]:
    """Of all these queues together who goes first, as long as its queue still borrows."""
    heap = []
    for lender in lenders:
        following = takeable(question, lender.name, leaving=leaving)
        for place, one in following:
            heap.append((place, one, lender, following))
            break
    heapq.heapify(heap)
    while heap:
        _, one, lender, following = heap[0]
        if any(map(question.within_nominal, lender.borrowing)):
            heapq.heappop(heap)  # for good: nobody of it comes back in this attempt
            continue
        why = PreemptionReason.RECLAMATION if lender.by_right else _by_priority(question, one)
        if lender.by_right or why is PreemptionReason.WHILE_BORROWING or not borrowing:
            yield Target(one, why)
        for place, successor in following:
            heapq.heapreplace(heap, (place, successor, lender, following))
            break
        else:
            heapq.heappop(heap)


def _by_priority(question: QuotaAttempt, one: Workload) -> PreemptionReason:
    """Why it may go of a queue that owes nothing: low ones also while the ask's queue borrows."""
    borrow = question.queue.preemption.borrow
    low = one.priority < question.ask.priority and (borrow.threshold is None or one.priority <= borrow.threshold)
    return PreemptionReason.WHILE_BORROWING if borrow.allowed and low else PreemptionReason.RECLAMATION
