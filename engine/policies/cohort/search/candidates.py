"""Which workloads may go for an ask, one after the other. Source: Kueue's pkg/scheduler/preemption/common."""

from collections.abc import Iterator

from engine.model.quota import FlavorResource, Quantities, QuotaCluster, Take, Workload
from engine.policies.cohort.search.quota_attempt import QuotaAttempt
from engine.policies.cohort.search.quota_index import QuotaIndex, Ranked


def takeable(question: QuotaAttempt, queue: str, *, leaving: bool) -> Iterator[Ranked]:
    """The workloads of a queue that hold something contested and that the ask's queue may preempt.

    Either those that are on their way out already (``leaving``) or the others; who goes first, first.
    """
    ask, preemption = question.ask, question.queue.preemption
    take = preemption.within if queue == ask.queue else preemption.reclaim
    if take is Take.NEVER:
        return
    holders = question.ground.holders[queue]
    for ranked in holders.leaving if leaving else holders.staying:
        one = ranked[1]
        if take is not Take.ANY and one.priority >= ask.priority:
            if one.priority > ask.priority:
                return  # and so have all that follow
            if take is Take.LOWER_PRIORITY or ask.turn_ms >= one.turn_ms:
                continue
        if one.uid == ask.uid:
            continue
        for of in question.contested:
            if one.usage.get(of):
                yield ranked
                break


def may_go(
    cluster: QuotaCluster, ask: Workload, asked: Quantities, short: tuple[FlavorResource, ...]
) -> tuple[Workload, ...]:
    """Return the workloads that preemption may look at for an ask which is ``short`` of something it ``asked`` for."""
    question = QuotaAttempt(QuotaIndex.of(cluster), ask, asked, short)
    tree = question.tree
    related = (name for name, node in tree.queue.items() if tree.root(node) == tree.root(question.node))
    lenders = (name for name in related if name == ask.queue or not question.within_nominal(tree.queue[name]))
    ranked = (one for name in lenders for leaving in (True, False) for one in takeable(question, name, leaving=leaving))
    return tuple(workload for _, workload in ranked)


def any_takeable(question: QuotaAttempt, queue: str) -> bool:
    """Whether there is one."""
    return any(True for leaving in (True, False) for _ in takeable(question, queue, leaving=leaving))
