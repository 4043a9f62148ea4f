"""Regular expressions of configurations, as Go reads them: RE2, whose time grows with the text and never beyond.

Whoever names a user must not be able to stop a pass, and whoever writes an expression must not either.
"""

from functools import lru_cache
from typing import Any

import re2

LONGEST_EXPRESSION = 1_000
"""In characters."""
LONGEST_TEXT = 256
"""A longer text matches nothing: no user and no group is called so."""
_MOST_MEMORY = 1 << 20
"""Bytes that a compiled expression may take; what it costs to match a text is bounded by them too."""


class ExpressionError(ValueError):
    """An expression that can't be read. ``str()`` says why."""


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
    options.log_errors = False  # the expression is somebody's text
    options.max_mem = _MOST_MEMORY
    try:
        return re2.compile(_bytes(expression), options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        raise ExpressionError(said.decode(errors="replace") if isinstance(said, bytes) else str(said)) from None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
