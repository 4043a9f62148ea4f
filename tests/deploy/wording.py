"""Constants of the code in the words of the documents: durations, sizes and counts.

Each function refuses a value that its unit can't express exactly, so that no document rounds a constant unnoticed.
"""

from datetime import timedelta

Duration = timedelta | float
"""A time span, or seconds."""

_UNITS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
_LONGER = {"year": 365 * 86_400, "week": 7 * 86_400, **_UNITS}
_PHRASES = {
    0.25: "a quarter of a second",
    30: "half a minute",
    60: "a minute",
    900: "a quarter of an hour",
    3_600: "an hour",
    86_400: "a day",
}
"""Seconds -> how prose names them."""
_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_ROUND = {30: "thirty", 50: "fifty", 100: "a hundred", 500: "five hundred", 1_000_000: "a million"}
_ORDINALS = {2: "second", 3: "third", 4: "fourth", 5: "fifth"}


def count(value: float) -> str:
    """Return a whole number in digits, with commas: "2,000"."""
    return f"{whole(value, 1):,}"


def word(value: float) -> str:
    """Return a whole number in words where the documents use words: "twenty"."""
    number = whole(value, 1)
    return _WORDS[number] if number < len(_WORDS) else _ROUND.get(number, f"{number:,}")


def ordinal(number: int) -> str:
    """Return the place in a row: "third"."""
    return _ORDINALS.get(number, f"{number}th")


def span(duration: Duration, unit: str) -> str:
    """Return a duration in digits and a unit: "2 days". A year has 365 days; 366 count as one as well."""
    seconds = in_seconds(duration)
    if unit == "year":
        seconds -= seconds % _LONGER["year"] if seconds % _LONGER["year"] <= _UNITS["day"] else 0
    number = whole(seconds, _LONGER[unit])
    return f"{number:,} {unit}{'s' * (number != 1)}"


def spelled(duration: Duration, unit: str = "") -> str:
    """Return a duration as prose has it: "half a minute", "five seconds"; without a unit in the largest that fits."""
    seconds = in_seconds(duration)
    if not unit and seconds in _PHRASES:
        return _PHRASES[seconds]
    chosen = unit or next((name for name, size in _UNITS.items() if seconds % size == 0), "second")
    number, _, name = span(seconds, chosen).partition(" ")
    return f"{word(int(number.replace(',', '')))} {name}"


def every(duration: Duration) -> str:
    """Return how often something happens: "every minute", "every ten seconds"."""
    name = next((name for name, size in _UNITS.items() if in_seconds(duration) == size), "")
    return f"every {name or spelled(duration)}"


def seconds(duration: Duration) -> str:
    """Return a duration in seconds, as tables have it: "30 s"."""
    return f"{in_seconds(duration):g} s"


def kib(size: float) -> str:
    """Return bytes as "512 KiB"."""
    return f"{whole(size, 2**10):,} KiB"


def mib(size: float) -> str:
    """Return bytes as "32 MiB"."""
    return f"{whole(size, 2**20):,} MiB"


def mb(size: float) -> str:
    """Return bytes as "32 MB"."""
    return f"{whole(size, 10**6):,} MB"


def in_seconds(duration: Duration) -> float:
    """Return a duration as seconds."""
    return duration.total_seconds() if isinstance(duration, timedelta) else duration


def whole(value: float, unit: float) -> int:
    """Return how many units a value has. Raises ValueError where that is no whole number."""
    number, rest = divmod(value, unit)
    if rest:
        raise ValueError(f"{value} is no multiple of {unit}")
    return int(number)
