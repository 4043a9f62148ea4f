"""Many things of which a few are other ones: what two moments of a pass share is kept once."""

from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Name = TypeVar("Name")
Thing = TypeVar("Thing")


def amended(base: MutableMapping[Name, Thing], other: Mapping[Name, Thing]) -> ChainMap[Name, Thing]:
    """``base`` with other things by some of its names; neither may change any more."""
    # one step from the first one, however often it is amended
    before, first = base.maps if isinstance(base, ChainMap) else ({}, base)
    return ChainMap({**before, **other}, first)


class Amended(Sequence[Thing]):
    """``base`` with other things in some places; neither may change any more."""

    def __init__(self, base: Sequence[Thing], other: Mapping[int, Thing]) -> None:
        self._base: Sequence[Thing] = base
        self._other = dict(other)
        if isinstance(base, Amended):  # one step from the first one, however often it is amended
            self._base, self._other = base._base, {**base._other, **other}  # noqa: SLF001

    @overload
    def __getitem__(self, place: int) -> Thing: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Thing]: ...
    def __getitem__(self, place: int | slice) -> Thing | Sequence[Thing]:
        if isinstance(place, slice):
            rows, things = range(*place.indices(len(self))), self._base[place]
            if self._other.keys().isdisjoint(rows):
                return tuple(things)
            return tuple([self._other.get(row, thing) for row, thing in zip(rows, things, strict=True)])
        found = self._other.get(place if place >= 0 else place + len(self))
        return self._base[place] if found is None else found

    def __len__(self) -> int:
        return len(self._base)

    def __iter__(self) -> Iterator[Thing]:
        things = list(self._base)
        for place, thing in self._other.items():
            things[place] = thing
        return iter(things)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


class Picked(Sequence[Thing]):
    """The things of ``base`` in some places, in their order: looked up when they are asked for, as few are."""

    def __init__(self, base: Sequence[Thing], places: NDArray[np.intp]) -> None:
        self._base, self._places = base, places

    @overload
    def __getitem__(self, place: int) -> Thing: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Thing]: ...
    def __getitem__(self, place: int | slice) -> Thing | Sequence[Thing]:
        if isinstance(place, slice):
            return Picked(self._base, self._places[place])
        return self._base[int(self._places[place])]

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Thing]:
        return map(self._base.__getitem__, self._places.tolist())
