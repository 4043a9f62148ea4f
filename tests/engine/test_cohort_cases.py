"""Policies ``cohort`` and ``fair-share`` in cases that the recorded decisions have few or none of."""

from engine.model.quota import BorrowWithinCohort, Cohort, Preemption, Take
from engine.policies.cohort import STRATEGIES, Mode, PreemptionReason, decide
from tests.engine.quota_builders import cluster, holds, queue, waits


def targets(parts: tuple[object, ...], *, fair: bool = False) -> list[str]:
    """The names of those who go for the workload that waits."""
    world = cluster(*parts)
    ask = next(one for one in world.workloads if not one.holds)
    return [target.workload.name for target in decide(world, ask, STRATEGIES if fair else None).search.targets]


def test_a_queue_that_is_held_still_uses_its_quota_but_gives_nothing() -> None:
    """Its workload can't go, so another queue's has to."""
    borrower = holds("w", "b", cpu=9)
    ask = waits("a", cpu=4)
    assert targets((queue("a", cpu=4), queue("b", cpu=5), borrower, ask)) == ["w"]
    assert targets((queue("a", cpu=4), queue("b", cpu=5, active=False), borrower, ask)) == []


def test_quota_of_pods_decides_about_flavors_but_not_about_how_many_go() -> None:
    """As in Kueue: three pods are asked for where four of four are used, and one goes."""
    holding = [holds(f"w{number}", "a", pods=1) for number in range(4)]
    world = cluster(queue("a", pods=4), *holding, ask := waits("a", count=3))
    verdict = decide(world, ask)
    assert verdict.mode is Mode.PREEMPT
    assert len(verdict.search.targets) == 1


def test_a_workload_that_could_do_with_fewer_pods_gets_as_many_as_can_be() -> None:
    """Eight do not fit and nobody may go; five of them do."""
    ask = waits("a", count=8, least=3, cpu=1)
    verdict = decide(cluster(queue("a", cpu=5), ask), ask)
    assert verdict.mode is Mode.FIT
    assert [one.count for one in verdict.assignment.sets] == [5]


def test_whoever_may_not_borrow_takes_from_others_only_within_its_own_quota() -> None:
    """With borrowing allowed it takes while it borrows, from lower priorities up to the threshold."""
    parts = (queue("b", cpu=4), holds("w", "b", priority=1, cpu=8))

    def asks(borrow: BorrowWithinCohort) -> list[str]:
        preemption = Preemption(reclaim=Take.LOWER_PRIORITY, borrow=borrow)
        return targets((*parts, queue("a", cpu=4, preemption=preemption), waits("a", cpu=6)))

    assert asks(BorrowWithinCohort()) == []
    assert asks(BorrowWithinCohort(allowed=True)) == ["w"]
    assert asks(BorrowWithinCohort(allowed=True, threshold=0)) == []


def test_under_fair_sharing_who_borrows_most_gives_first() -> None:
    """Until the shares are even: then nobody goes."""
    queues = [queue(name, cpu=4) for name in "abc"]
    greedy = [holds(f"b{number}", "b", cpu=2) for number in range(4)]
    modest = [holds("c1", "c", cpu=3), holds("c2", "c", cpu=1)]
    assert targets((*queues, *greedy, *modest, waits("a", cpu=2)), fair=True) == ["b0"]
    even = [holds("a1", "a", priority=9, cpu=4), holds("b1", "b", cpu=4), holds("c1", "c", cpu=4)]
    assert targets((*queues, *even, waits("a", cpu=1)), fair=True) == []


def test_of_cohorts_with_one_share_the_first_by_name_gives() -> None:
    """Kueue takes any of them; here it is always the same one."""
    cohorts = [Cohort(name=name, parent="all") for name in ("left", "right")]
    queues = [queue("r", "right", cpu=2), queue("l", "left", cpu=2), queue("a", cpu=4)]
    holding = [holds("of-right", "r", cpu=4), holds("of-left", "l", cpu=4)]
    assert targets((*cohorts, *queues, *holding, waits("a", cpu=2)), fair=True) == ["of-left"]


def test_what_is_taken_back_within_the_nominal_quota_is_no_matter_of_shares() -> None:
    """It is reclaimed, and says so."""
    world = cluster(queue("a", cpu=4), queue("b", cpu=4), holds("w", "b", cpu=8), ask := waits("a", cpu=4))
    assert [target.why for target in decide(world, ask, STRATEGIES).search.targets] == [PreemptionReason.RECLAMATION]


def test_a_search_tells_who_was_taken_and_who_of_them_was_put_back() -> None:
    """The small one goes first, as it came last; with the large one gone too it need not."""
    small, large = holds("small", "b", cpu=1), holds("large", "b", priority=1, cpu=3)
    world = cluster(queue("a", cpu=3), queue("b", cpu=1), small, large, ask := waits("a", cpu=3))
    search = decide(world, ask).search
    assert [(one.workload.name, one.why) for one in search.taken] == [
        ("small", PreemptionReason.RECLAMATION),
        ("large", PreemptionReason.RECLAMATION),
    ]
    assert search.put_back == (small,)
    assert [one.workload.name for one in search.targets] == ["large"]


def test_a_search_tells_whether_the_ask_may_borrow() -> None:
    """It tries without at first where it has no right to take while it borrows."""
    own, other, ask = holds("own", "a", cpu=2), holds("other", "b", cpu=2), waits("a", cpu=3)
    search = decide(cluster(queue("a", cpu=3), queue("b", cpu=1), own, other, ask), ask).search
    assert [one.workload.name for one in search.targets] == ["other", "own"]
    assert not search.borrowing
    ask = waits("a", cpu=2)
    assert decide(cluster(queue("a", cpu=2), own, ask), ask).search.borrowing
