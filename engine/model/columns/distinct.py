"""Things of which many are alike."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.model.columns.pod_table import Coded

Flags = NDArray[np.bool_]
Numbers = NDArray[Any]
Rows = NDArray[np.intp]


class Kinds:
    """Things of which many are alike: row -> kind, and one of each kind."""

    def __init__(self, things: Sequence[Any], key: Callable[[Any], Hashable]) -> None:
        coded = Coded.anew(things, key)
        self.of: Rows = coded.of
        self.each: list[Any] = coded.each

    @classmethod
    def picked(cls, things: Sequence[Any], coded: Coded, places: Rows) -> "Kinds":
        """Of the things in some places, in that order, numbered from the first one on."""
        codes = coded.of[places]
        firsts = np.full(len(coded.each), -1, np.intp)
        firsts[codes[::-1]] = np.arange(len(codes))[::-1]  # of many the last one stays: the first row
        there = np.flatnonzero(firsts >= 0)
        there = there[np.argsort(firsts[there])]
        number = np.zeros(len(coded.each), np.intp)
        number[there] = np.arange(len(there))
        made = cls.__new__(cls)
        made.of, made.each = number[codes], [things[row] for row in firsts[there].tolist()]
        return made

    @classmethod
    def joined(cls, things: Sequence[Any], *kinds: "Kinds") -> "Kinds":
        """Things that are alike in all of these ways."""
        number = np.zeros(len(things), np.int64)
        for one in kinds:
            number = number * len(one.each) + one.of
        _, firsts, of = np.unique(number, return_index=True, return_inverse=True)
        made = cls.__new__(cls)
        made.of, made.each = of.astype(np.intp), [things[row] for row in firsts.tolist()]
        return made

    def flags(self, meets: Callable[[Any], bool]) -> Flags:
        """Row -> whether its kind meets it; each kind is asked once."""
        return np.fromiter(map(meets, self.each), np.bool_, len(self.each))[self.of]

    def numbers(self, of: Callable[[Any], int]) -> Numbers:
        """Row -> a number that its kind has."""
        return np.fromiter(map(of, self.each), np.int64, len(self.each))[self.of]
