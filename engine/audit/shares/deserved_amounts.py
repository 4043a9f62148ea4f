"""Calculate what every queue of a tree deserves, for the audit alone, by floating-point bisection.

The policy raises the level step by step with exact arithmetic, and then rounds to whole units. Both results therefore
agree to within a few units.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011; floors, caps and weights are as docs/policies/deserved.md
describes them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from engine.audit.shares.rising_level import RisingLevel
from engine.model.queue_tree import QueueTree

Matrix = npt.NDArray[np.float64]
"""One row per queue, one column per resource."""

_STEPS = 100
"""More steps than it takes to halve an interval until it is smaller than a double can represent."""
_EXACT = 1e-12
"""Fraction of a pool that sums may be off, as floating point is."""
_ROUNDS = 60
SETTLED = 1e-9
"""Fraction of the capacity; a smaller remainder is not distributed in another round."""


def shares(
    tree: QueueTree, requests: Mapping[str, Mapping[str, int]], capacity: Mapping[str, int], *, alone: bool
) -> dict[str, dict[str, float]]:
    """Return a map: path -> what the queue deserves of ``capacity``; ``alone``: divide each resource by itself."""
    amounts = DeservedAmounts(tree, requests, capacity, alone=alone)
    return {path: amounts.of(path) for path in tree.queues}


class DeservedAmounts:
    """What every queue deserves as requests change; recalculated only where a change can matter."""

    def __init__(
        self, tree: QueueTree, requests: Mapping[str, Mapping[str, int]], capacity: Mapping[str, int], *, alone: bool
    ) -> None:
        """Initialize the calculation for a tree; ``alone``: divide each resource by itself."""
        names = sorted(name for name, amount in capacity.items() if amount > 0)
        groups = [[name] for name in names] if alone else [names]
        self.divisions = [_Dividing(tree, requests, capacity, group) for group in groups if group]

    def of(self, path: str) -> dict[str, float]:
        """Return what a queue deserves, by resource."""
        return {name: amount for division in self.divisions for name, amount in division.of(path)}

    def change(self, leaf: str, requested: Mapping[str, int]) -> None:
        """Set what a leaf requests from now on."""
        for division in self.divisions:
            division.change(leaf, requested)


class _Dividing:
    """Divides resources among queues from the top down, and repeats that for what some queues could not use."""

    def __init__(
        self,
        tree: QueueTree,
        requests: Mapping[str, Mapping[str, int]],
        capacity: Mapping[str, int],
        names: Sequence[str],
    ) -> None:
        self.tree, self.paths, self.names = tree, tree.walk(), names
        self.requests = {leaf: [max(requests.get(leaf, {}).get(name, 0), 0) for name in names] for leaf in tree.leaves}
        self.capacity = np.array([capacity[name] for name in names], np.float64)
        self.below = {
            tree.turn[path]: np.array([tree.turn[child] for child in tree.children[path]])
            for path in self.paths
            if tree.children[path]
        }
        """Row of each queue that has children, from the top down -> the rows of its children."""
        self.leaf = np.array([tree.is_leaf(path) for path in self.paths])
        self.weights = np.array([tree[path].weight for path in self.paths], np.float64)

        def table(settings: Sequence[Mapping[str, int]], missing: float) -> Matrix:
            return np.array([[amounts.get(name, missing) for name in names] for amounts in settings], np.float64)

        self.caps = table([tree[path].max for path in self.paths], np.inf)
        self.reserved = np.minimum(table([tree[path].guaranteed for path in self.paths], 0), self.caps)
        self.reserved[0] = np.minimum(self.reserved[0], self.capacity)
        nothing = [0] * len(names)
        self.requested: Matrix = np.array([self.requests.get(path, nothing) for path in self.paths], np.float64)
        self.held: Matrix | None = None
        """What each queue deserves, one row per queue in the tree's order; None until it is calculated."""
        self.follows_from_level = list(self.below) == [0] and not np.any(self.reserved[1:])
        """Whether what leaves deserve may follow from one level."""
        self._level: RisingLevel | None = None

    def of(self, path: str) -> Iterator[tuple[str, float]]:
        """Yield each resource with what a queue deserves of it."""
        row = self.tree.turn[path]
        if row and (level := self._certain_level()) is not None:
            return zip(self.names, level.of(row - 1), strict=True)
        if self.held is None:
            self.held = self._calculate()
        return zip(self.names, self.held[row].tolist(), strict=True)

    def _certain_level(self) -> RisingLevel | None:
        """Return the level from which follows what leaves deserve; None if there is no such level."""
        if self._level is None and self.follows_from_level:
            pool = np.minimum(self.capacity, self.caps[0]).tolist()
            usable = self.requested * _most(self.requested, self.caps)[:, None]
            weights, capacity = self.weights[1:].tolist(), self.capacity.tolist()
            self._level = RisingLevel(self.requested[1:], usable[1:], weights, pool, capacity)
            self.follows_from_level = self._level.certain
        return self._level if self._level is not None and self._level.certain else None

    def change(self, leaf: str, requested: Mapping[str, int]) -> None:
        """Set what a leaf requests from now on."""
        before, now = self.requests[leaf], [max(requested.get(name, 0), 0) for name in self.names]
        if before == now:
            return
        row, self.requests[leaf] = self.tree.turn[leaf], now
        if self._level is not None and self._level.certain:
            self.requested[row], self.held = now, None
            caps = self.caps[row].tolist()
            part = min([1.0, *[cap / amount for cap, amount in zip(caps, now, strict=True) if amount > 0]])
            self._level.change(row - 1, now, [part * amount for amount in now])
            self._level = self._level if self._level.certain else None
            return
        usable = self._usable(row)
        self.requested[row] = now
        least = np.minimum(usable, self._usable(row))
        if self.held is not None and not (self._divides(leaf, before, now) and self._short(row, least)):
            self.held = None

    def _divides(self, leaf: str, before: list[int], now: list[int]) -> bool:
        """Return whether a leaf is a child of the root, and requests resources in the same proportions as before."""
        place = next((place for place, amount in enumerate(before) if amount), None)
        if place is None or self.tree.parents.get(leaf) != self.tree.root:
            return False
        return all(old * now[place] == new * before[place] for old, new in zip(before, now, strict=True))

    def _short(self, row: int, usable: Matrix) -> bool:
        """Return whether a leaf got less than ``usable`` of some resource.

        What a leaf gets beyond its floor is one fraction of its request, so such a leaf did not get all of its request.
        It was stopped by a resource that was used up, or by the idle part of one. It would be stopped at the same
        level, with the same amounts, for any multiple of that request of which it still gets less than it can use. Its
        dominant share only sets the pace at which its fraction grows. In a queue with children, its request would also
        affect the pace of that queue.
        """
        assert self.held is not None
        return bool(np.any(self.held[row] + SETTLED * self.capacity < usable))

    def _usable(self, row: int) -> Matrix:
        requested = self.requested[row : row + 1]
        usable: Matrix = requested[0] * _most(requested, self.caps[row : row + 1])
        return usable

    def _calculate(self) -> Matrix:
        self.floors = self.reserved.copy()
        held = np.zeros_like(self.floors)
        self.usable = self.requested * _most(self.requested, self.caps)[:, None]
        target = self.usable
        for _ in range(_ROUNDS):
            before, held = held, self._round(target)
            open_ = self._open(held)
            if not np.any(open_):
                return held
            if np.all(held - before <= SETTLED * self.capacity):
                break
            target = np.where(open_[:, None], self.usable, held)
        for place in sorted(np.flatnonzero(open_).tolist(), key=self.paths.__getitem__):
            held[place] = self._alone(held)[place]
            for above in self.tree.lineage(self.paths[place])[1:]:
                row = self.tree.turn[above]
                held[row] = np.maximum(held[row], held[self.below[row]].sum(axis=0))
        return held

    def _open(self, held: Matrix) -> npt.NDArray[np.bool_]:
        """Return a mask of the leaves that could be given more."""
        more = np.any(self._alone(held) > held + SETTLED * self.capacity, axis=1)
        return np.asarray(more & self.leaf & (self.weights > 0), np.bool_)

    def _alone(self, held: Matrix) -> Matrix:
        """Return what each leaf would have if it alone were given the idle capacity, as far as it can use that."""
        room = np.zeros_like(held)
        room[0] = np.minimum(self.capacity, self.caps[0]) - held[0]
        for place, children in self.below.items():
            idle = room[place] + held[place] - held[children].sum(axis=0)
            room[children] = np.minimum(idle, self.caps[children] - held[children])
        reached = np.minimum(self.usable, held + room)
        parts = np.divide(reached, self.requested, out=np.full_like(held, np.inf), where=self.requested > 0).min(axis=1)
        scaled: Matrix = np.where(np.isfinite(parts), parts, 0.0)[:, None] * self.requested
        return np.maximum(held, scaled)

    def _round(self, target: Matrix) -> Matrix:
        floors, requested = self.floors.copy(), np.maximum(self.floors, target)
        for place, children in reversed(self.below.items()):
            floors[place] = np.minimum(np.maximum(floors[place], floors[children].sum(axis=0)), self.caps[place])
            requested[place] = np.minimum(requested[children].sum(axis=0), self.caps[place])
        requested[self.leaf] = self.requested[self.leaf]
        pools = np.zeros_like(floors)
        pools[0] = np.minimum(self.capacity, self.caps[0])
        if self.leaf[0]:
            pools[0] = self._share_pool(np.array([0]), floors, requested, pools[0])[0]
        for place, children in self.below.items():
            pools[children] = self._share_pool(children, floors, requested, pools[place])
        return self._store_floors(pools)

    def _share_pool(self, places: npt.NDArray[np.intp], floors: Matrix, requested: Matrix, pool: Matrix) -> Matrix:
        floor = floors[places]
        together = floor.sum(axis=0)
        floor = floor * np.divide(pool, together, out=np.ones_like(pool), where=together > pool)
        return _raised(requested[places], floor, self.caps[places], self.weights[places], pool, self.capacity)

    def _store_floors(self, received: Matrix) -> Matrix:
        """Store what each leaf got as its new floor, and return what each queue has.

        A queue with children has the sum of theirs, or its own floor if that is more.
        """
        held = received.copy()
        for place, children in reversed(self.below.items()):
            self.floors[place] = np.minimum(self.floors[place], received[place])
            held[place] = np.maximum(self.floors[place], held[children].sum(axis=0))
        self.floors[self.leaf] = received[self.leaf]
        return held


def _most(requested: Matrix, caps: Matrix) -> Matrix:
    """Return the fraction of each request at which the request reaches its first cap, at most 1."""
    parts = np.divide(caps, requested, out=np.full_like(requested, np.inf), where=requested > 0)
    most: Matrix = parts.min(axis=1, initial=1.0)
    return most


def _raised(requested: Matrix, floor: Matrix, caps: Matrix, weights: Matrix, pool: Matrix, capacity: Matrix) -> Matrix:
    """Return what each queue gets if one level rises for all: a fraction of its request, and at least its floor."""
    shares = (requested / capacity).max(axis=1)
    paces = np.divide(weights, shares, out=np.zeros_like(shares), where=shares > 0)
    most = np.where(paces > 0, _most(requested, caps), 0.0)
    highest = float(np.divide(most, paces, out=np.zeros_like(most), where=paces > 0).max(initial=0.0))
    requested, floor = (
        np.ascontiguousarray(requested.T),
        np.ascontiguousarray(floor.T),
    )  # summing along rows is much faster
    begun = np.divide(floor, requested, out=np.zeros_like(requested), where=requested > 0)

    rates = paces * requested

    def amounts_at(level: float) -> Matrix:
        amounts: Matrix = np.minimum(most, level * paces) * requested
        return np.maximum(floor, amounts, out=amounts)

    def rates_at(level: float) -> Matrix:
        rising = (level * paces < most) & (level * rates >= floor)
        summed: Matrix = np.where(rising, rates, 0.0).sum(axis=1)
        return summed

    for _ in range(len(pool)):
        if np.all(amounts_at(highest).sum(axis=1) <= pool * (1 + _EXACT)):
            break
        level, short = _highest_level(lambda at: amounts_at(at).sum(axis=1), rates_at, pool, highest)
        ends = np.maximum(np.minimum(most, level * paces), begun)
        most = np.minimum(most, np.where((requested > 0) & short[:, None], ends, np.inf).min(axis=0))
    return amounts_at(highest).T


def _highest_level(
    sums_at: Callable[[float], Matrix], rates_at: Callable[[float], Matrix], pool: Matrix, highest: float
) -> tuple[float, npt.NDArray[np.bool_]]:
    """Return the level at which the first resources of the pool are used up, and a mask of these.

    What is used grows along straight lines with bends. Following the line from either end finds the level in a few
    steps; the interval is halved where a line leads out of it.
    """
    low, high = 0.0, highest
    for _ in range(_STEPS):
        left, rates = pool - sums_at(low), rates_at(low)
        short = (left <= _EXACT * pool) & (rates > 0)
        if np.any(short):
            break
        level = low + float(np.divide(left, rates, out=np.full_like(left, np.inf), where=rates > 0).min())
        if not low < level < high:
            level = (low + high) / 2
        if np.all(sums_at(level) <= pool * (1 + _EXACT)):
            low = level
            continue
        high = level
        over, rates = sums_at(high) - pool, rates_at(high)
        level = high - float(np.divide(over, rates, out=np.zeros_like(over), where=rates > 0).max())
        if low < level < high:
            low, high = (level, high) if np.all(sums_at(level) <= pool * (1 + _EXACT)) else (low, level)
    else:
        short = sums_at(high) > pool * (1 + _EXACT)
    return low, short
