"""Groups of equal items, so that a question is answered once per group instead of once per item."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.model.collections.blocks import items_at
from engine.model.columns.group_codes import GroupCodes

Flags = NDArray[np.bool_]
Numbers = NDArray[Any]
Rows = NDArray[np.intp]

_SPARSE = 16
"""Codes are sorted to be numbered if they are fewer than one in this many numbers; else a table of all is smaller."""


class ItemGroups:
    """Groups of items with the same key: the group number of each row, and one representative item of each group."""

    def __init__(self, things: Sequence[Any], key: Callable[[Any], Hashable]) -> None:
        coded = GroupCodes.anew(things, key)
        self.of: Rows = coded.of
        self.each: list[Any] = coded.each

    @classmethod
    def picked(cls, things: Sequence[Any], coded: GroupCodes) -> "ItemGroups":
        """Return the groups of ``things``, which are the first of the coded ones.

        Groups are numbered by first occurrence.
        """
        codes = coded.of[: len(things)]
        firsts = _first_rows(codes, len(coded.each))
        there = np.flatnonzero(firsts >= 0)
        there = there[np.argsort(firsts[there])]
        number = np.zeros(len(coded.each), np.intp)
        number[there] = np.arange(len(there))
        made = cls.__new__(cls)
        made.of, made.each = number[codes], items_at(things, firsts[there])
        return made

    @classmethod
    def joined(cls, things: Sequence[Any], *kinds: "ItemGroups") -> "ItemGroups":
        """Return groups of the items that are equal in all of these groupings."""
        codes, many = np.zeros(len(things), np.intp), 1
        for one in kinds:
            codes, many = _without_gaps(codes * len(one.each) + one.of, many * len(one.each))
        made = cls.__new__(cls)
        made.of, made.each = codes, items_at(things, _first_rows(codes, many))
        return made

    def flags(self, meets: Callable[[Any], bool]) -> Flags:
        """Return, by row, whether the row's group satisfies a predicate, which is called once per group."""
        return np.fromiter(map(meets, self.each), np.bool_, len(self.each))[self.of]

    def numbers(self, of: Callable[[Any], int]) -> Numbers:
        """Return, by row, a number of the row's group; the function is called once per group."""
        return np.fromiter(map(of, self.each), np.int64, len(self.each))[self.of]


def _first_rows(codes: Rows, many: int) -> Rows:
    """Return for each code below ``many`` the first row that has it, -1 if none has."""
    firsts = np.full(many, -1, np.intp)
    firsts[codes[::-1]] = np.arange(len(codes))[::-1]  # on duplicates the last assignment wins: the first row
    return firsts


def _without_gaps(codes: Rows, many: int) -> tuple[Rows, int]:
    """Return codes below ``many``, numbered anew in the same order and without gaps, and their number."""
    if many > _SPARSE * (len(codes) + _SPARSE):
        found, dense = np.unique(codes, return_inverse=True)
        return dense.astype(np.intp, copy=False), len(found)
    there = np.zeros(many, np.bool_)
    there[codes] = True
    number = np.cumsum(there) - 1
    return number[codes], int(np.count_nonzero(there))
