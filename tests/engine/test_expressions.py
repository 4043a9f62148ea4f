"""Expressions find what Python's own find, in a time that nobody's name can stretch."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.expressions import LONGEST_TEXT, ExpressionError, check, matches

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
    "",
)


@given(st.sampled_from(SOUND), st.text("abcxyfo1-. test", max_size=12))
def test_an_expression_finds_what_pythons_own_finds(expression: str, text: str) -> None:
    """Anywhere in the text, unless it says where."""
    assert matches(expression, text) == bool(re.search(expression, text, re.ASCII))


@pytest.mark.parametrize(
    "expression", ["^(a|aa)+$", "(a+a+)+b", "(a*)*b", "(.*.*.*.*)*y", "((((a*)*)*)*)*b", "((a{1,30}){30})*b"]
)
def test_no_name_makes_an_expression_take_long(expression: str) -> None:
    """Where attempts one after the other would outlast the sun."""
    began = time.process_time()
    assert not matches(expression, "a" * (LONGEST_TEXT - 1) + "!")
    assert time.process_time() - began < 2


def test_a_bracket_in_a_set_is_a_character_as_in_go() -> None:
    """Python warns that it may be read as a set in a set one day."""
    assert matches("^[[x]+$", "[x[")
    assert not matches("^[[x]$", "y")


def test_no_user_is_called_as_long_as_that() -> None:
    """So a longer text matches nothing, whatever the expression."""
    assert not matches(".*", "a" * (LONGEST_TEXT + 1))


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("(?=a)", "assert is not known"),
        (r"(a)\1", "groupref is not known"),
        ("[[:alpha:]]", "[[: is not read here"),
        (r"\pL", r"\p is not read here"),
        ("(?i)a", "(?i is not read here"),
        ("(", "missing )"),
        ("a{1,2000}", "more than 1000 times"),
        ("((a{100}){100}){100}", "more than 1000 times"),
        ("a++", "possessive repeat"),
        ("x" * 1_001, "more than 1000 characters"),
        ("(" * 400 + ")" * 400, "more than 100 groups"),
    ],
)
def test_what_can_not_be_judged_is_refused(expression: str, said: str) -> None:
    """With the reason, where it is typed."""
    with pytest.raises(ExpressionError) as error:
        check(expression)
    assert said in str(error.value)
