"""Which workloads may go for an ask, and which of two goes first. Source: Kueue's pkg/scheduler/preemption/common."""

from collections.abc import Iterable
from typing import Any

from engine.model.quota import Take, Workload
from tests.engine.plain_cohort.ground import Question


def takeable(question: Question, queue: str) -> list[Workload]:
    """The workloads of a queue that hold something contested and that the ask's queue may preempt."""
    own = question.queue.preemption
    take = own.within if queue == question.ask.queue else own.reclaim
    contested = set(question.contested)
    return [
        one
        for one in question.ground.candidates(queue)
        if one.uid != question.ask.uid
        and not contested.isdisjoint(of for of, amount in one.usage.items() if amount)
        and _may_take(take, question.ask, one)
    ]


def _may_take(take: Take, ask: Workload, one: Workload) -> bool:
    match take:
        case Take.ANY:
            return True
        case Take.NEVER:
            return False
    newer = take is Take.LOWER_OR_NEWER_EQUAL_PRIORITY and ask.turn_ms < one.turn_ms
    return one.priority < ask.priority or (one.priority == ask.priority and newer)


def in_order(question: Question, found: Iterable[Workload]) -> list[Workload]:
    """Those that go first, first."""
    return sorted(found, key=lambda one: rank(question, one))


def rank(question: Question, one: Workload) -> tuple[Any, ...]:
    """Lower goes first: who goes already, then others' before one's own, low priorities, and who came last."""
    now_ms = question.ground.cluster.now_ms
    since_ms = now_ms if one.reserved_ms is None else one.reserved_ms
    return not one.evicted, question.own(one), one.priority, -since_ms, one.uid
