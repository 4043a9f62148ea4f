"""Yields the candidates that may be preempted for a pending workload, in order.

Source: Kueue's pkg/scheduler/preemption/common.
"""

from collections.abc import Iterator

from engine.model.quota import FlavorResource, Quantities, QuotaCluster, Take, Workload
from engine.policies.cohort.search.quota_attempt import QuotaAttempt
from engine.policies.cohort.search.quota_index import QuotaIndex, RankedWorkload


def preemptable_workloads(attempt: QuotaAttempt, queue: str, *, leaving: bool) -> Iterator[RankedWorkload]:
    """Yield the workloads of a queue that hold contested quota and that the pending workload's queue may preempt.

    Yield either those that are already being evicted (``leaving``) or the others, in the order of preemption.

    Source: SatisfiesPreemptionPolicy of Kueue (preemption_policy.go).
    """
    ask, preemption = attempt.ask, attempt.queue.preemption
    take = preemption.within if queue == ask.queue else preemption.reclaim
    if take is Take.NEVER:
        return
    holders = attempt.quota_index.holders[queue]
    for ranked in holders.leaving if leaving else holders.staying:
        one = ranked[1]
        if take is not Take.ANY and one.priority >= ask.priority:
            if one.priority > ask.priority:
                return  # all that follow have a higher priority too
            if take is Take.LOWER_PRIORITY or ask.turn_ms >= one.turn_ms:
                continue
        if one.uid == ask.uid:
            continue
        for of in attempt.contested:
            if one.usage.get(of):
                yield ranked
                break


def preemption_candidates(
    cluster: QuotaCluster, ask: Workload, asked: Quantities, short: tuple[FlavorResource, ...]
) -> tuple[Workload, ...]:
    """Return the workloads that may be preempted for ``ask``, which is ``short`` of some of what it ``asked`` for."""
    attempt = QuotaAttempt(QuotaIndex.of(cluster), ask, asked, short)
    tree = attempt.tree
    related = (name for name, node in tree.queue.items() if tree.root(node) == tree.root(attempt.node))
    lenders = (name for name in related if name == ask.queue or not attempt.within_nominal(tree.queue[name]))
    ranked = (
        one
        for name in lenders
        for leaving in (True, False)
        for one in preemptable_workloads(attempt, name, leaving=leaving)
    )
    return tuple(workload for _, workload in ranked)


def has_preemptable_workloads(attempt: QuotaAttempt, queue: str) -> bool:
    """Return whether a queue has any workload that may be preempted."""
    return any(True for leaving in (True, False) for _ in preemptable_workloads(attempt, queue, leaving=leaving))
