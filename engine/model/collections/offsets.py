"""Columns whose rows stand in stretches: where each begins, and sums up to there."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def starts(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """Row -> whether it has another number than the row before; the first one has."""
    flags = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=flags[1:])
    return flags


def running(numbers: NDArray[Any]) -> NDArray[Any]:
    """Before each row, and at the end, the sum of all rows before."""
    upto = np.zeros(len(numbers) + 1, np.int64 if numbers.dtype == np.bool_ else numbers.dtype)
    np.cumsum(numbers, out=upto[1:])
    return upto
