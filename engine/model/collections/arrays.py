"""Arrays of what is said of each of many objects."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_AT_ONCE = 4_096
"""How many values are read in one call: about a millisecond."""


def array_of(values: Iterable[Any], dtype: DTypeLike, many: int) -> NDArray[Any]:
    """Return ``many`` values as an array.

    np.fromiter does not let other threads use the interpreter while it reads from an iterator that is written in C, as
    ``map`` of an attrgetter is. For millions of objects that takes seconds, in which a watcher could not read what its
    cluster sends. So the values are read in parts.

    Raises ValueError if there are fewer values.
    """
    array, left = np.empty(many, dtype), iter(values)
    for start in range(0, many, _AT_ONCE):
        size = min(_AT_ONCE, many - start)
        array[start : start + size] = np.fromiter(islice(left, size), dtype, size)
    return array
