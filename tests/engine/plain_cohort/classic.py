"""Policy ``cohort``: who goes for an ask. Source: Kueue's pkg/scheduler/preemption/classical."""

from collections.abc import Iterator
from typing import NamedTuple

from engine.model.quota import Take, Workload
from engine.policies.cohort import PreemptionReason, Target, TargetSearch
from tests.engine.plain_cohort.candidates import in_order, takeable
from tests.engine.plain_cohort.ground import Question, left_after
from tests.engine.plain_cohort.targets import NOBODY, settled


class _Candidate(NamedTuple):
    workload: Workload
    why: PreemptionReason
    shared: int | None
    """The lowest cohort that holds its queue and the ask's; None: they are of one queue."""
    borrowing: bool
    """Whether it may be taken by an ask that borrows afterwards."""


class _Lists(NamedTuple):
    """Each in the order in which they go."""

    entitled: list[_Candidate]
    """Of others, taken by right: the cohort around the ask has room for it in its own quota."""
    ranked: list[_Candidate]
    """Of others, taken by priority."""
    own: list[_Candidate]


def search(question: Question) -> TargetSearch:
    """Who goes so that the ask fits; nobody where that is not to be had."""
    lists = _candidates(question)
    ordered = [
        one
        for evicted in (True, False)
        for candidates in lists
        for one in candidates
        if one.workload.evicted is evicted
    ]
    for borrowing in _attempts(question, lists):
        taken: list[Target] = []
        for one in _valid(question, ordered, borrowing=borrowing):
            question.ground.take(one.workload)
            taken.append(Target(one.workload, one.why))
            if question.fits(borrowing=borrowing):
                return settled(question, taken, borrowing=borrowing)
        for target in taken:
            question.ground.put_back(target.workload)
    return NOBODY


def _attempts(question: Question, lists: _Lists) -> tuple[bool, ...]:
    """Whether to borrow, in the order in which both are tried."""
    forbidden = not question.queue.preemption.borrow.allowed
    full = any(
        question.usage.used(question.node, of) >= question.tree.quota(question.node, of).nominal
        for of in question.contested
    )
    if not (lists.entitled or lists.ranked) or (forbidden and full):
        return (True,)
    return (False, True) if forbidden and not lists.entitled else (True, False)


def _valid(question: Question, ordered: list[_Candidate], *, borrowing: bool) -> Iterator[_Candidate]:
    """Those that may be taken once the former ones are gone."""
    for one in ordered:
        if one.shared is None or ((one.borrowing or not borrowing) and _over(question, one)):
            yield one


def _over(question: Question, one: _Candidate) -> bool:
    """Whether its queue, and each cohort below the one that it shares with the ask, still borrows."""
    node = question.tree.queue[one.workload.queue]
    for at in (node, *question.tree.above(node)):
        if at == one.shared:
            break
        if question.within_nominal(at):
            return False
    return True


def _candidates(question: Question) -> _Lists:
    entitled: list[_Candidate] = []
    ranked: list[_Candidate] = []
    if question.queue.preemption.reclaim is not Take.NEVER:
        by_right, left = left_after(question.usage, question.node, question.asked)
        visited = question.node
        for cohort in question.cohorts:
            found = [one for queue in _lenders(question, cohort, visited) for one in takeable(question, queue)]
            if by_right:
                entitled += [_Candidate(one, PreemptionReason.RECLAMATION, cohort, borrowing=True) for one in found]
            else:
                ranked += [_by_priority(question, one, cohort) for one in found]
            fits, left = left_after(question.usage, cohort, left)
            by_right = by_right or fits
            visited = cohort
    own = [
        _Candidate(one, PreemptionReason.IN_QUEUE, None, borrowing=True)
        for one in in_order(question, takeable(question, question.ask.queue))
    ]
    return _Lists(_sorted(question, entitled), _sorted(question, ranked), own)


def _sorted(question: Question, found: list[_Candidate]) -> list[_Candidate]:
    by_uid = {one.workload.uid: one for one in found}
    return [by_uid[one.uid] for one in in_order(question, (one.workload for one in found))]


def _lenders(question: Question, cohort: int, visited: int) -> Iterator[str]:
    """Queues of a cohort, but for the branch that was visited, that borrow and are in cohorts that all do."""
    pending = [cohort]
    while pending:
        for node in question.tree.children[pending.pop()]:
            if node == visited or question.within_nominal(node):
                continue
            if question.tree.is_queue(node):
                yield question.tree.names[node]
            else:
                pending.append(node)


def _by_priority(question: Question, one: Workload, cohort: int) -> _Candidate:
    borrow = question.queue.preemption.borrow
    low = one.priority < question.ask.priority and (borrow.threshold is None or one.priority <= borrow.threshold)
    if borrow.allowed and low:
        return _Candidate(one, PreemptionReason.WHILE_BORROWING, cohort, borrowing=True)
    return _Candidate(one, PreemptionReason.RECLAMATION, cohort, borrowing=False)
