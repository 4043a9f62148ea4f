"""Reads the JSON of rows that are read by the thousand."""

import json
from typing import Any

import msgspec


class QuickDecoder(json.JSONDecoder):
    """A decoder for JSONField: of a large draft, half of the time of reading its rows is the standard library's."""

    def __init__(self) -> None:
        """Makes none of what the standard library's would read by."""

    def decode(self, s: str, *_more: Any) -> Any:
        """Raises msgspec.DecodeError, a ValueError."""
        return msgspec.json.decode(s)
