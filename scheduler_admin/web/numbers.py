"""Numbers as addresses and forms say them."""

_DIGITS = 18
"""Any number of so many is a bigint."""


def read_number(text: str) -> int:
    """A number that somebody sent; what is none, or beyond all bounds, is 0, which nothing is counted by."""
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else 0
