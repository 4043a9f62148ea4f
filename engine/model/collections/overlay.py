"""Sequences in which a few items are replaced, so that successive states of a pass share all unchanged items."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, TypeVar, overload

Thing = TypeVar("Thing")


class _Log(Generic[Thing]):
    """The replaced items of ``base`` by index, each valid from some length of the log on.

    Successive states share one log, so none of them copies what earlier states hold. Only one state can continue from
    its end.
    """

    def __init__(self, base: Sequence[Thing], other: Mapping[int, Thing]) -> None:
        self.base = base
        self.other = {place: (0, thing) for place, thing in other.items()}
        self._end = {0}

    def goes_on(self, length: int, other: Mapping[int, Thing]) -> bool:
        """Append replacements after some length of the log.

        Return False if the log already continues from there, or if an item would be replaced a second time.
        """
        try:
            self._end.remove(length)  # one atomic step, whichever threads compete
        except KeyError:
            return False
        if any(place in self.other for place in other):
            return False
        self.other.update({place: (length + 1, thing) for place, thing in other.items()})
        self._end.add(length + 1)
        return True

    def known(self, length: int) -> dict[int, Thing]:
        """Return the replaced items by index at some length of the log."""
        return {place: thing for place, (since, thing) in list(self.other.items()) if since <= length}


class PatchedSequence(Sequence[Thing]):
    """A view of ``base`` with some items replaced. Neither ``base`` nor the replacements may change afterwards."""

    def __init__(self, base: Sequence[Thing], other: Mapping[int, Thing]) -> None:
        self._log: _Log[Thing]
        self._log, self._length = base.more(other) if isinstance(base, PatchedSequence) else (_Log(base, other), 0)

    def more(self, other: Mapping[int, Thing]) -> tuple[_Log[Thing], int]:
        """Return a log that has these replacements as well, and its length then.

        It is the same log if no other state has continued from here yet.
        """
        log, length = self._log, self._length
        if log.goes_on(length, other):
            return log, length + 1
        return _Log(log.base, {**log.known(length), **other}), 0

    @overload
    def __getitem__(self, place: int) -> Thing: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Thing]: ...
    def __getitem__(self, place: int | slice) -> Thing | Sequence[Thing]:
        if isinstance(place, slice):
            return self._stretch(place)
        found = self._log.other.get(place if place >= 0 else place + len(self))
        return self._log.base[place] if found is None or found[0] > self._length else found[1]

    def _stretch(self, places: slice) -> tuple[Thing, ...]:
        things, other = list(self._log.base[places]), self._log.other
        for at, row in enumerate(range(*places.indices(len(self)))):
            if row in other and other[row][0] <= self._length:
                things[at] = other[row][1]
        return tuple(things)

    def __len__(self) -> int:
        return len(self._log.base)

    def __iter__(self) -> Iterator[Thing]:
        things = list(self._log.base)
        for place, thing in self._log.known(self._length).items():
            things[place] = thing
        return iter(things)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))
