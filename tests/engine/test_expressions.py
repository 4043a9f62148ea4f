"""Expressions find what Go's find, in a time that neither a name nor an expression can stretch."""

import re
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.go_regexp import LONGEST_EXPRESSION, LONGEST_TEXT, ExpressionError, check, matches

SOUND = (
    "dev*",
    "^(a|aa)+$",
    "a{2,3}b",
    "[^a-c]x?",
    r"\bfoo\b",
    "(?:ab)*c",
    "^.*-test$",
    r"[a-z]+\d{1,2}",
    "(x+x+)+y",
    r"\w\s?\W",
    "(ab|)+?c$",
    "[abc0-9]",
    "(?i)FOO|(?s:a.b)",
    "",
)


@given(st.sampled_from(SOUND), st.text("abcxyfo1-. test", max_size=12))
def test_an_expression_finds_what_pythons_own_finds(expression: str, text: str) -> None:
    """Anywhere in the text, unless it says where."""
    assert matches(expression, text) == bool(re.search(expression, text, re.ASCII))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("(?i)dev-.*", "DEV-ops"),
        ("^[[:alpha:]]+$", "nobody"),
        (r"^\pL+$", "数据"),
        (r"\Qa.b\E", "a.b"),
        ("^[[x]+$", "[x["),
        ("^.$", "数"),
        ("(?P<team>a)", "a"),
    ],
)
def test_what_go_reads_is_read(expression: str, text: str) -> None:
    """Flags, classes by name, quoted text, letters of any language."""
    assert matches(expression, text)


def test_a_surrogate_in_a_name_is_a_character_like_another() -> None:
    """JSON can hold one, and no encoding can."""
    assert matches("^a.$", "a\ud800")


@pytest.mark.parametrize(
    "expression",
    [
        *("^(a|aa)+$", "(a+a+)+b", "(a*)*b", "(.*.*.*.*)*y", "((((a*)*)*)*)*b", "((a{1,30}){30})*b"),
        "(?:(?:(?:(?:(?:(?:" + "a?" * 40 + "){1,2}){1,2}){1,2}){1,2}){1,2}){1,2}b",
        "(" * 100 + "a*" + ")*" * 100 + "b",
        ("(" * 60 + "a|n|o|b" + ")*?" * 60 + "!") * 2,
        "(x?){1000}" * 90 + "b",
    ],
)
@pytest.mark.parametrize("text", ["nobody", "a" * (LONGEST_TEXT - 1) + "!"])
def test_neither_a_name_nor_an_expression_makes_it_take_long(expression: str, text: str) -> None:
    """Where attempts one after the other would outlast the sun."""
    began = time.process_time()
    with suppress(ExpressionError):
        matches(expression, text)
    assert time.process_time() - began < 2


def test_what_would_need_too_much_memory_is_refused() -> None:
    """Where it is typed."""
    with pytest.raises(ExpressionError, match="pattern too large"):
        check("(x?){1000}" * 90)


def test_no_user_is_called_as_long_as_that() -> None:
    """So a longer text matches nothing, whatever the expression."""
    assert not matches(".*", "a" * (LONGEST_TEXT + 1))


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("(?=a)", "invalid perl operator: (?="),
        (r"(a)\1", r"invalid escape sequence: \1"),
        ("(", "missing ): ("),
        ("a{1,2000}", "invalid repetition size: {1,2000}"),
        ("((a{100}){100}){100}", "invalid repetition size: {100}"),
        ("a++", "bad repetition operator: ++"),
        ("x" * (LONGEST_EXPRESSION + 1), "more than 1000 characters"),
    ],
)
def test_what_go_refuses_is_refused(expression: str, said: str) -> None:
    """With the reason, where it is typed."""
    with pytest.raises(ExpressionError) as error:
        check(expression)
    assert said in str(error.value)
