"""Find what leaves side by side deserve, and how that changes as one of them requests less, without dividing anew.

Each leaf gets a part of its request that grows with one level, until it has all that it can use. The level rises until
a resource is used up. Where every leaf that could still use more requests that resource, nobody gets any more, and what
each has follows from the level. In a pass victims stop requesting, so the level only rises further.
"""

from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf
from operator import truediv
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
"""One row per leaf, one column per resource."""

_EXACT = 1e-12
"""Fraction by which a level may be off, as floating point is."""
_RENEWED = 1_000
"""Number of changes after which sums are made again, so that rounding errors do not accumulate."""
_SMALL = 1e-3
"""Sums are also made again when less than this part of one is left, as its rounding errors would then matter."""


class RisingShare(NamedTuple):
    """What determines how much a leaf has at some level."""

    full: float
    """The level at which the leaf has all that it can use; 0 for a leaf that gets nothing."""
    rates: tuple[float, ...]
    """By resource, what it gets per unit of the level until then."""
    most: tuple[float, ...]
    """By resource, what it can use."""


class RisingLevel:
    """The level of leaves that are the only queues below the root, of which none has a floor."""

    def __init__(
        self, requested: Matrix, usable: Matrix, weights: Sequence[float], pool: Sequence[float], whole: Sequence[float]
    ) -> None:
        """Find the level.

        ``usable``: the part of each request that its leaf can use. ``pool``: what is divided, by resource. ``whole``:
        what requests are compared with, by resource.
        """
        self._pool, self._whole, self._weights = pool, whole, weights
        pairs = zip(requested.tolist(), usable.tolist(), strict=True)
        self._leaves = [self._leaf(row, *pair) for row, pair in enumerate(pairs)]
        self._is_full = [leaf.full <= 0 for leaf in self._leaves]
        """Row -> whether the leaf has all that it can use."""
        self._heap = sorted([(leaf.full, row) for row, leaf in enumerate(self._leaves) if leaf.full > 0])
        """The levels at which the other leaves will; an entry is out of date if its leaf has changed since."""
        self.level = 0.0
        self._sum()
        self.certain = self._rise()
        """Whether what the leaves deserve follows from the level."""

    def of(self, row: int) -> tuple[float, ...]:
        """Return what a leaf has, by resource."""
        leaf = self._leaves[row]
        return leaf.most if self._is_full[row] else tuple([rate * self.level for rate in leaf.rates])

    def change(self, row: int, requested: Sequence[float], usable: Sequence[float]) -> None:
        """Change what a leaf requests, and let the level rise; it is not certain any more if it would have to fall."""
        self._count(row, -1)
        leaf = self._leaves[row] = self._leaf(row, requested, usable)
        self._is_full[row] = leaf.full <= self.level
        self._count(row, 1)
        if not self._is_full[row]:
            heappush(self._heap, (leaf.full, row))
        self._changes += 1
        if self._changes >= _RENEWED:
            self._sum()
        self.certain = self._rise()

    def _leaf(self, row: int, requested: Sequence[float], usable: Sequence[float]) -> RisingShare:
        share = max(map(truediv, requested, self._whole))
        pace = self._weights[row] / share if share > 0 else 0.0
        if pace <= 0:
            return RisingShare(0.0, (0.0,) * len(requested), (0.0,) * len(requested))
        part = min([use / request for use, request in zip(usable, requested, strict=True) if request > 0])
        return RisingShare(part / pace, tuple([pace * request for request in requested]), tuple(usable))

    def _sum(self) -> None:
        """Sum up what the leaves that are full hold, and how fast the parts of the others grow."""
        many = len(self._pool)
        self._changes, self._open = 0, 0
        self._full, self._rates, self._wanting = [0.0] * many, [0.0] * many, [0] * many
        """By resource: what full leaves hold, what others get per unit of level, and how many others request it."""
        for row in range(len(self._leaves)):
            self._count(row, 1)
        self._summed = list(self._rates)

    def _count(self, row: int, sign: int) -> None:
        leaf = self._leaves[row]
        if self._is_full[row]:
            for place, most in enumerate(leaf.most):
                self._full[place] += sign * most
            return
        self._open += sign
        for place, rate in enumerate(leaf.rates):
            self._rates[place] += sign * rate
            self._wanting[place] += sign * (rate > 0)

    def _rise(self) -> bool:
        """Let the level rise until a resource is used up, and return whether it may stay there.

        It may not if it would have to fall, or if a leaf that is not full requests nothing of what is used up.
        """
        ends = self._ends()
        while self._heap and self._heap[0][0] <= min(ends):
            full, row = heappop(self._heap)
            if not self._is_full[row] and self._leaves[row].full == full:
                self._count(row, -1)
                self._is_full[row] = True
                self._count(row, 1)
                ends = self._ends()
        level = min(ends)
        too_much = any(full > pool * (1 + _EXACT) for full, pool in zip(self._full, self._pool, strict=True))
        if too_much or level < self.level * (1 - _EXACT):
            return False
        self.level = max(level, self.level)
        used_up = [place for place, end in enumerate(ends) if end <= level * (1 + _EXACT)]
        return self._open == 0 or any(self._wanting[place] == self._open for place in used_up)

    def _ends(self) -> list[float]:
        """Return, by resource, the level at which it is used up if no leaf becomes full before."""
        if any(rate < _SMALL * summed for rate, summed in zip(self._rates, self._summed, strict=True)):
            self._sum()
        return [
            max(pool - full, 0.0) / rate if wanting else inf
            for pool, full, rate, wanting in zip(self._pool, self._full, self._rates, self._wanting, strict=True)
        ]
