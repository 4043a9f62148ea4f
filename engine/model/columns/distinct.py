"""Groups of equal items, so that a question is answered once per group instead of once per item."""

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from engine.model.collections.blocks import items_at
from engine.model.columns.group_codes import GroupCodes
from engine.model.columns.pod_fields import Key

Flags = NDArray[np.bool_]
Numbers = NDArray[Any]
Rows = NDArray[np.intp]

_SPARSE = 16
"""Codes are sorted to be numbered if they are fewer than one in this many numbers; else a table of all is smaller."""


class ItemGroups:
    """Groups of items with the same key: the group number of each row, and one representative item of each group.

    Groups that are derived from those of an earlier snapshot may be empty, and their numbers are in no order.
    """

    def __init__(self, things: Sequence[Any], key: Callable[[Any], Hashable]) -> None:
        self._take(GroupCodes.anew(things, key), len(things))

    def _take(self, coded: GroupCodes, many: int) -> None:
        self._coded = coded
        self.of: Rows = coded.of[:many]
        self.each: list[Any] = coded.each

    @classmethod
    def picked(cls, many: int, coded: GroupCodes) -> Self:
        """Return the groups of the first ``many`` of the items that are coded."""
        made = cls.__new__(cls)
        made._take(coded, many)  # noqa: SLF001 - an instance of this class
        return made

    @classmethod
    def joined(cls, things: Sequence[Any], *kinds: "ItemGroups") -> Self:
        """Return groups of the items that are equal in all of these groupings. None of them is empty."""
        codes, many = np.zeros(len(things), np.intp), 1
        for one in kinds:
            codes, many = _without_gaps(codes * len(one.each) + one.of, many * len(one.each))
        each = items_at(things, _first_rows(codes, many))
        return cls.picked(len(things), GroupCodes(codes, {}, each, np.bincount(codes, minlength=many), {}))

    @cached_property
    def times(self) -> Rows:
        """Return the number of items of each group."""
        return self._coded.times - np.bincount(self._coded.of[len(self.of) :], minlength=len(self.each))

    @property
    def there(self) -> list[Any]:
        """Return one item of each group that is not empty."""
        return [self.each[number] for number in np.flatnonzero(self.times).tolist()]

    def grouped(self, key: Key) -> GroupCodes:
        """Return the groups grouped by a key that is equal for all items of a group."""
        return self._coded.grouped(key)

    def flags(self, meets: Callable[[Any], bool]) -> Flags:
        """Return, by row, whether the row's group satisfies a predicate, which is called once per group."""
        return np.fromiter(map(meets, self.each), np.bool_, len(self.each))[self.of]

    def numbers(self, of: Callable[[Any], int]) -> Numbers:
        """Return, by row, a number of the row's group; the function is called once per group."""
        return np.fromiter(map(of, self.each), np.int64, len(self.each))[self.of]

    def small_numbers(self, of: Callable[[Any], int]) -> Numbers:
        """Return the same in the smallest integers that hold the numbers and their negatives, for very many rows."""
        numbers = np.fromiter(map(of, self.each), np.int64, len(self.each))
        most = int(np.abs(numbers).max(initial=0))
        return numbers.astype(np.min_scalar_type(-most - 1))[self.of]


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
