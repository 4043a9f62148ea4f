"""A moment or a stretch of recorded time under several sides: figures that can be worked out by hand."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.planning.comparison import (
    ComparedSide,
    EmptyRecordError,
    Recording,
    Waits,
    at_moment,
    record,
    rerun_recording,
)
from engine.planning.comparison.figures import CoursePoint
from engine.planning.comparison.outcome_counts import POINTS, sample_points
from engine.planning.comparison.queue_demand import jain
from engine.planning.journal import PassInputs
from engine.policies import audit_terms, foreign_dialects, known_dialects, policy
from tests.builders import NOW, ask, node, pod, queue, tree
from tests.engine.test_journal import state_of

EQUAL = tree({"prod": queue("2", delay_ms=0), "test": queue("2", delay_ms=0)})
GENEROUS = tree({"prod": queue("4", delay_ms=0), "test": queue("0", delay_ms=0)})
PLAIN = tree({"prod": queue(), "test": queue()})


def side(shape: QueueTree, name: str = "fence", dialect: str = "design") -> ComparedSide:
    """A tree under a policy."""
    return ComparedSide(
        tree=shape,
        decide=policy(name, dialect),
        terms=audit_terms(name, dialect, {}),
        foreign=dialect in foreign_dialects(),
    )


def frames(*seen: tuple[int, Sequence[Any]]) -> Iterable[tuple[ClusterState, PassInputs]]:
    """A journal: at so many seconds, the whole cluster was so."""
    return [(state_of(*things), PassInputs(now_ms=NOW + 1000 * at)) for at, things in seen]


def read(
    *seen: tuple[int, Sequence[Any]], until: int, shape: QueueTree = EQUAL, evicted: dict[str, Any] | None = None
) -> Recording:
    """The record of so many seconds."""
    return record(frames(*seen), shape, since_ms=NOW, until_ms=NOW + 1000 * until, evicted=evicted or {})


def running(name: str, queue: str, *, since: int = 0, node: str = "n1", **settings: Any) -> Pod:
    """A pod that runs since so many seconds."""
    return pod(name, queue=queue, node=node, started_ms=NOW + 1000 * since, created_ms=NOW, **settings)


def waiting(name: str, queue: str, *, since: int = 0, **settings: Any) -> Pod:
    """An ask that came so many seconds after the beginning."""
    return ask(name, queue=queue, created_ms=NOW + 1000 * since, unschedulable_ms=NOW + 1000 * since, **settings)


FOUR = node("n1", 4)
TESTS = [running(f"t{number}", "test", since=-60) for number in range(4)]


def full_then_asked() -> list[tuple[int, list[Any]]]:
    """Test fills the node; prod asks after 10 s, and nothing else happens."""
    return [(0, [FOUR, *TESTS]), (10, [FOUR, *TESTS, waiting("p", "prod", since=10)])]


def test_all_alike_is_fair_and_one_with_everything_is_not() -> None:
    """Jain's index in millionths: 1, 1/n, and none where nobody has anything."""
    assert jain([Fraction(1, 3)] * 5) == 1_000_000
    assert jain([Fraction(1, 2), Fraction(0)]) == 500_000
    assert jain([Fraction(1), Fraction(2), Fraction(3)]) == 36 * 1_000_000 // (3 * 14)
    assert jain([Fraction(0)]) is None
    assert jain([]) is None


@given(st.lists(st.fractions(min_value=0, max_value=1, max_denominator=1000), min_size=1, max_size=12))
def test_jain_lies_between_one_in_n_and_one_and_knows_no_scale(shares: list[Fraction]) -> None:
    """And the order does not matter."""
    found = jain(shares)
    assert (found is None) == (not any(shares))
    if found is not None:
        assert 1_000_000 // len(shares) <= found <= 1_000_000
        assert found == jain([one * 7 for one in reversed(shares)])


def test_half_and_most_of_waits() -> None:
    """The lowest that 50 and 95 of a hundred don't exceed; the sum counts those who still wait, too."""
    assert Waits.of(range(1, 101), [1000]) == Waits(half_ms=50, most_ms=95, sum_ms=6050)
    assert Waits.of([7], []) == Waits(half_ms=7, most_ms=7, sum_ms=7)
    assert Waits.of([], [5]) is None


def test_a_moment_is_its_forecast() -> None:
    """Prod may have two cores: two of test's pods go, each of which had run for a minute."""
    state = state_of(FOUR, TESTS, [waiting(f"p{number}", "prod") for number in range(3)])
    found = at_moment(state, PassInputs(now_ms=NOW), side(EQUAL))
    assert (found.decisions, found.preempted, found.again, found.applications) == (2, 2, 0, 2)
    assert found.work == {"cpu": 2 * 60 * 1000}
    assert (found.placed, found.waiting, found.settles, found.loop) == (2, 3, True, ())
    assert (found.shares, found.jain) == ({"root.prod": 500_000, "root.test": 500_000}, 1_000_000)
    assert found.short == {}
    assert (found.waits, found.below_ms, found.course) == (None, None, ())


def test_what_starts_after_the_moment_has_done_no_work() -> None:
    """Each of a loop's pods goes again and again; only the first time it had run for a minute."""
    loop = tree({"a": queue("1", delay_ms=0), "b": queue("1", delay_ms=0)})
    state = state_of(node("n1", 1), running("x", "a", since=-60, priority=0), waiting("y", "b", priority=5))
    found = at_moment(state, PassInputs(now_ms=NOW), side(loop, "priority", "kube-scheduler"))
    assert (found.preempted, found.work) == (1, {"cpu": 60 * 1000})


def test_a_record_tells_what_happened() -> None:
    """Prod waits from the tenth second to the thirtieth, short of its guarantee, until a pod of test's goes."""
    served = [running("p", "prod", since=30), *TESTS[:3]]
    told = read(*full_then_asked(), (30, [FOUR, *served]), until=60, evicted={"uid-t3": 7}).figures
    assert (told.decisions, told.preempted, told.applications, told.placed) == (1, 1, 1, 1)
    assert told.work == {"cpu": 90 * 1000}
    assert told.waits == Waits(half_ms=20_000, most_ms=20_000, sum_ms=20_000)
    assert (told.below, told.below_ms) == ({"root.prod": 20_000}, 20_000)
    # 10 s of test alone, 20 s of both with nothing for prod, 30 s of 3/4 and 1/4
    assert told.jain == (10 * 1_000_000 + 20 * 500_000 + 30 * 800_000) // 60
    assert told.shares == {"root.prod": 250_000 // 2, "root.test": (30 * 1_000_000 + 30 * 750_000) // 60}
    assert [(point.at_ms - NOW, point.preempted) for point in told.course[29:31]] == [(29_000, 0), (30_000, 1)]


def test_a_side_decides_anew() -> None:
    """Under a tree that owes prod two cores its ask is served at once; in the record it never was."""
    recording = read(*full_then_asked(), until=60)
    assert (recording.figures.preempted, recording.figures.waiting) == (0, 1)
    found = rerun_recording(recording, side(EQUAL))
    assert (found.decisions, found.preempted, found.placed, found.waiting) == (1, 1, 1, 1)
    assert found.work == {"cpu": 70 * 1000}
    assert found.waits == Waits(half_ms=0, most_ms=0, sum_ms=50_000)  # who was evicted waits
    none = rerun_recording(recording, side(PLAIN))
    assert (none.preempted, none.waiting, none.waits) == (0, 1, None)


def test_who_ended_in_the_record_runs_as_long_in_every_run() -> None:
    """The pod ran for 20 s from the tenth second; begun at once, it makes room ten seconds sooner."""
    job, small = running("job", "test", since=10), node("n1", 1)
    recording = read(
        (
            0,
            [
                small,
                waiting("job", "test"),
            ],
        ),
        (10, [small, job]),
        (20, [small, job, waiting("next", "test", since=20)]),
        (30, [small, msgspec.structs.replace(job, finished=True), waiting("next", "test", since=20)]),
        until=60,
    )
    found = rerun_recording(recording, side(EQUAL))
    assert found.preempted == 0
    assert found.waits == Waits(half_ms=0, most_ms=0, sum_ms=0)
    assert recording.figures.waits is not None
    assert recording.figures.waits.half_ms == 10_000


def test_who_was_deleted_goes_then_in_every_run() -> None:
    """Bound or still waiting."""
    recording = read(
        (0, [FOUR, *TESTS, waiting("p", "prod")]),
        (20, [FOUR, *TESTS[:3]]),
        until=40,
        shape=PLAIN,
    )
    found = rerun_recording(recording, side(PLAIN))
    assert (found.waiting, found.preempted, found.placed) == (0, 0, 0)
    assert found.shares["root.test"] == (20 * 1_000_000 + 20 * 750_000) // 40


def test_what_an_eviction_of_the_record_brought_back_is_the_same_pod() -> None:
    """Where nobody evicts it, its successor never comes."""
    again = waiting("t3b", "test", since=20, controller=TESTS[3].controller)
    leaving = msgspec.structs.replace(TESTS[3], terminating=True, disruption="EvictionByEvictionAPI")
    recording = read(
        (0, [FOUR, *TESTS]),
        (20, [FOUR, *TESTS[:3], leaving, again]),
        (21, [FOUR, *TESTS[:3], again, running("x", "prod", since=21)]),
        (30, [FOUR, *TESTS[:3], again, running("x", "prod", since=21)]),
        until=40,
        evicted={"uid-t3": 1},
    )
    assert (recording.figures.preempted, recording.figures.waiting) == (1, 1)
    found = rerun_recording(recording, side(PLAIN))
    assert (found.preempted, found.placed, found.waiting) == (0, 0, 1)  # it is x that waits


def test_pods_of_a_node_that_is_lost_are_made_again() -> None:
    """That is no preemption; they wait until there is room."""
    other = node("n2", 4)
    moved = [
        running(f"t{number}b", "test", node="n2", since=11, controller=TESTS[number].controller) for number in range(4)
    ]
    gone = [msgspec.structs.replace(one, terminating=True, disruption="DeletionByTaintManager") for one in TESTS]
    recording = read((0, [FOUR, *TESTS]), (10, [gone]), (11, [other, *moved]), until=30)
    found = rerun_recording(recording, side(EQUAL))
    assert (found.preempted, found.placed, found.waiting) == (0, 4, 0)
    assert found.waits == Waits(half_ms=1000, most_ms=1000, sum_ms=4000)


def test_what_was_on_its_way_out_at_the_beginning_goes() -> None:
    """Also where nobody waits for its room, and it is not made again."""
    leaving = msgspec.structs.replace(TESTS[0], terminating=True)
    recording = read((0, [FOUR, leaving, *TESTS[1:]]), (30, [FOUR, *TESTS[1:]]), until=60)
    found = rerun_recording(recording, side(EQUAL))
    assert (found.preempted, found.waiting, found.shares) == (0, 0, {"root.test": 750_000})


def test_a_checkpoint_is_written_after_as_much_running_as_in_the_record() -> None:
    """The pod saves its work after 80 s; what it did after that is thrown away."""
    saved = [msgspec.structs.replace(one, checkpoint_ms=NOW + 20_000) for one in TESTS]
    recording = read(
        (0, [FOUR, *TESTS]),
        (25, [FOUR, *saved]),
        (50, [FOUR, *saved, waiting("p", "prod", since=50)]),
        until=60,
    )
    assert rerun_recording(recording, side(EQUAL)).work == {"cpu": 30 * 1000}


def test_a_record_that_begins_later_is_told_from_there() -> None:
    """And one with nothing in it is no record."""
    assert read((20, [FOUR]), until=60).since_ms == NOW + 20_000
    for nothing in ([], [(70, [FOUR])]):
        with pytest.raises(EmptyRecordError):
            read(*nothing, until=60)


def test_what_comes_after_the_last_look_is_not_counted_anywhere() -> None:
    """It is no record of nothing: what was seen before counts to the end."""
    seen = [state_of(FOUR, TESTS), state_of(FOUR, TESTS, waiting("p", "prod", since=59))]
    moments = [PassInputs(now_ms=NOW), PassInputs(now_ms=NOW + 59_500)]
    recording = record(zip(seen, moments, strict=True), EQUAL, since_ms=NOW, until_ms=NOW + 60_000, evicted={})
    assert sum(step.for_ms for step in recording.steps) == 60_000
    assert (recording.figures.waiting, rerun_recording(recording, side(EQUAL)).waiting) == (0, 0)


def test_at_most_a_thousand_times_are_looked_at() -> None:
    """A day in steps of 86.4 s."""
    day = 24 * 60 * 60
    recording = read((-5, [FOUR, *TESTS]), (day // 2, [FOUR]), until=day)
    assert len(recording.steps) == 1000
    assert {step.for_ms for step in recording.steps} == {86_400}
    assert sum(step.for_ms for step in recording.steps) == day * 1000


def test_a_course_is_thinned_to_its_ends() -> None:
    """Its first and last points stay."""
    course = [CoursePoint(at_ms=at, preempted=at, waiting=0, short=0, jain=None) for at in range(1000)]
    found = sample_points(course)
    assert (len(found), found[0].at_ms, found[-1].at_ms) == (POINTS, 0, 999)
    assert sample_points(course[:5]) == tuple(course[:5])


def every_side() -> list[ComparedSide]:
    """Every policy and dialect that this version can decide by."""
    return [side(EQUAL, name, dialect) for name, dialects in known_dialects().items() for dialect in dialects]


@pytest.mark.parametrize("chosen", every_side(), ids=[f"{a}-{b}" for a, bs in known_dialects().items() for b in bs])
def test_every_policy_runs_and_comes_to_the_same_again(chosen: ComparedSide) -> None:
    """Whatever it is, twice the same figures, and the record stays as it was."""
    recording = read(*full_then_asked(), (30, [FOUR, *TESTS[:2], waiting("p", "prod", since=10)]), until=60)
    before = set(recording.state.pods)
    assert rerun_recording(recording, chosen) == rerun_recording(recording, chosen)
    assert set(recording.state.pods) == before
    at_moment(recording.state, PassInputs(now_ms=NOW), chosen)


def test_by_deserved_shares_who_is_over_goes_once_its_grace_is_over() -> None:
    """Test is told when prod asks, and half a minute later gives one of its four cores for prod's only ask."""
    found = rerun_recording(read(*full_then_asked(), until=90, shape=PLAIN), side(PLAIN, "deserved", "arbitrator"))
    assert (found.preempted, found.placed, found.waiting) == (1, 1, 1)
    assert found.waits == Waits(half_ms=30_000, most_ms=30_000, sum_ms=30_000 + 50_000)
