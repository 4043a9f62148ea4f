"""A sequence in blocks, so that successive states share the blocks in which nothing changed."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from engine.model.collections.offsets import running_sums

Thing = TypeVar("Thing")


class BlockSequence(Sequence[Thing]):
    """An immutable sequence whose items are kept in blocks. Replacing items costs as much as their blocks."""

    def __init__(self, blocks: "list[tuple[Thing, ...]]", first: NDArray[np.intp] | None = None) -> None:
        """Keep the blocks.

        ``first``: the index of the first item of each block, and the number of all items; None if not known yet.
        """
        self.blocks = blocks
        if first is None:
            first = running_sums(np.fromiter(map(len, blocks), np.intp, len(blocks)))
        self.first: NDArray[np.intp] = first
        """Block -> the index of its first item; the last entry is the number of items."""
        self._starts: list[int] = []

    def block_of(self, index: int) -> tuple[int, int]:
        """Return the block that has an item, and the index of its first item."""
        starts = self._starts = self._starts or self.first.tolist()
        block = bisect_right(starts, index) - 1
        return block, starts[block]

    def at(self, places: NDArray[np.intp]) -> list[Thing]:
        """Return the items at some indexes."""
        numbers = np.searchsorted(self.first, places, side="right") - 1
        within, blocks = places - self.first[numbers], self.blocks
        return [blocks[number][index] for number, index in zip(numbers.tolist(), within.tolist(), strict=True)]

    def replaced(self, things: Mapping[int, Thing]) -> "BlockSequence[Thing]":
        """Return the sequence with some items replaced. ``things``: index -> item."""
        changed: dict[int, list[Thing]] = {}
        for index, thing in things.items():
            block, start = self.block_of(index)
            if block not in changed:
                changed[block] = list(self.blocks[block])
            changed[block][index - start] = thing
        blocks = list(self.blocks)
        for block, items in changed.items():
            blocks[block] = tuple(items)
        return BlockSequence(blocks, self.first)

    def head(self, many: int) -> "BlockSequence[Thing]":
        """Return the first ``many`` blocks."""
        return BlockSequence(self.blocks[:many], self.first[: many + 1])

    @overload
    def __getitem__(self, place: int) -> Thing: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Thing]: ...
    def __getitem__(self, place: int | slice) -> Thing | Sequence[Thing]:
        if isinstance(place, slice):
            return self._stretch(place)
        index = place if place >= 0 else place + len(self)
        if not 0 <= index < len(self):
            raise IndexError(place)
        block, start = self.block_of(index)
        return self.blocks[block][index - start]

    def _stretch(self, places: slice) -> tuple[Thing, ...]:
        begin, end, step = places.indices(len(self))
        if step == 1 and begin < end:
            block, start = self.block_of(begin)
            if end <= self.first[block + 1]:  # as where the pods of a node are looked at
                return self.blocks[block][begin - start : end - start]
        return tuple([self[index] for index in range(begin, end, step)])

    def __len__(self) -> int:
        return int(self.first[-1])

    def __iter__(self) -> Iterator[Thing]:
        return chain.from_iterable(self.blocks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(_same, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))


def items_at(things: Sequence[Thing], places: NDArray[np.intp]) -> list[Thing]:
    """Return the items of a sequence at some indexes."""
    return things.at(places) if isinstance(things, BlockSequence) else [things[place] for place in places.tolist()]


def _same(one: object, other: object) -> bool:
    return one is other or one == other
