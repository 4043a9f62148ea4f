"""The heap that Volcano keeps its queues, jobs and victims in: Go's container/heap.

What comes first may change while things wait in it, and it is not sorted anew: who is next then depends on where each
of them stands, so that it has to be the very same heap.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class Heap(Generic[Thing]):
    """``before`` says of two whether the first one goes before the other, at the time it is asked."""

    def __init__(self, before: Callable[[Thing, Thing], bool], things: Iterable[Thing] = ()) -> None:
        self._before = before
        self._things: list[Thing] = []
        for thing in things:
            self.push(thing)

    def __bool__(self) -> bool:
        return bool(self._things)

    def push(self, thing: Thing) -> None:
        """Put one in."""
        self._things.append(thing)
        place = len(self._things) - 1
        while place and self._first(place, parent := (place - 1) // 2):
            self._swap(place, parent)
            place = parent

    def pop(self) -> Thing:
        """Take the first one out."""
        last = len(self._things) - 1
        self._swap(0, last)
        self._down(last)
        return self._things.pop()

    def drained(self) -> Iterator[Thing]:
        """All of them, one by one."""
        while self:
            yield self.pop()

    def _down(self, size: int) -> None:
        place = 0
        while (child := 2 * place + 1) < size:
            if child + 1 < size and self._first(child + 1, child):
                child += 1
            if not self._first(child, place):
                return
            self._swap(place, child)
            place = child

    def _first(self, one: int, other: int) -> bool:
        return self._before(self._things[one], self._things[other])

    def _swap(self, one: int, other: int) -> None:
        self._things[one], self._things[other] = self._things[other], self._things[one]
