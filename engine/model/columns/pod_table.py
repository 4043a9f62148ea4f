"""All pods of a snapshot, sorted by namespace and name, with columns that are updated for the next snapshot."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.model.columns.pod_fields import Key, Number

if TYPE_CHECKING:
    from engine.model.objects.kubernetes import Pod

Numbers = NDArray[Any]
"""64-bit integers, or Python integers where sums might not fit into 64 bits."""
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

    @classmethod
    def anew(cls, pods: Sequence["Pod"], key: Key) -> "GroupCodes":
        """Return the pods grouped by a key, with groups numbered by first occurrence."""
        numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
        of = np.fromiter(map(numbers.__getitem__, map(key, pods)), np.intp, len(pods))
        firsts = np.flatnonzero(np.diff(np.maximum.accumulate(of), prepend=-1))
        return cls(of, dict(numbers), [pods[place] for place in firsts.tolist()])

    def more(self, pods: Sequence["Pod"], key: Key) -> "GroupCodes":
        """Return the group numbers of further pods; new groups are numbered after all existing ones.

        This object itself is not changed.
        """
        keys = [key(pod) for pod in pods]
        numbers, each = self.numbers, self.each
        new = {one: pod for one, pod in zip(keys, pods, strict=True) if one not in numbers}
        if new:
            start = len(each)
            numbers = numbers | {one: start + place for place, one in enumerate(new)}
            each = [*each, *new.values()]
        return GroupCodes(np.fromiter(map(numbers.__getitem__, keys), np.intp, len(keys)), numbers, each)

    @property
    def there(self) -> list["Pod"]:
        """Return one item of each group that is not empty."""
        times = np.bincount(self.of, minlength=len(self.each))
        return [self.each[number] for number in np.flatnonzero(times).tolist()]

    @property
    def worn(self) -> bool:
        """Return whether most groups are empty."""
        return len(self.each) > _SPARE and len(self.each) > 2 * len(self.there) + _SPARE


class SequenceMerge:
    """A merge that removes items from a sequence and inserts others, and keeps the order of the remaining items."""

    def __init__(self, many: int, gone: Rows, at: Rows) -> None:
        """Prepare the merge of a sequence of ``many`` items.

        ``gone``: the indexes to remove. ``at``: the indexes before which new items are inserted, in ascending order.
        """
        take = np.insert(np.arange(many), at, many + np.arange(len(at)))
        stays = np.ones(many + len(at), np.bool_)
        stays[gone] = False
        self.take: Rows = take[stays[take]]
        """New index -> old index; inserted items are numbered after all old ones."""
        self.came: Rows = np.flatnonzero(self.take >= many)
        """The new indexes of the inserted items."""
        self.now: Rows = np.full(many + len(at), -1, np.intp)
        """Old index -> new index, -1 for removed items."""
        self.now[self.take] = np.arange(len(self.take))

    def merged(self, column: Numbers, coming: Numbers) -> Numbers:
        """Return a column after the merge; ``coming`` has the values of the inserted items."""
        both: Numbers = np.concatenate([column, coming])
        return both[self.take]

    def things(self, before: Sequence[Any], coming: Sequence[Any]) -> tuple[Any, ...]:
        """Return a sequence after the merge.

        It is copied in contiguous slices, as most items stay side by side.
        """
        both = [*before, *coming]
        starts = np.flatnonzero(np.diff(self.take, prepend=-2) != 1)
        lengths = np.diff(starts, append=len(self.take)).tolist()
        found: list[Any] = []
        for first, length in zip(self.take[starts].tolist(), lengths, strict=True):
            found += both[first : first + length]
        return tuple(found)


class Importance(NamedTuple):
    """The order of the bound pods by importance at one moment."""

    place: Mapping[str, int]
    """Node name -> node index."""
    now_ms: int
    node: Rows
    """Roster index -> node index, -1 if the pod is on none of these nodes; empty until it is computed."""
    rows: Rows
    """Row -> roster index: sorted by node, then higher priority, then earlier start, then name."""
    fresh: Rows
    """Roster indexes of pods that were added since and are not in ``rows`` yet."""

    def merged(self, merging: SequenceMerge) -> "Importance":
        """Return the order after pods were added and removed; added pods are ``fresh``, not sorted yet."""
        rows, fresh = merging.now[self.rows], merging.now[self.fresh]
        fresh = np.concatenate([fresh[fresh >= 0], merging.came])
        return self._replace(node=self.node[:0], rows=rows[rows >= 0], fresh=fresh)


class _Asked(NamedTuple):
    """The columns that were requested of a roster and of those derived from it; the next roster builds them too."""

    numbers: set[tuple[Number, type]]
    kinds: set[Key]


class Roster:
    """An immutable, sorted sequence of pods, with columns that are built on first use.

    A column is identified by its function, one of ``pod_fields``. Do not pass functions that are created for each call:
    the columns that are kept for them would accumulate.
    """

    def __init__(self, pods: tuple["Pod", ...]) -> None:
        self.pods = pods
        self._base: tuple[Roster, Rows] | None = None
        self._asked = _Asked(set(), set())
        self._numbers: dict[tuple[Number, type], Numbers] = {}
        self._coded: dict[Key, GroupCodes] = {}
        self.importance: Importance | None = None
        """The bound pods in their order by importance, as last computed."""

    @property
    def plain(self) -> "Roster":
        """Return the roster from which this roster was derived by replacing pods, or this roster itself."""
        return self if self._base is None else self._base[0].plain

    def at(self, places: Rows) -> list["Pod"]:
        """Return the pods at some indexes."""
        return [self.pods[place] for place in places.tolist()]

    def numbers(self, of: Number, dtype: type = np.int64) -> Numbers:
        """Return a number or a flag of each pod, by roster index."""
        made = self._numbers.get((of, dtype))
        if made is None:
            if self._base is None:
                made = np.fromiter(map(of, self.pods), dtype, len(self.pods))
            else:
                base, places = self._base
                made = _set(base.numbers(of, dtype), places, self.at(places), of)
            self._numbers[of, dtype] = made
            self._asked.numbers.add((of, dtype))
        return made

    def coded(self, key: Key) -> GroupCodes:
        """Return the pods grouped by a key."""
        made = self._coded.get(key)
        if made is None:
            if self._base is None:
                made = GroupCodes.anew(self.pods, key)
            else:
                base, places = self._base
                made = _recoded(base.coded(key), places, self.at(places), key)
            self._coded[key] = made
            self._asked.kinds.add(key)
        return made

    def merged(self, gone: Rows, at: Rows, coming: Sequence["Pod"]) -> "Roster":
        """Return a roster without the pods at ``gone``, and with ``coming`` inserted before the indexes ``at``."""
        merging = SequenceMerge(len(self.pods), gone, at)
        later = Roster(merging.things(self.pods, coming))
        for of, dtype in list(self._asked.numbers):
            column = self.numbers(of, dtype)
            new: Numbers = np.fromiter(map(of, coming), dtype, len(coming))
            later._numbers[of, dtype] = merging.merged(column, new)
        for key in list(self._asked.kinds):
            coded = self.coded(key)
            more = coded.more(coming, key)
            one = GroupCodes(merging.merged(coded.of, more.of), more.numbers, more.each)
            if not one.worn:
                later._coded[key] = one
        later._asked.numbers.update(later._numbers)
        later._asked.kinds.update(later._coded)
        if (before := self.plain.importance) is not None:
            later.importance = before.merged(merging)
        return later

    def swapped(self, places: Rows, pods: Sequence["Pod"]) -> "Roster":
        """Return a roster in which the pods at some indexes are replaced by pods of the same names."""
        if not len(places):
            return self
        every = list(self.pods)
        for place, pod in zip(places.tolist(), pods, strict=True):
            every[place] = pod
        later = Roster(tuple(every))
        later._base, later._asked = (self, places), self._asked
        return later


def _set(column: Numbers, places: Rows, pods: Sequence["Pod"], of: Number) -> Numbers:
    column = column.copy()
    column[places] = np.fromiter(map(of, pods), column.dtype, len(pods))
    return column


def _recoded(coded: GroupCodes, places: Rows, pods: Sequence["Pod"], key: Key) -> GroupCodes:
    more, of = coded.more(pods, key), coded.of.copy()
    of[places] = more.of
    return GroupCodes(of, more.numbers, more.each)
