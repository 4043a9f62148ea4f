"""What does not fit into an Event ends where a reader would draw breath."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cluster.acting.pod_events import clip_text


@pytest.mark.parametrize(
    ("text", "most", "left"),
    [
        ("It went.", 8, "It went."),
        ("It went. It was the last.", 20, "It went…"),
        (
            "b was evicted because a was below its guarantee while b was above",
            60,
            "b was evicted because a was below its guarantee…",
        ),
        ("one two three", 12, "one two…"),
        ("onetwothree", 8, "onetw…"),
        ("漢字漢字漢字", 10, "漢字…"),
    ],
)
def test_it_is_cut_after_a_clause_or_else_after_a_word(text: str, most: int, left: str) -> None:
    """And never within a character, of however many bytes."""
    assert clip_text(text, most) == left


@given(text=st.text(), most=st.integers(3, 60))
def test_it_holds_no_more_than_it_may_and_nothing_else(text: str, most: int) -> None:
    """What is left is the beginning of what was to be said."""
    left = clip_text(text, most)
    assert len(left.encode()) <= most
    assert left == text or (text.startswith(left.removesuffix("…")) and left.endswith("…"))
