"""The nodes for the members of a gang, the least first, looked at only as far as needed."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from engine.model.collections.cheapest import cheapest_first
from engine.model.columns.node_columns import Numbers
from engine.policies.fence.groups.units import Cost, Unit, cost_of

_AT_ONCE = 64
"""How many costs are read from the columns at once."""


@dataclass(frozen=True)
class Option:
    """A node (by index) for a member, and the units that go for it there."""

    place: int
    units: tuple[Unit, ...]
    cost: Cost

    @property
    def touched(self) -> set[int]:
        """Return the nodes on which something changes."""
        return {self.place, *(place for unit in self.units for place in unit.places)}


class RankedNodes(Sequence[Cost]):
    """The lower bounds of the costs on nodes, the least first; the last part of each is the index of the node."""

    def __init__(self, bounds: Numbers) -> None:
        """Sort the bounds. ``bounds``: a column for each."""
        self._bounds = bounds[:, cheapest_first(bounds)]
        self._costs: list[Cost] = []

    def __len__(self) -> int:
        return int(self._bounds.shape[1])

    @overload
    def __getitem__(self, number: int) -> Cost: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Cost]: ...
    def __getitem__(self, number: int | slice) -> Cost | Sequence[Cost]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        if not 0 <= number < len(self):
            raise IndexError(number)
        while len(self._costs) <= number:
            begin = len(self._costs)
            self._costs += map(tuple, self._bounds[:, begin : begin + _AT_ONCE].T.tolist())
        return self._costs[number]


class NodeOrder:
    """The nodes for one member by lower bounds of their costs.

    As members are placed, costs rise, but for the nodes on which something changes.
    """

    def __init__(self, first: Sequence[Cost], changed: Mapping[int, Cost | None]) -> None:
        """Begin with bounds. ``first``: sorted. ``changed``: the bounds of some nodes (by index) that hold instead.

        None: no victims are found there.
        """
        self._first, self._changed = first, dict(changed)
        self._passed = 0
        """How many of ``first`` were looked at, or have another bound."""
        self._waiting = [cost for cost in self._changed.values() if cost is not None]
        """A heap of bounds; that of a node counts only if it is its bound in ``_changed``."""
        heapq.heapify(self._waiting)
        self._used: list[Cost] = []
        """The costs of the nodes that were given out, which members after this one may get too."""

    def after(self, changed: Mapping[int, Cost | None]) -> "NodeOrder":
        """Return the order for a later member. ``changed``: the bounds of the nodes on which something has changed."""
        later = NodeOrder(self._first, {})
        later._changed = {**self._changed, **changed}
        later._passed, later._waiting = self._passed, self._waiting.copy()
        for cost in (*self._used, *changed.values()):
            if cost is not None:
                heapq.heappush(later._waiting, cost)
        return later

    def walk(self, look: Callable[[int], Option | None]) -> Iterator[Option]:
        """Yield the options, the least first. ``look``: returns the option of a node, None if there is none."""
        exact: dict[int, Option | None] = {}
        while (cost := self._next()) is not None:
            place = cost[-1]
            if place in exact:
                if (found := exact[place]) is not None:
                    self._used.append(cost)
                    exact[place] = None
                    yield found
                continue
            option = look(place)
            self._changed[place] = None if option is None else option.cost
            if option is not None:
                exact[place] = option
                heapq.heappush(self._waiting, option.cost)

    def _next(self) -> Cost | None:
        """Take the least bound of a node that is left, None if there is none."""
        first, changed, waiting = self._first, self._changed, self._waiting
        while self._passed < len(first) and first[self._passed][-1] in changed:
            self._passed += 1
        while waiting and changed[waiting[0][-1]] != waiting[0]:
            heapq.heappop(waiting)
        if self._passed < len(first) and (not waiting or first[self._passed] < waiting[0]):
            return first[self._passed]
        return heapq.heappop(waiting) if waiting else None


def nothing_known(places: Iterable[int]) -> dict[int, Cost | None]:
    """Return the least bounds there are, for some nodes."""
    return {place: cost_of((), place) for place in places}
