"""Parsing and formatting of durations as Go writes them: ``30s``, ``1m30s``, ``500ms``."""

import re
from fractions import Fraction
from functools import lru_cache

_UNITS_MS = {
    "ns": Fraction(1, 10**6),
    "us": Fraction(1, 10**3),
    "µs": Fraction(1, 10**3),
    "μs": Fraction(1, 10**3),
    "ms": Fraction(1),
    "s": Fraction(10**3),
    "m": Fraction(60 * 10**3),
    "h": Fraction(3600 * 10**3),
}
_PART = re.compile(r"(\d{1,99}\.?\d{0,99}|\.\d{1,99})(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_WHOLE = re.compile(rf"([+-]?)((?:{_PART.pattern})+|0)", re.ASCII)


class DurationError(ValueError):
    """A text that is not a Go duration. Its ``str()`` is a sentence."""


@lru_cache(maxsize=1024)
def parse_duration(text: str) -> int:
    """Parse a duration into milliseconds, rounding fractions away from zero. Raise DurationError.

    Source: the grammar of Go's time.ParseDuration.
    """
    match = _WHOLE.fullmatch(text)
    if match is None:
        raise DurationError(f"{text} is not a duration")
    exact = sum((Fraction(number) * _UNITS_MS[unit] for number, unit in _PART.findall(match[2])), Fraction(0))
    milliseconds = -((-exact.numerator) // exact.denominator)
    return -milliseconds if match[1] == "-" else milliseconds


def format_duration(milliseconds: int) -> str:
    """Format a duration in the largest exact units: ``1m30s``, ``1500ms``. ``parse_duration`` reads it back."""
    if milliseconds % 1000:
        return f"{milliseconds}ms"
    seconds = milliseconds // 1000
    parts = ((seconds // 3600, "h"), (seconds // 60 % 60, "m"), (seconds % 60, "s"))
    return "".join(f"{count}{unit}" for count, unit in parts if count) or "0s"
