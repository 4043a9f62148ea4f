"""Helpers for sorted columns: where runs of equal values begin, and running sums."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def run_starts(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a flag per row that is set where the number differs from the row before; the first row is always set."""
    flags = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=flags[1:])
    return flags


def runs_of_equals(*columns: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Return where runs of two or more rows start and end that are equal in all columns."""
    like_next = np.logical_and.reduce([np.diff(column) == 0 for column in columns])
    edges = np.diff(like_next.astype(np.int8), prepend=0, append=0)
    return zip(np.flatnonzero(edges == 1).tolist(), (np.flatnonzero(edges == -1) + 1).tolist(), strict=True)


def running_sums(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the running sums: before each row, and at the end, the sum of all rows before it."""
    upto = np.zeros(len(numbers) + 1, np.result_type(numbers, np.int64))
    np.cumsum(numbers, out=upto[1:])
    return upto


def ranges(starts: NDArray[np.intp], ends: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the numbers from each start up to its end, one range after the other."""
    sizes = ends - starts
    upto = np.cumsum(sizes)
    found: NDArray[np.intp] = np.arange(int(sizes.sum())) + np.repeat(starts - upto + sizes, sizes)
    return found
