"""Labels and annotations as people type them: ``key: value``, one a line.

A value stands as it is; one that would not survive that (blanks at its ends, line breaks, a quote in front) is written
in double quotes, as JSON has it.
"""

from collections.abc import Mapping

import msgspec

from engine.formats.undecodable import UNDECODABLE
from engine.model.notes import gettext_noop


class PairsError(ValueError):
    """A line that can't be read. ``message`` % ``params`` says it."""

    def __init__(self, message: str, **params: str) -> None:
        super().__init__(message % params)
        self.message = message
        self.params = params


def write_pairs(pairs: Mapping[str, str]) -> str:
    """One line each, by key. ``read_pairs`` reads it back."""
    return "\n".join(f"{key}: {_written(value)}".rstrip() for key, value in sorted(pairs.items()))


def read_pairs(text: str) -> dict[str, str]:
    """Key -> value; blank lines are passed over. Raises PairsError."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not key:
            raise PairsError(gettext_noop("Line %(line)s is not of the form key: value."), line=str(number))
        if key in found:
            raise PairsError(gettext_noop("Line %(line)s: %(key)s is there twice."), line=str(number), key=key)
        found[key] = _read(value, number)
    return found


def _written(value: str) -> str:
    plain = value == value.strip() and not value.startswith('"') and "\n" not in value and "\r" not in value
    return value if plain else msgspec.json.encode(value).decode()


def _read(text: str, number: int) -> str:
    if not text.startswith('"'):
        return text
    try:
        return msgspec.json.decode(text, type=str)
    except UNDECODABLE:
        message = gettext_noop("Line %(line)s: what begins with a double quote must end with one, as in JSON.")
        raise PairsError(message, line=str(number)) from None
