"""The nodes for the members of a gang, the least first, looked at only as far as needed."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.policies.fence.groups.units import Cost, Unit, cost_of


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


class NodeOrder:
    """The nodes for one member by lower bounds of their costs.

    As members are placed, costs rise, but for the nodes on which something changes.
    """

    def __init__(self, first: Sequence[tuple[Cost, int]], changed: Mapping[int, Cost | None]) -> None:
        """Begin with bounds. ``first``: sorted, each with the index of the node. ``changed``: those that hold instead.

        None: no victims are found there.
        """
        self._first, self._changed = first, dict(changed)

    def after(self, touched: Iterable[int]) -> "NodeOrder":
        """Return the order once something has changed on some nodes."""
        return NodeOrder(self._first, {**self._changed, **nothing_known(touched)})

    def walk(self, look: Callable[[int], Option | None]) -> Iterator[Option]:
        """Yield the options, the least first. ``look``: returns the option of a node, None if there is none."""
        exact: dict[int, Option] = {}
        waiting = [(cost, place) for place, cost in self._changed.items() if cost is not None]
        heapq.heapify(waiting)
        rest = (each for each in self._first if each[1] not in self._changed)
        following = next(rest, None)
        while waiting or following is not None:
            if following is None or (waiting and waiting[0] <= following):
                _, place = heapq.heappop(waiting)
            else:
                (_, place), following = following, next(rest, None)
            if place in exact:
                yield exact[place]
                continue
            option = look(place)
            self._changed[place] = None if option is None else option.cost
            if option is not None:
                exact[place] = option
                heapq.heappush(waiting, (option.cost, place))


def nothing_known(places: Iterable[int]) -> dict[int, Cost | None]:
    """Return the least bounds there are, for some nodes."""
    return {place: cost_of((), place) for place in places}
