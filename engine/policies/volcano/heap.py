"""Implements the heap in which Volcano keeps queues, jobs, and victims: Go's container/heap.

The order of items may change while they are in the heap, and the heap is not sorted anew. Which item comes next then
depends on the positions of all items, so the heap has to behave exactly as Go's does.

Source: Volcano's pkg/scheduler/util, priority_queue.go, and Go's container/heap.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class Heap(Generic[Thing]):
    """A heap in which ``before`` returns, at the time of the call, whether one item comes before another."""

    def __init__(self, before: Callable[[Thing, Thing], bool], things: Iterable[Thing] = ()) -> None:
        self._before = before
        self._things: list[Thing] = []
        for thing in things:
            self.push(thing)

    def __bool__(self) -> bool:
        return bool(self._things)

    def push(self, thing: Thing) -> None:
        """Add an item to the heap."""
        self._things.append(thing)
        place = len(self._things) - 1
        while place and self._first(place, parent := (place - 1) // 2):
            self._swap(place, parent)
            place = parent

    def pop(self) -> Thing:
        """Remove the first item and return it."""
        last = len(self._things) - 1
        self._swap(0, last)
        self._down(last)
        return self._things.pop()

    def drained(self) -> Iterator[Thing]:
        """Yield all items in order, and remove each from the heap."""
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
