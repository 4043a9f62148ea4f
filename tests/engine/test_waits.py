"""Estimates of waits: right on what was waited so far, fair to those who went away, and judged by what came after."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.observation.wait_estimates import (
    HALF,
    MOST,
    ObservedWait,
    PredictionVerdict,
    WaitPrediction,
    check,
    estimate,
    shape_of,
)


def bound(*lasted: int) -> list[ObservedWait]:
    """Asks that got room."""
    return [ObservedWait(one, bound=True) for one in lasted]


def gone(*lasted: int) -> list[ObservedWait]:
    """Asks that went away, or still wait."""
    return [ObservedWait(one, bound=False) for one in lasted]


def test_where_all_got_room_half_and_nine_of_ten_are_counted() -> None:
    """Ten of them: the fifth, and the ninth."""
    found = estimate(bound(*range(10, 0, -1)))
    assert found is not None
    assert (found.half_ms, found.most_ms, found.known) == (5, 9, 10)


def test_those_that_went_away_count_for_as_long_as_they_waited() -> None:
    """Times of remission under 6-MP (Freireich and others, 1963): in textbooks too half end by the 23rd week."""
    remission = [*bound(6, 6, 6, 7, 10, 13, 16, 22, 23), *gone(6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35)]
    assert estimate(remission) is None  # of nine too little is known
    found = estimate([*remission, *bound(36)])
    assert found is not None
    assert (found.half_ms, found.most_ms, found.known) == (23, 36, 10)


def test_where_nine_of_ten_are_not_known_to_have_got_room_that_is_not_told() -> None:
    """Nor anything where not even half are."""
    found = estimate([*bound(*range(1, 11)), *gone(*[50] * 5)])
    assert found is not None
    assert found.most_ms is None
    assert estimate([*bound(*range(1, 11)), *gone(*[50] * 11)]) is None


def test_of_too_few_nothing_is_told() -> None:
    """However many went away."""
    assert estimate([*bound(*range(9)), *gone(*range(100))]) is None


@given(lasted=st.lists(st.integers(0, 50), min_size=10, max_size=60))
def test_without_anybody_going_away_it_is_the_plain_count(lasted: list[int]) -> None:
    """The first time by which so many had got room."""
    found = estimate(bound(*lasted))
    ordered = sorted(lasted)
    assert found is not None
    assert found.half_ms == ordered[-(-len(ordered) // 2) - 1]
    assert found.most_ms == ordered[-(-len(ordered) * 9 // 10) - 1]


@given(
    waits=st.lists(st.builds(ObservedWait, st.integers(0, 50), st.booleans()), min_size=10, max_size=60),
    seed=st.integers(),
)
def test_order_does_not_matter_and_half_comes_before_most(waits: list[ObservedWait], seed: int) -> None:
    """Whatever was waited."""
    shuffled = Random(seed).sample(waits, len(waits))
    assert estimate(shuffled) == (found := estimate(waits))
    assert found is None or found.most_ms is None or found.half_ms <= found.most_ms


def test_asks_of_like_size_are_of_one_shape() -> None:
    """Up to the next power of two; what they do not ask for tells them apart as well."""
    assert shape_of({"cpu": 3000, "pods": 1}) == shape_of({"cpu": 4096}) == {"cpu": 4096}
    assert shape_of({"cpu": 4097}) == {"cpu": 8192}
    assert shape_of({"cpu": 1, "gpu": 1}) == {"cpu": 1, "gpu": 1}


def told(within: int, wait: ObservedWait, since: int = 1000) -> WaitPrediction:
    """What was told of one ask."""
    return WaitPrediction(within, wait, since)


def test_those_of_whom_it_can_not_be_known_are_left_out() -> None:
    """Not over yet, or gone before; one that waited too long counts, wherever it went."""
    over = [told(5, wait) for wait in (*bound(5, 6), *gone(5, 4))]
    assert check([*over, told(5, ObservedWait(1, bound=True), since=4)], HALF).of == 3
    assert check(over, HALF).in_time == 1


@pytest.mark.parametrize(
    ("in_time", "of", "part", "verdict"),
    [
        (50, 100, HALF, PredictionVerdict.ACCURATE),
        (41, 100, HALF, PredictionVerdict.ACCURATE),
        (39, 100, HALF, PredictionVerdict.TOO_SHORT),
        (61, 100, HALF, PredictionVerdict.TOO_LONG),
        (84, 100, MOST, PredictionVerdict.ACCURATE),
        (83, 100, MOST, PredictionVerdict.TOO_SHORT),
        (9, 9, HALF, PredictionVerdict.TOO_FEW),
        (956, 2000, HALF, PredictionVerdict.ACCURATE),
        (955, 2000, HALF, PredictionVerdict.TOO_SHORT),
    ],
)
def test_what_chance_may_do_speaks_against_nobody(
    in_time: int, of: int, part: Fraction, verdict: PredictionVerdict
) -> None:
    """The limits are those of the binomial distribution's table, 2.5 % on either side."""
    waits = [*bound(*[1] * in_time), *bound(*[9] * (of - in_time))]
    assert check([told(5, wait) for wait in waits], part).verdict is verdict


def _history(random: Random, speed: float, count: int) -> list[ObservedWait]:
    """Waits of a minute on average; one in five goes away before."""
    found = []
    for _ in range(count):
        room, patience = random.expovariate(speed / 60_000), random.expovariate(1 / 240_000)
        found.append(ObservedWait(int(min(room, patience)), bound=room <= patience))
    return found


@pytest.mark.parametrize(
    ("speed", "verdict"),
    [(1.0, PredictionVerdict.ACCURATE), (0.5, PredictionVerdict.TOO_SHORT), (2.0, PredictionVerdict.TOO_LONG)],
)
def test_estimates_are_found_true_where_they_are_and_wrong_where_they_are_not(
    speed: float, verdict: PredictionVerdict
) -> None:
    """A simulated history: afterwards asks get room as fast as before, half as fast, twice as fast."""
    random = Random(7)
    found = estimate(_history(random, 1.0, 2000))
    assert found is not None
    assert found.most_ms is not None
    after = _history(random, speed, 300)
    for within, part in ((found.half_ms, HALF), (found.most_ms, MOST)):
        assert check([told(within, wait, since=10**9) for wait in after], part).verdict is verdict
