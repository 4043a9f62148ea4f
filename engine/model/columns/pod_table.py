"""All pods of a snapshot, in the order of namespaces and names, and columns of them that the next one takes over."""

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
"""64-bit integers, or Python's own where sums of what is there might not fit into those."""
Rows = NDArray[np.intp]

_SPARE = 1_000
"""So many kinds that no pod is of any more are carried along."""


class Coded(NamedTuple):
    """Things of which many are alike, by number: place -> number, key -> number, and one thing of each number.

    A number stays that of its key while pods come and go, so some may be of no pod any more. What is kept of each keeps
    an object alive whose ``id`` is its key.
    """

    of: Rows
    numbers: dict[Hashable, int]
    each: list["Pod"]

    @classmethod
    def anew(cls, pods: Sequence["Pod"], key: Key) -> "Coded":
        """Numbered from the first pod on."""
        numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
        of = np.fromiter(map(numbers.__getitem__, map(key, pods)), np.intp, len(pods))
        firsts = np.flatnonzero(np.diff(np.maximum.accumulate(of), prepend=-1))
        return cls(of, dict(numbers), [pods[place] for place in firsts.tolist()])

    def more(self, pods: Sequence["Pod"], key: Key) -> "Coded":
        """The numbers of other pods, those of new kinds after all others. What this one holds stays as it is."""
        keys = [key(pod) for pod in pods]
        numbers, each = self.numbers, self.each
        new = {one: pod for one, pod in zip(keys, pods, strict=True) if one not in numbers}
        if new:
            start = len(each)
            numbers = numbers | {one: start + place for place, one in enumerate(new)}
            each = [*each, *new.values()]
        return Coded(np.fromiter(map(numbers.__getitem__, keys), np.intp, len(keys)), numbers, each)

    @property
    def there(self) -> list["Pod"]:
        """One thing of each number that things are of."""
        times = np.bincount(self.of, minlength=len(self.each))
        return [self.each[number] for number in np.flatnonzero(times).tolist()]

    @property
    def worn(self) -> bool:
        """Whether most kinds are of no pod any more."""
        return len(self.each) > _SPARE and len(self.each) > 2 * len(self.there) + _SPARE


class Merging:
    """Places that are given up, and things that come before others: what was in order then still is."""

    def __init__(self, many: int, gone: Rows, at: Rows) -> None:
        """``at``: before which of ``many`` places things come, in order."""
        take = np.insert(np.arange(many), at, many + np.arange(len(at)))
        stays = np.ones(many + len(at), np.bool_)
        stays[gone] = False
        self.take: Rows = take[stays[take]]
        """Place -> where the thing was, those that came after all others."""
        self.came: Rows = np.flatnonzero(self.take >= many)
        """The places of what came."""
        self.now: Rows = np.full(many + len(at), -1, np.intp)
        """Place before -> place now, -1 of what is gone."""
        self.now[self.take] = np.arange(len(self.take))

    def merged(self, column: Numbers, coming: Numbers) -> Numbers:
        """A column with what came."""
        both: Numbers = np.concatenate([column, coming])
        return both[self.take]

    def things(self, before: Sequence[Any], coming: Sequence[Any]) -> tuple[Any, ...]:
        """The same of things: stretch by stretch, as most stay side by side."""
        both = [*before, *coming]
        starts = np.flatnonzero(np.diff(self.take, prepend=-2) != 1)
        lengths = np.diff(starts, append=len(self.take)).tolist()
        found: list[Any] = []
        for first, length in zip(self.take[starts].tolist(), lengths, strict=True):
            found += both[first : first + length]
        return tuple(found)


class Importance(NamedTuple):
    """The order of bound pods by importance at one moment."""

    place: Mapping[str, int]
    """A node's name -> its place."""
    now_ms: int
    node: Rows
    """Place of a pod -> place of its node, -1 where it is on none of these; empty until it is known."""
    rows: Rows
    """Row -> place of the pod: by node, then higher priority, then the earlier start, then by name."""
    fresh: Rows
    """Places of pods that came since, and are not in ``rows`` yet."""

    def merged(self, merging: Merging) -> "Importance":
        """The same once pods have come and gone; of who came the order is not known yet."""
        rows, fresh = merging.now[self.rows], merging.now[self.fresh]
        fresh = np.concatenate([fresh[fresh >= 0], merging.came])
        return self._replace(node=self.node[:0], rows=rows[rows >= 0], fresh=fresh)


class _Asked(NamedTuple):
    """The columns of a roster and of those that are made of it: the next one has them too."""

    numbers: set[tuple[Number, type]]
    kinds: set[Key]


class Roster:
    """Pods in their order, never changed. A column is made when it is first asked for, by one of ``fields``.

    No function that is made each time may do in its place: what is carried on by it would add up.
    """

    def __init__(self, pods: tuple["Pod", ...]) -> None:
        self.pods = pods
        self._base: tuple[Roster, Rows] | None = None
        self._asked = _Asked(set(), set())
        self._numbers: dict[tuple[Number, type], Numbers] = {}
        self._coded: dict[Key, Coded] = {}
        self.importance: Importance | None = None
        """Those bound to nodes in the order in which they stand there, as it was known last."""

    @property
    def plain(self) -> "Roster":
        """The one that this one differs from in what pods are marked with alone."""
        return self if self._base is None else self._base[0].plain

    def at(self, places: Rows) -> list["Pod"]:
        """The pods in some places."""
        return [self.pods[place] for place in places.tolist()]

    def numbers(self, of: Number, dtype: type = np.int64) -> Numbers:
        """Place -> a number, or whether something holds."""
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

    def coded(self, key: Key) -> Coded:
        """Place -> number of the kind: pods with the same key are of one."""
        made = self._coded.get(key)
        if made is None:
            if self._base is None:
                made = Coded.anew(self.pods, key)
            else:
                base, places = self._base
                made = _recoded(base.coded(key), places, self.at(places), key)
            self._coded[key] = made
            self._asked.kinds.add(key)
        return made

    def merged(self, gone: Rows, at: Rows, coming: Sequence["Pod"]) -> "Roster":
        """The same with some places given up, and pods that come before some places, in order."""
        merging = Merging(len(self.pods), gone, at)
        later = Roster(merging.things(self.pods, coming))
        for of, dtype in list(self._asked.numbers):
            column = self.numbers(of, dtype)
            new: Numbers = np.fromiter(map(of, coming), dtype, len(coming))
            later._numbers[of, dtype] = merging.merged(column, new)
        for key in list(self._asked.kinds):
            coded = self.coded(key)
            more = coded.more(coming, key)
            one = Coded(merging.merged(coded.of, more.of), more.numbers, more.each)
            if not one.worn:
                later._coded[key] = one
        later._asked.numbers.update(later._numbers)
        later._asked.kinds.update(later._coded)
        if (before := self.plain.importance) is not None:
            later.importance = before.merged(merging)
        return later

    def swapped(self, places: Rows, pods: Sequence["Pod"]) -> "Roster":
        """The same with other pods of the same names in some places."""
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


def _recoded(coded: Coded, places: Rows, pods: Sequence["Pod"], key: Key) -> Coded:
    more, of = coded.more(pods, key), coded.of.copy()
    of[places] = more.of
    return Coded(of, more.numbers, more.each)
