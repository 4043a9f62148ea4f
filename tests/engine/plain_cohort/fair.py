"""Policy ``fair-share``: who goes for an ask. Source: Kueue's pkg/scheduler/preemption, preemption.go, fairsharing."""

from collections.abc import Sequence

from engine.model.quota import Take, Workload
from engine.policies.cohort import STRATEGIES, PreemptionReason, Strategy, Target, TargetSearch
from tests.engine.plain_cohort.candidates import in_order, takeable
from tests.engine.plain_cohort.ground import Question
from tests.engine.plain_cohort.ladder import Ladder, Pick
from tests.engine.plain_cohort.targets import NOBODY, settled


def search(question: Question, strategies: Sequence[Strategy] = STRATEGIES) -> TargetSearch:
    """Who goes so that the ask fits; nobody where that is not to be had. Of two strategies the first is tried first."""
    candidates = in_order(question, _candidates(question))
    if not candidates:
        return NOBODY
    question.usage.add(question.node, question.asked)  # shares are those with the ask
    taken: list[Target] = []
    left: list[Workload] = []
    found = _first(question, candidates, strategies[0], taken, left)
    if not found and len(strategies) > 1:
        found = _second(question, left, taken)
    question.usage.add(question.node, question.asked, -1)
    if found:
        return settled(question, taken, borrowing=True)
    for target in taken:
        question.ground.put_back(target.workload)
    return NOBODY


def _candidates(question: Question) -> list[Workload]:
    found = takeable(question, question.ask.queue)
    if question.queue.preemption.reclaim is Take.NEVER or not question.cohorts:
        return found
    tree = question.tree
    for node in tree.within(question.cohorts[-1]):
        if tree.is_queue(node) and node != question.node and not question.within_nominal(node):
            found += takeable(question, tree.names[node])
    return found


def _fits(question: Question) -> bool:
    """Whether there is room for the ask, which counts as used already."""
    question.usage.add(question.node, question.asked, -1)
    fits = question.fits(borrowing=True)
    question.usage.add(question.node, question.asked)
    return fits


def _take(question: Question, taken: list[Target], one: Workload, why: PreemptionReason) -> bool:
    """Take it. Whether there is room then."""
    question.ground.take(one)
    taken.append(Target(one, why))
    return _fits(question)


def _first(
    question: Question, candidates: list[Workload], strategy: Strategy, taken: list[Target], left: list[Workload]
) -> bool:
    """Whether there is room; ``left`` gets those whose share did not allow it."""
    entitled = question.within_nominal(question.node)
    ladder = Ladder(question, candidates)
    while (pick := ladder.pick()) is not None:
        one: Workload | None
        if pick.node == question.node:
            one, why = pick.pop(), PreemptionReason.IN_QUEUE
        elif entitled:
            one, why = pick.pop(), PreemptionReason.RECLAMATION
        else:
            one, why = _allowed(pick, strategy, left), PreemptionReason.FAIR_SHARING
        if one is not None and _take(question, taken, one, why):
            return True
    return False


def _allowed(pick: Pick, strategy: Strategy, left: list[Workload]) -> Workload | None:
    """The first workload of the queue that the shares allow to take; those before it are ``left``."""
    ask, before = pick.shares()
    while pick.workloads:
        one = pick.pop()
        final = strategy is Strategy.FINAL
        if ask.rank <= pick.share_without(one).rank if final else ask.rank < before.rank:
            return one
        left.append(one)
    return None


def _second(question: Question, candidates: list[Workload], taken: list[Target]) -> bool:
    """Whether there is room; every queue is looked at once."""
    ladder = Ladder(question, candidates)
    while (pick := ladder.pick()) is not None:
        ask, before = pick.shares()
        if ask.rank < before.rank and _take(question, taken, pick.pop(), PreemptionReason.FAIR_SHARING):
            return True
        ladder.drop(pick.node)
    return False
