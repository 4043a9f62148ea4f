"""A mapping that is copied in no time, and tells what changed since an earlier moment."""

import pytest

from engine.model.collections.tracked_mapping import MOST_AHEAD, STEPS_KEPT, STEPS_SHARE, TrackedMapping


@pytest.fixture
def followed() -> TrackedMapping[int]:
    """Two things, of which both are known."""
    return TrackedMapping({"a": 1, "b": 2})


def test_what_changed_since_a_step_is_told_with_what_was_there(followed: TrackedMapping[int]) -> None:
    """As it was at the step, however often it changed since."""
    step = followed.reach()
    followed["a"] = 3
    followed["a"] = 4
    followed.update(c=5)
    del followed["b"]
    assert followed.pop("nothing", 0) == 0
    assert followed.since(step) == {"a": 1, "b": 2, "c": None}


def test_a_copy_knows_its_own_way_alone(followed: TrackedMapping[int]) -> None:
    """And both know what was before."""
    step = followed.reach()
    followed["a"] = 3
    copy = followed.copy()
    copy["b"], followed["c"] = 5, 6
    assert copy == {"a": 3, "b": 5}
    assert copy.since(step) == {"a": 1, "b": 2}
    assert followed.since(step) == {"a": 1, "c": None}


def test_a_mapping_goes_on_from_a_moment_of_its_copy(followed: TrackedMapping[int]) -> None:
    """What the copy alone had changed, is changed back."""
    copy = followed.copy()
    copy["b"], copy["c"] = 5, 6
    copy.reach()
    copy["d"] = 7
    moment = copy.copy().reach()
    followed["a"] = 3
    del followed["b"]
    assert followed.since(moment) == {"a": 1, "b": 5, "c": 6, "d": 7}
    assert followed.copy().since(moment) == {"a": 1, "b": 5, "c": 6, "d": 7}
    assert copy.since(moment) == {}


def test_of_a_copy_that_goes_its_own_way_for_long_little_is_kept() -> None:
    """However often it is asked in between, as a forecast asks at every step."""
    followed = TrackedMapping({"a": 1})
    copy = followed.copy()
    for number in range(MOST_AHEAD):
        copy[f"pod-{number}"] = number
        if number % 500 == 0:
            assert followed.since(copy.reach()) == {f"pod-{one}": one for one in range(number + 1)}
    copy["b"] = 2
    moment = copy.reach()
    assert followed.since(moment) is None
    assert not moment.ahead


def test_of_too_many_changes_nothing_is_known(followed: TrackedMapping[int]) -> None:
    """Unless somebody asks in between: then only what came since is kept."""
    step = followed.reach()
    for number in range(STEPS_KEPT + 1):
        followed["a"] = number
    assert followed.since(step) is None
    for _ in range(3):
        step = followed.copy().reach()
        for number in range(STEPS_KEPT):
            followed["a"] = number
        assert followed.since(step) == {"a": STEPS_KEPT if _ == 0 else STEPS_KEPT - 1}


def test_of_a_large_mapping_more_changes_are_known() -> None:
    """While a first snapshot of millions of pods is made, a tenth of them may change."""
    large = TrackedMapping({str(number): 0 for number in range(STEPS_SHARE * (STEPS_KEPT + 10))})
    step = large.reach()
    for number in range(STEPS_KEPT + 10):
        large[str(number)] = 1
    assert len(large.since(step) or ()) == STEPS_KEPT + 10
    large["0"] = 2
    assert large.since(step) is None


def test_of_what_is_emptied_nothing_is_known(followed: TrackedMapping[int]) -> None:
    """All has to be looked at then."""
    step = followed.reach()
    followed.clear()
    followed["a"] = 1
    assert followed.since(step) is None
