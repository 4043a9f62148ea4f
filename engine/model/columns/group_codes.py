"""Items grouped by a key, with group numbers that a later sequence of items continues."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.model.collections.arrays import array_of
from engine.model.collections.blocks import items_at

Key = Callable[[Any], Hashable]
"""A function by which items are grouped: items with the same key are in one group."""
Rows = NDArray[np.intp]

_SPARE = 1_000
"""How many groups without items may accumulate before a column is dropped."""


class GroupCodes(NamedTuple):
    """Items grouped by key: the group number of each item, the number of each key, and one item of each group.

    A key keeps its number while items come and go, so some groups may be empty. The item that is kept of each group
    keeps the object alive whose ``id`` is its key.
    """

    of: Rows
    numbers: dict[Hashable, int]
    each: list[Any]
    times: Rows
    """Group -> how many items it has."""
    nested: dict[Key, "GroupCodes"]
    """The groups themselves grouped by other keys, as far as that was asked for."""

    @classmethod
    def anew(cls, items: Sequence[Any], key: Key) -> "GroupCodes":
        """Return the items grouped by a key, with groups numbered by first occurrence."""
        numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
        of = array_of(map(numbers.__getitem__, map(key, items)), np.intp, len(items))
        firsts = np.flatnonzero(np.diff(np.maximum.accumulate(of), prepend=-1))
        return cls(of, dict(numbers), items_at(items, firsts), np.bincount(of, minlength=len(numbers)), {})

    def grouped(self, key: Key) -> "GroupCodes":
        """Return these groups grouped by a key that is equal for all items of a group: ``of`` is by group then.

        The result continues that of the groups which these were derived from.
        """
        found = self.nested.get(key)
        if found is None:
            found = GroupCodes.anew(self.each, key)
        elif len(found.of) < len(self.each):
            known, codes = found.with_keys(self.each[len(found.of) :], key)
            found = known.moved(np.concatenate([found.of, codes]), gone=codes[:0], came=codes)
        self.nested[key] = found
        return found

    def with_keys(self, items: Sequence[Any], key: Key) -> tuple["GroupCodes", Rows]:
        """Return these groups and those of further items, and the group numbers of these items.

        New groups are numbered after all existing ones; the items are not counted in them yet.
        """
        keys = [key(item) for item in items]
        numbers, each, times, nested = self.numbers, self.each, self.times, self.nested
        new = {one: item for one, item in zip(keys, items, strict=True) if one not in numbers}
        if new:
            start = len(each)
            numbers = numbers | {one: start + place for place, one in enumerate(new)}
            each = [*each, *new.values()]
            times = np.concatenate([times, np.zeros(len(new), np.intp)])
            nested = {**nested}  # others may derive other groups from these
        codes = array_of(map(numbers.__getitem__, keys), np.intp, len(keys))
        return GroupCodes(self.of, numbers, each, times, nested), codes

    def moved(self, of: Rows, *, gone: Rows, came: Rows) -> "GroupCodes":
        """Return these groups with other items. ``gone``, ``came``: the groups of those that went and that came."""
        many = len(self.each)
        times = self.times + np.bincount(came, minlength=many) - np.bincount(gone, minlength=many)
        return self._replace(of=of, times=times)

    @property
    def there(self) -> list[Any]:
        """Return one item of each group that is not empty."""
        return [self.each[number] for number in np.flatnonzero(self.times).tolist()]

    @property
    def worn(self) -> bool:
        """Return whether most groups are empty."""
        return len(self.each) > _SPARE and len(self.each) > 2 * int(np.count_nonzero(self.times)) + _SPARE
