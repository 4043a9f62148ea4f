"""Labels and annotations as people type them, one a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.tree_json.label_lines import PairsError, read_pairs, write_pairs

KEYS = st.from_regex(r"[a-z]([a-z./]*[a-z])?", fullmatch=True)


@given(st.dictionaries(KEYS, st.text()))
def test_whatever_is_written_is_read_back(pairs: dict[str, str]) -> None:
    assert read_pairs(write_pairs(pairs)) == pairs


def test_plain_values_stand_as_they_are() -> None:
    assert write_pairs({"b": "", "a": "one: two", "c": "false"}) == "a: one: two\nb:\nc: false"


def test_what_would_be_lost_is_quoted() -> None:
    assert write_pairs({"a": " x", "b": '"', "c": "1\n2"}) == 'a: " x"\nb: "\\""\nc: "1\\n2"'


def test_values_may_be_typed_as_in_a_manifest() -> None:
    """With the quotes that YAML wants for words like true, with blanks, with blank lines."""
    assert read_pairs('  a :  "true"\n\n\tb:1\r\nc: https://x/y\n') == {"a": "true", "b": "1", "c": "https://x/y"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1\nb", "Line 2 does not have the form"),
        (": 1", "Line 1 does not have the form"),
        ("a: 1\n\na: 2", "Line 3: a occurs twice"),
        ('a: "1', "Line 1: a value that begins with a double quote"),
        ('a: "1" 2', "Line 1: a value that begins with a double quote"),
    ],
)
def test_a_line_that_can_not_be_read_is_named(text: str, why: str) -> None:
    with pytest.raises(PairsError, match=why):
        read_pairs(text)
