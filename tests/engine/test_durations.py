"""Durations as Go writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.tree_json.durations import DurationError, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("30s", 30_000),
        ("1m30s", 90_000),
        ("500ms", 500),
        ("1.5h", 5_400_000),
        ("100us", 1),
        ("100µs", 1),
        ("1ns", 1),
        ("-1.5s", -1500),
        ("+2s", 2000),
        ("0", 0),
        (".5s", 500),
    ],
)
def test_a_duration_in_milliseconds(text: str, milliseconds: int) -> None:
    """Fractions are rounded away from zero: above zero stays above zero."""
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize("text", ["", "30", "s", "1d", "1 s", "1s ", "--1s", "1h-1m", "٣s", "bogus"])
def test_anything_else_is_none(text: str) -> None:
    """With a sentence that repeats it."""
    with pytest.raises(DurationError, match="is not a duration"):
        parse_duration(text)


@given(st.integers(0, 2**50))
def test_what_is_written_reads_back(milliseconds: int) -> None:
    """In the largest units that are exact."""
    assert parse_duration(format_duration(milliseconds)) == milliseconds
