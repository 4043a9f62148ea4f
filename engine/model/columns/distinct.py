"""Groups of equal items, so that a question is answered once per group instead of once per item."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.model.columns.pod_table import GroupCodes

Flags = NDArray[np.bool_]
Numbers = NDArray[Any]
Rows = NDArray[np.intp]


class ItemGroups:
    """Groups of items with the same key: the group number of each row, and one representative item of each group."""

    def __init__(self, things: Sequence[Any], key: Callable[[Any], Hashable]) -> None:
        coded = GroupCodes.anew(things, key)
        self.of: Rows = coded.of
        self.each: list[Any] = coded.each

    @classmethod
    def picked(cls, things: Sequence[Any], coded: GroupCodes, places: Rows) -> "ItemGroups":
        """Return the groups of ``things``, whose codes are those of ``coded`` at ``places``.

        Groups are numbered by first occurrence.
        """
        codes = coded.of[places]
        firsts = np.full(len(coded.each), -1, np.intp)
        firsts[codes[::-1]] = np.arange(len(codes))[::-1]  # on duplicates the last assignment wins: the first row
        there = np.flatnonzero(firsts >= 0)
        there = there[np.argsort(firsts[there])]
        number = np.zeros(len(coded.each), np.intp)
        number[there] = np.arange(len(there))
        made = cls.__new__(cls)
        made.of, made.each = number[codes], [things[row] for row in firsts[there].tolist()]
        return made

    @classmethod
    def joined(cls, things: Sequence[Any], *kinds: "ItemGroups") -> "ItemGroups":
        """Return groups of the items that are equal in all of these groupings."""
        number = np.zeros(len(things), np.int64)
        for one in kinds:
            number = number * len(one.each) + one.of
        _, firsts, of = np.unique(number, return_index=True, return_inverse=True)
        made = cls.__new__(cls)
        made.of, made.each = of.astype(np.intp), [things[row] for row in firsts.tolist()]
        return made

    def flags(self, meets: Callable[[Any], bool]) -> Flags:
        """Return, by row, whether the row's group satisfies a predicate, which is called once per group."""
        return np.fromiter(map(meets, self.each), np.bool_, len(self.each))[self.of]

    def numbers(self, of: Callable[[Any], int]) -> Numbers:
        """Return, by row, a number of the row's group; the function is called once per group."""
        return np.fromiter(map(of, self.each), np.int64, len(self.each))[self.of]
