"""Parsing and formatting of labels and annotations as people type them: one ``key: value`` per line.

A value is written as it is. A value that would not survive that (blanks at its ends, line breaks, a leading quote) is
written as a JSON string in double quotes.
"""

from collections.abc import Mapping

import msgspec

from engine.formats.undecodable import UNDECODABLE
from engine.model.message import MessageError, gettext_noop


class PairsError(MessageError, ValueError):
    """A line that can't be parsed."""


def write_pairs(pairs: Mapping[str, str]) -> str:
    """Format pairs, one per line, ordered by key. ``read_pairs`` reads the text back."""
    return "\n".join(f"{key}: {_written(value)}".rstrip() for key, value in sorted(pairs.items()))


def read_pairs(text: str) -> dict[str, str]:
    """Parse a text of pairs into a mapping; blank lines are ignored. Raise PairsError."""
    pairs: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not key:
            raise PairsError(gettext_noop("Line %(line)s does not have the form key: value."), line=str(number))
        if key in pairs:
            raise PairsError(gettext_noop("Line %(line)s: %(key)s occurs twice."), line=str(number), key=key)
        pairs[key] = _read(value, number)
    return pairs


def _written(value: str) -> str:
    plain = value == value.strip() and not value.startswith('"') and "\n" not in value and "\r" not in value
    return value if plain else msgspec.json.encode(value).decode()


def _read(text: str, number: int) -> str:
    if not text.startswith('"'):
        return text
    try:
        return msgspec.json.decode(text, type=str)
    except UNDECODABLE:
        message = gettext_noop("Line %(line)s: a value that begins with a double quote must end with one, as in JSON.")
        raise PairsError(message, line=str(number)) from None
