"""A wait ends as soon as its condition holds, and says what it waited for when that never comes."""

from itertools import count

import pytest

from tests.waiting import logged, logs, wait_for


def test_the_answer_is_returned_as_soon_as_it_is_true() -> None:
    """Not asked again after that."""
    asked = count(-2)
    assert wait_for(lambda: max(0, next(asked)), "one") == 1
    assert next(asked) == 2


def test_what_never_comes_is_named() -> None:
    """With what was answered last."""
    with pytest.raises(AssertionError, match=r"in vain for: the moon \(last answer: None\)"):
        wait_for(lambda: None, "the moon", within_s=0)


def test_logs_are_those_of_who_is_at_work() -> None:
    """In the block alone, and only of who has said anything."""
    with logged("a worker", lambda: "its words\n"), logged("a silent one", lambda: ""):
        assert logs()["a worker"] == "its words"
        assert "a silent one" not in logs()
    assert "a worker" not in logs()
