"""Columns of numbers as tallies store them: small where that is worth the time that reading takes."""

import zlib
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Numbers = NDArray[Any]
Stored = tuple[str, bool, bytes]
"""A column: of what numbers, whether they are compressed, and those."""
_WORTH = 0.7
"""What is hardly smaller compressed is stored as it is: it is read a hundred times as often as written."""


def column(values: Sequence[int]) -> Stored:
    """Numbers as they are stored."""
    stored = np.array(values, np.min_scalar_type(max(values, default=0)))
    plain = stored.tobytes()
    small = zlib.compress(plain, 1)
    worth = len(small) < _WORTH * len(plain)
    return stored.dtype.str, worth, small if worth else plain


def numbers(stored: Stored) -> Numbers:
    """Stored numbers."""
    dtype, small, held = stored
    return np.frombuffer(zlib.decompress(held) if small else held, dtype)


def packed(names: object) -> bytes:
    """What the numbers stand for, as it is stored."""
    return zlib.compress(msgspec.msgpack.encode(names), 1)


def names_of(stored: bytes, decoder: "msgspec.msgpack.Decoder[T]") -> T:
    """What ``packed`` was given."""
    return decoder.decode(zlib.decompress(stored))
