"""What all those that divide something ask of it, a row for each and a column for each resource."""

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.model.columns.node_columns import Flags, Numbers, Rows

Floats = NDArray[np.float64]

SLACK = 1e-9
"""Floats that are closer than this part of them are told apart exactly; they are right to 1e-12 and better."""


class Claims:
    """Those that divide a pool; shares are measured against a whole capacity that has something of every resource."""

    def __init__(
        self, request: Numbers, floor: Numbers, cap: Numbers, weight: Numbers, pool: list[int], capacity: list[int]
    ) -> None:
        self.request, self.cap, self.weight = request, cap, weight
        self.reserved = floor
        """Each has that much of ``kept`` whatever it asks, never more than its cap."""
        self.pool, self.capacity = pool, capacity
        sums = [int(amount) for amount in floor.sum(axis=0)]
        self.kept = [
            Fraction(there, wanted) if wanted > there else Fraction(1) for there, wanted in zip(pool, sums, strict=True)
        ]
        """Where the floors together are more than there is of a resource, all of them are less by the same fraction."""
        self.rising: Flags = (weight > 0) & (request > 0).any(axis=1)
        """Row -> whether it gets more than its floor if there is more."""

    def floor(self, row: int, resource: int) -> Fraction:
        """What it has whatever it asks."""
        return self.kept[resource] * int(self.reserved[row, resource])

    @cached_property
    def floors(self) -> Floats:
        """All of that, nearly."""
        floors: Floats = self.reserved.astype(np.float64) * np.array([float(part) for part in self.kept])
        return floors

    @cached_property
    def parts(self) -> dict[int, Fraction]:
        """Row -> the part of its request at which it meets its first cap; those that meet none are left out."""
        rows = np.flatnonzero((self.cap < self.request).any(axis=1)).tolist()
        return {row: self._part(row) for row in rows}

    def _part(self, row: int) -> Fraction:
        pairs = zip(self.cap[row].tolist(), self.request[row].tolist(), strict=True)
        return min(Fraction(cap, amount) for cap, amount in pairs if amount)

    @cached_property
    def usable(self) -> Numbers:
        """What each can use at most: its request, up to the first cap of it."""
        usable = self.request.copy()
        for row, part in self.parts.items():
            usable[row] = [_ceil(part * amount) for amount in self.request[row].tolist()]
        return usable

    @cached_property
    def enough(self) -> Numbers:
        """What each has where there is enough for all."""
        enough: Numbers = np.where(self.rising[:, None], np.maximum(self.reserved, self.usable), self.reserved)
        return enough

    @property
    def all_fit(self) -> bool:
        """Whether there is."""
        return all(most <= there for most, there in zip(self.enough.sum(axis=0).tolist(), self.pool, strict=True))

    @cached_property
    def dominant(self) -> Rows:
        """Row -> the resource of which it asks the largest part of all that there is."""
        shares: Floats = self.request.astype(np.float64) / np.array(self.capacity, np.float64)
        found: Rows = shares.argmax(axis=1)
        close = shares >= shares.max(axis=1, keepdims=True) * (1 - SLACK)
        ties = np.flatnonzero(self.rising & (close.sum(axis=1) > 1))
        found[ties] = self._largest(self.request[ties].astype(object))
        return found

    def _largest(self, amounts: Numbers) -> Rows:
        """Row -> the same, exactly; the first of several."""
        found: Rows = np.zeros(len(amounts), np.intp)
        capacity = np.array(self.capacity, object)
        most = amounts[:, 0].copy()
        for one in range(1, len(self.capacity)):
            larger = np.flatnonzero(amounts[:, one] * capacity[found] > most * capacity[one])
            found[larger] = one
            most[larger] = amounts[larger, one]
        return found

    @cached_property
    def wide(self) -> Numbers:
        """Row -> what it asks of its dominant resource."""
        wide: Numbers = self.request[np.arange(len(self.request)), self.dominant]
        return wide

    @cached_property
    def pace(self) -> list[int]:
        """Row -> what it gets of its dominant resource for a level of 1: its weight's part of all that there is."""
        there = [self.capacity[one] for one in self.dominant.tolist()]
        return [weight * most for weight, most in zip(self.weight.tolist(), there, strict=True)]

    @cached_property
    def stops(self) -> Floats:
        """At which level each has all that it asks, nearly; 0 where it never rises."""
        wide, pace = self.wide.astype(np.float64), np.array(self.pace, np.float64)
        stops: Floats = np.divide(wide, pace, out=np.zeros(len(wide)), where=self.rising)
        return stops

    @cached_property
    def speeds(self) -> Floats:
        """What each gets of every resource for a level of 1, nearly."""
        return self.request.astype(np.float64) / np.where(self.rising, self.stops, np.inf)[:, None]

    def ratios(self, resource: int) -> tuple[list[int], list[int]]:
        """Row -> its request of a resource to that of its dominant one, in lowest terms."""
        if resource not in self._ratios:
            amounts = self.request[:, resource]
            common: Any = np.maximum(np.gcd(amounts, self.wide), 1)
            self._ratios[resource] = ((amounts // common).tolist(), (self.wide // common).tolist())
        return self._ratios[resource]

    @cached_property
    def _ratios(self) -> dict[int, tuple[list[int], list[int]]]:
        return {}


def _ceil(number: Fraction) -> int:
    return -(-number.numerator // number.denominator)
