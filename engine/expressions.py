"""Regular expressions of configurations, matched in a time that grows with the text as a small power, never beyond.

Whoever names a user must not be able to stop a pass, so an expression is walked with the set of all places that it may
have come to, instead of one attempt after the other. What Go's expressions do not have either is refused.
"""

import re
import warnings
from functools import lru_cache
from re import _constants as codes  # type: ignore[attr-defined,unused-ignore]
from re import _parser as parser  # type: ignore[attr-defined,unused-ignore]
from typing import Any

LONGEST_EXPRESSION = 1_000
"""In characters."""
LONGEST_TEXT = 256
"""A longer text matches nothing: no user and no group is called so."""
MOST_REPEATS = 1_000
"""As in Go."""
MOST_GROUPS = 100

_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
_ONE = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN)
_GO_ALONE = re.compile(r"\[\[:|\\[pPzQEC]|\(\?[a-zA-Z-]")
"""What Go reads in another way than Python: classes by name, flags."""


class ExpressionError(ValueError):
    """An expression that can't be read. ``str()`` says why."""


def check(expression: str) -> None:
    """Raise ExpressionError for an expression that ``matches`` can't judge as Go does."""
    _parsed(expression)


@lru_cache(maxsize=16_384)
def matches(expression: str, text: str) -> bool:
    """Whether the expression is found anywhere in the text. Raises ExpressionError."""
    if len(text) > LONGEST_TEXT:
        return False
    return bool(_ends(_parsed(expression), text, frozenset(range(len(text) + 1))))


@lru_cache(maxsize=1_024)
def _parsed(expression: str) -> Any:
    if len(expression) > LONGEST_EXPRESSION:
        raise ExpressionError(f"it has more than {LONGEST_EXPRESSION} characters")
    if expression.count("(") > MOST_GROUPS:
        raise ExpressionError(f"it has more than {MOST_GROUPS} groups")
    if found := _GO_ALONE.search(expression):
        raise ExpressionError(f"{found.group()} is not read here")
    try:
        with warnings.catch_warnings():  # of sets in sets, which a later Python may read as such, and Go does not
            warnings.simplefilter("ignore", FutureWarning)
            parsed = parser.parse(expression, re.ASCII)
    except (re.error, RecursionError, OverflowError) as error:
        raise ExpressionError(str(error)) from error
    _refuse_others(parsed)
    return parsed


def _refuse_others(parsed: Any, times: int = 1) -> None:
    """Raise ExpressionError for what stands in a sequence that is repeated so many ``times``, and must not."""
    for code, argument in parsed:
        if code in _REPEATS:
            least, most, inner = argument
            counted = times * max(least, 1 if most is codes.MAXREPEAT else most, 1)
            if counted > MOST_REPEATS:
                raise ExpressionError(f"it repeats something more than {MOST_REPEATS} times")
            _refuse_others(inner, counted)
        elif code is codes.SUBPATTERN:
            _refuse_others(argument[-1], times)
        elif code is codes.BRANCH:
            for inner in argument[1]:
                _refuse_others(inner, times)
        elif code not in (*_ONE, codes.AT):
            raise ExpressionError(f"{str(code).lower().replace('_', ' ')} is not known to it")


def _ends(parsed: Any, text: str, places: frozenset[int]) -> frozenset[int]:
    """Where a sequence may end that begins at one of these places."""
    for code, argument in parsed:
        if not places:
            break
        if code in _ONE:
            places = frozenset(at + 1 for at in places if at < len(text) and _is(code, argument, text[at]))
        elif code is codes.AT:
            places = frozenset(at for at in places if _stands(argument, text, at))
        elif code is codes.SUBPATTERN:
            places = _ends(argument[-1], text, places)
        elif code is codes.BRANCH:
            places = frozenset().union(*(_ends(inner, text, places) for inner in argument[1]))
        else:
            places = _repeated(argument, text, places)
    return places


def _repeated(argument: Any, text: str, places: frozenset[int]) -> frozenset[int]:
    least, most, inner = argument
    for _ in range(least):
        places = _ends(inner, text, places)
    found, times = places, least
    while places and times < most:
        places = _ends(inner, text, places) - found
        found, times = found | places, times + 1
    return found


def _is(code: Any, argument: Any, mark: str) -> bool:
    if code is codes.LITERAL:
        return mark == chr(argument)
    if code is codes.NOT_LITERAL:
        return mark != chr(argument)
    if code is codes.ANY:
        return mark != "\n"
    negated = bool(argument[0][0] is codes.NEGATE)
    return negated != any(_in(kind, one, mark) for kind, one in argument[negated:])


def _in(kind: Any, argument: Any, mark: str) -> bool:
    if kind is codes.RANGE:
        return bool(argument[0] <= ord(mark) <= argument[1])
    return mark == chr(argument) if kind is codes.LITERAL else _category(argument, mark)


def _category(category: Any, mark: str) -> bool:
    """Digits, words and blanks of ASCII, as in Go."""
    kind = str(category).removeprefix("CATEGORY_")
    wanted = {"DIGIT": r"\d", "SPACE": r"[\t\n\f\r ]", "WORD": r"\w"}[kind.removeprefix("NOT_")]
    return kind.startswith("NOT_") != bool(re.fullmatch(wanted, mark, re.ASCII))


def _stands(where: Any, text: str, at: int) -> bool:
    if where in {codes.AT_BEGINNING, codes.AT_BEGINNING_STRING}:
        return at == 0
    if where in {codes.AT_END, codes.AT_END_STRING}:
        return at == len(text)
    before = at > 0 and _category("CATEGORY_WORD", text[at - 1])
    after = at < len(text) and _category("CATEGORY_WORD", text[at])
    return (where is codes.AT_BOUNDARY) == (before != after)
