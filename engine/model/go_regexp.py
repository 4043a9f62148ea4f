"""Regular expressions of configurations, as Go reads them: RE2, whose time is bounded by the length of the text.

Therefore neither a user's name nor an expression in a configuration can stall a pass.
"""

from functools import lru_cache
from typing import Any

import re2

LONGEST_EXPRESSION = 1_000
"""The longest expression that is accepted, in characters."""
LONGEST_TEXT = 256
"""The longest text that can match, in characters: no user and no group has a longer name."""
_MOST_MEMORY = 1 << 20
"""The most memory that a compiled expression may take, in bytes. It also bounds the cost of matching a text."""


class ExpressionError(ValueError):
    """An expression that can't be read. ``str()`` gives the reason."""


def check(expression: str) -> None:
    """Raise ExpressionError for an expression that ``matches`` can't read."""
    _compiled(expression)


@lru_cache(maxsize=16_384)
def matches(expression: str, text: str) -> bool:
    """Return whether the expression is found anywhere in the text. Raises ExpressionError."""
    compiled = _compiled(expression)
    return len(text) <= LONGEST_TEXT and compiled.search(_bytes(text)) is not None


@lru_cache(maxsize=1_024)
def _compiled(expression: str) -> Any:
    if len(expression) > LONGEST_EXPRESSION:
        raise ExpressionError(f"it has more than {LONGEST_EXPRESSION} characters")
    options = re2.Options()
    options.log_errors = False  # the expression is user input, which must not get into the log
    options.max_mem = _MOST_MEMORY
    try:
        return re2.compile(_bytes(expression), options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        raise ExpressionError(said.decode(errors="replace") if isinstance(said, bytes) else str(said)) from None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
