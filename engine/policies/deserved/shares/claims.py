"""Holds the claims of all claimants that divide a pool, with a row for each claimant and a column for each resource."""

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.model.columns.node_columns import Flags, Numbers, Rows

Floats = NDArray[np.float64]

SLACK = 1e-9
"""The relative difference below which floating-point numbers are compared exactly instead.

They are accurate to 1e-12 or better.
"""


class Claims:
    """The claims on a pool of resources.

    Shares are measured against the whole ``capacity``, which is positive for every resource.
    """

    def __init__(
        self, request: Numbers, floor: Numbers, cap: Numbers, weight: Numbers, pool: list[int], capacity: list[int]
    ) -> None:
        self.request, self.cap, self.weight = request, cap, weight
        self.reserved = floor
        """The amount that each claimant is due whatever it requests, times ``kept`` of the resource.

        It never exceeds the claimant's cap.
        """
        self.pool, self.capacity = pool, capacity
        sums = [int(amount) for amount in floor.sum(axis=0)]
        self.kept = [
            Fraction(available, wanted) if wanted > available else Fraction(1)
            for available, wanted in zip(pool, sums, strict=True)
        ]
        """Resource -> the fraction of all floors that can be granted.

        It is less than 1 if the floors together exceed what the pool has of the resource.
        """
        self.rising: Flags = (weight > 0) & (request > 0).any(axis=1)
        """Row -> whether the claimant gets more than its floor if there is more."""

    def floor(self, row: int, resource: int) -> Fraction:
        """Return the amount of a resource that a claimant is granted whatever it requests."""
        return self.kept[resource] * int(self.reserved[row, resource])

    @cached_property
    def floors(self) -> Floats:
        """Return the floors of all claimants as floating-point numbers."""
        floors: Floats = self.reserved.astype(np.float64) * np.array([float(part) for part in self.kept])
        return floors

    @cached_property
    def parts(self) -> dict[int, Fraction]:
        """Return, by row, the fraction of its request at which a claimant reaches its first cap.

        Claimants that reach no cap are left out.
        """
        rows = np.flatnonzero((self.cap < self.request).any(axis=1)).tolist()
        return {row: self._part(row) for row in rows}

    def _part(self, row: int) -> Fraction:
        pairs = zip(self.cap[row].tolist(), self.request[row].tolist(), strict=True)
        return min(Fraction(cap, amount) for cap, amount in pairs if amount)

    @cached_property
    def usable(self) -> Numbers:
        """Return what each claimant can use at most: its request, up to the point where it reaches its first cap."""
        usable = self.request.copy()
        for row, part in self.parts.items():
            usable[row] = [_ceil(part * amount) for amount in self.request[row].tolist()]
        return usable

    @cached_property
    def enough(self) -> Numbers:
        """Return what each claimant gets if there is enough for all."""
        enough: Numbers = np.where(self.rising[:, None], np.maximum(self.reserved, self.usable), self.reserved)
        return enough

    @property
    def all_fit(self) -> bool:
        """Return whether there is enough for all claimants."""
        return all(
            most <= available for most, available in zip(self.enough.sum(axis=0).tolist(), self.pool, strict=True)
        )

    @cached_property
    def dominant(self) -> Rows:
        """Return for every row the dominant resource.

        It is the resource of which the claimant requests the largest part of the capacity.
        """
        shares: Floats = self.request.astype(np.float64) / np.array(self.capacity, np.float64)
        found: Rows = shares.argmax(axis=1)
        close = shares >= shares.max(axis=1, keepdims=True) * (1 - SLACK)
        ties = np.flatnonzero(self.rising & (close.sum(axis=1) > 1))
        found[ties] = self._largest(self.request[ties].astype(object))
        return found

    def _largest(self, amounts: Numbers) -> Rows:
        """Return for every row the dominant resource, compared exactly; the first of several equal resources."""
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
        """Return for every row what the claimant requests of its dominant resource."""
        wide: Numbers = self.request[np.arange(len(self.request)), self.dominant]
        return wide

    @cached_property
    def pace(self) -> list[int]:
        """Return for every row what the claimant gets of its dominant resource at a level of 1.

        It is the claimant's weight times the capacity of that resource.
        """
        capacity = [self.capacity[resource] for resource in self.dominant.tolist()]
        return [weight * most for weight, most in zip(self.weight.tolist(), capacity, strict=True)]

    @cached_property
    def stops(self) -> Floats:
        """Return for every row the level at which the claimant has all that it requests, as a floating-point number.

        It is 0 for claimants that never get more than their floors.
        """
        wide, pace = self.wide.astype(np.float64), np.array(self.pace, np.float64)
        stops: Floats = np.divide(wide, pace, out=np.zeros(len(wide)), where=self.rising)
        return stops

    @cached_property
    def speeds(self) -> Floats:
        """Return what each claimant gets of every resource at a level of 1, as floating-point numbers."""
        return self.request.astype(np.float64) / np.where(self.rising, self.stops, np.inf)[:, None]

    def ratios(self, resource: int) -> tuple[list[int], list[int]]:
        """Return for every row the ratio of its request of a resource to that of its dominant resource.

        Ratios are numerators and denominators in lowest terms.
        """
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
