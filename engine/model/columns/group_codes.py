"""Items grouped by a key, with group numbers that a later sequence of items continues."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.model.collections.blocks import items_at
from engine.model.columns.pod_fields import Key

if TYPE_CHECKING:
    from engine.model.objects.kubernetes import Pod

Rows = NDArray[np.intp]

_SPARE = 1_000
"""How many groups without pods may accumulate before a column is dropped."""


class GroupCodes(NamedTuple):
    """Items grouped by key: the group number of each item, the number of each key, and one item of each group.

    A key keeps its number while pods come and go, so some groups may be empty. The item that is kept of each group
    keeps the object alive whose ``id`` is its key.
    """

    of: Rows
    numbers: dict[Hashable, int]
    each: list["Pod"]
    times: Rows
    """Group -> how many items it has."""

    @classmethod
    def anew(cls, pods: Sequence["Pod"], key: Key) -> "GroupCodes":
        """Return the pods grouped by a key, with groups numbered by first occurrence."""
        numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
        of = np.fromiter(map(numbers.__getitem__, map(key, pods)), np.intp, len(pods))
        firsts = np.flatnonzero(np.diff(np.maximum.accumulate(of), prepend=-1))
        return cls(of, dict(numbers), items_at(pods, firsts), np.bincount(of, minlength=len(numbers)))

    def with_keys(self, pods: Sequence["Pod"], key: Key) -> tuple["GroupCodes", Rows]:
        """Return these groups and those of further pods, and the group numbers of these pods.

        New groups are numbered after all existing ones; the pods are not counted in them yet.
        """
        keys = [key(pod) for pod in pods]
        numbers, each, times = self.numbers, self.each, self.times
        new = {one: pod for one, pod in zip(keys, pods, strict=True) if one not in numbers}
        if new:
            start = len(each)
            numbers = numbers | {one: start + place for place, one in enumerate(new)}
            each = [*each, *new.values()]
            times = np.concatenate([times, np.zeros(len(new), np.intp)])
        codes = np.fromiter(map(numbers.__getitem__, keys), np.intp, len(keys))
        return GroupCodes(self.of, numbers, each, times), codes

    def moved(self, of: Rows, *, gone: Rows, came: Rows) -> "GroupCodes":
        """Return these groups with other items. ``gone``, ``came``: the groups of those that went and that came."""
        many = len(self.each)
        times = self.times + np.bincount(came, minlength=many) - np.bincount(gone, minlength=many)
        return self._replace(of=of, times=times)

    @property
    def there(self) -> list["Pod"]:
        """Return one item of each group that is not empty."""
        return [self.each[number] for number in np.flatnonzero(self.times).tolist()]

    @property
    def worn(self) -> bool:
        """Return whether most groups are empty."""
        return len(self.each) > _SPARE and len(self.each) > 2 * int(np.count_nonzero(self.times)) + _SPARE
