"""JSON of objects that differ in a few texts: made once, and filled in for each object as it is sent."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

_BLANK = re.compile(rb"<(\w+)>")
_FACTOR, _MASK = 0x9E3779B97F4A7C15F39CC0605CEDC835, 2**128 - 1


class Form:
    """The JSON of an object with blanks in it, each written as ``<name>`` within its texts."""

    def __init__(self, obj: Mapping[str, Any]) -> None:
        self._text = _BLANK.sub(rb"%(\1)b", msgspec.json.encode(obj).replace(b"%", b"%%"))

    def filled(self, blanks: Mapping[bytes, bytes]) -> bytes:
        """Return the JSON with a text in each blank; texts that no blank asks for are ignored."""
        return self._text % blanks


def scattered(number: int, seed: int) -> str:
    """Return 32 hexadecimal digits that look drawn by chance, the same ones for the same number and seed."""
    return f"{(number + 1 + (seed << 40)) * _FACTOR & _MASK:032x}"


def uid(digits: str) -> str:
    """Return 32 hexadecimal digits as uids are written."""
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
