"""Claims of ID tokens are matched exactly, or by a pattern, in a time that no pattern makes long."""

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scheduler_admin.accounts.workloads.claims import match

TEXTS = st.text("ab/", max_size=8)
PATTERNS = st.text("ab/*", min_size=1, max_size=6)


@given(PATTERNS, TEXTS)
@example("a*a", "a")
@example("*ab*ab", "abab")
def test_a_star_is_any_characters(pattern: str, text: str) -> None:
    """As the regular expression that says the same."""
    expression = ".*".join(map(re.escape, pattern.split("*")))
    assert match({"sub": pattern}, {"sub": text}) == (re.fullmatch(expression, text) is not None)


def test_many_stars_take_no_longer() -> None:
    """A regular expression would not come to an end."""
    assert not match({"ref": "a*" * 100 + "b"}, {"ref": "a" * 16_000})


@pytest.mark.parametrize(("value", "found"), [(True, "true"), (7, "7"), (["main"], None), (None, None)])
def test_numbers_and_truth_values_are_their_texts(value: Any, found: str | None) -> None:
    """As one platform sends them, and not another. Whatever else a claim is, it does not match."""
    assert match({"protected": found or "main"}, {"protected": value}) == (found is not None)
