"""Find the cheapest of very many things that are compared by several costs, one after the other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
Rows = NDArray[np.intp]


def cheapest_first(costs: Numbers | Sequence[Numbers], count: int | None = None) -> Rows:
    """Return the indexes of things, the cheapest first.

    ``costs``: for each criterion, what every thing costs; the first criterion that differs decides. ``count``: how many
    things are wanted; None: all are.
    """
    among = np.arange(len(costs[0]))
    if count is not None and count < len(among):
        among = _least(costs, among, count)
    decisive = [part[among] for part in costs[::-1] if len(among) and part[among].min() != part[among].max()]
    return among[np.lexsort(decisive)][:count] if decisive else among[:count]


def _least(costs: Numbers | Sequence[Numbers], among: Rows, count: int) -> Rows:
    """Return the ``count`` least of some costs, and perhaps others that are equal to the last of them, in any order."""
    for number, part in enumerate(costs):
        of = part[among]
        last = np.partition(of, count - 1)[count - 1]
        if of.min() != of.max():
            surely, equal = among[of < last], among[of == last]
            if len(equal) > count - len(surely):
                equal = _least(costs[number + 1 :], equal, count - len(surely))
            return np.concatenate([surely, equal])
    return among
