"""Raises all shares together until the resources are used up: dominant resource fairness by progressive filling.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011; floors, caps and weights are as docs/policies/deserved.md
says. The usage at a level only increases with the level. So the level at which a resource is used up is found by
bisection with floating-point numbers. It is then calculated exactly between the two neighboring levels at which
something changes. All that floating-point numbers leave undecided is compared exactly.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import inf
from typing import NamedTuple

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.policies.deserved.shares.claims import SLACK, Claims, Floats
from engine.policies.deserved.shares.exact_sums import sum_fractions


class ShareBounds(NamedTuple):
    """The share of each claimant, between two whole amounts; it is exact if they are equal."""

    low: Numbers
    high: Numbers


class _LevelInterval(NamedTuple):
    """The state of all claimants for one resource, between two levels at which something changes."""

    begun: Flags
    """Row -> whether the claimant has more than its floor."""
    stopped: Flags


class _Exhaustion(NamedTuple):
    """The level at which a resource is used up."""

    level: Fraction
    resource: int
    stretch: _LevelInterval


def fill(claims: Claims) -> ShareBounds:
    """Return the share that each claimant gets of the pool, which must hold at least all floors."""
    filling = _Filling(claims)
    filling.run()
    return filling.shares()


class _Filling:
    """One progressive filling: the resources are used up one by one, and claimants that need more of one stop there."""

    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        self.speeds = claims.speeds
        self.parts = dict(claims.parts)
        """Row -> the fraction of its request at which the claimant stops.

        Claimants that stop at their whole request or at one of ``levels`` are left out.
        """
        self.levels: list[Fraction] = []
        """The levels at which resources were used up, in order."""
        self.held: Rows = np.full(len(claims.request), -1, np.intp)
        """Row -> the index in ``levels`` of the level at which the claimant stopped, or -1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            self.begins: Floats = np.where(self.speeds > 0, claims.floors / self.speeds, inf)
            """The level at which each claimant exceeds its floor, by row and resource."""
        self.stops: Floats = claims.stops.copy()
        for row, part in self.parts.items():
            self.stops[row] *= float(part)
        self.grows: Flags = self._grows()
        """Whether each claimant ever has more than its floor, by row and resource."""
        self.done: Flags = np.zeros(len(claims.request), np.bool_)
        """Row -> whether the claimant is known to have stopped by the last of the levels."""

    def _grows(self) -> Flags:
        grows = self.begins < self.stops[:, None]
        close = np.abs(self.begins - self.stops[:, None]) <= self.stops[:, None] * SLACK
        for row, resource in np.argwhere(close & (self.speeds > 0)).tolist():
            grows[row, resource] = self._ever(row, resource)
        return grows

    def _ever(self, row: int, resource: int) -> bool:
        claims, amount = self.claims, int(self.claims.request[row, resource])
        return claims.floor(row, resource) < self.parts.get(row, 1) * amount

    def run(self) -> None:
        """Raise the level until all claimants have stopped."""
        open_ = list(range(len(self.claims.pool)))
        while ends := [end for resource in open_ if (end := self._end(resource))]:
            first = min(ends, key=lambda end: end.level)
            self._stop(first)
            open_.remove(first.resource)

    def _end(self, resource: int) -> _Exhaustion | None:
        """Return where a resource is used up, or None if it never is."""
        pool, grows = self.claims.pool[resource], self.grows[:, resource]
        if not (grows & ~self.done).any() or self._used(resource, inf) < pool * (1 - SLACK):
            return None
        stops = np.where(self.held < 0, self.stops, 0.0)
        points = np.unique(np.concatenate([self.begins[grows, resource], stops[grows]])).tolist()
        first = bisect_left(points, pool * (1 - SLACK), key=lambda level: self._used(resource, level))
        last = bisect_right(points, pool * (1 + SLACK), key=lambda level: self._used(resource, level))
        low, high = points[first - 1] if first else -1.0, points[last] if last < len(points) else inf
        stretch = _LevelInterval(self.begins[:, resource] <= low, (stops <= low) | (self.held >= 0))
        if last > first:
            self._tell_apart(resource, stretch, low, high)
        fixed, speed = self._line(resource, stretch)
        return _Exhaustion((pool - fixed) / speed, resource, stretch) if speed else None

    def _used(self, resource: int, level: float) -> float:
        """Return what all claimants together have of a resource at a level.

        The relative error of the result is no more than the largest relative error of any claimant.
        """
        risen = np.minimum(self.stops, level) * self.speeds[:, resource]
        return float(np.maximum(risen, self.claims.floors[:, resource]).sum())

    def _tell_apart(self, resource: int, stretch: _LevelInterval, low: float, high: float) -> None:
        """Determine exactly which claimants begin or stop between two levels before the resource is used up.

        Updates ``stretch`` in place.
        """
        begins = self.begins[:, resource]
        between = np.flatnonzero(self.grows[:, resource] & (low < begins) & (begins < high)).tolist()
        steps = [(self._begin(row, resource), stretch.begun, [row]) for row in between]
        open_ = self.grows[:, resource] & ~stretch.stopped & (self.stops < high)
        steps += [(level, stretch.stopped, rows) for level, rows in self._stops_of(np.flatnonzero(open_).tolist())]

        def pass_to(level: Fraction) -> Fraction:
            for at, flags, rows in steps:
                flags[rows] = at <= level
            fixed, speed = self._line(resource, stretch)
            return fixed + speed * level

        levels = sorted({at for at, _, _ in steps})
        passed = bisect_right(levels, Fraction(self.claims.pool[resource]), key=pass_to)
        pass_to(levels[passed - 1] if passed else Fraction(-1))

    def _begin(self, row: int, resource: int) -> Fraction:
        claims = self.claims
        wide, amount = int(claims.wide[row]), int(claims.request[row, resource])
        return claims.floor(row, resource) * Fraction(wide, amount * claims.pace[row])

    def _stops_of(self, rows: Iterable[int]) -> Iterator[tuple[Fraction, list[int]]]:
        """Yield the levels at which the claimants in ``rows`` stop; equal claimants are grouped."""
        wide, pace = self.claims.wide, self.claims.pace
        alike = defaultdict[tuple[int, int, Fraction | None], list[int]](list)
        for row in rows:
            alike[int(wide[row]), pace[row], self.parts.get(row)].append(row)
        for (amount, each, part), those in alike.items():
            yield Fraction(amount, each) * (1 if part is None else part), those

    def _line(self, resource: int, stretch: _LevelInterval) -> tuple[Fraction, Fraction]:
        """Return the usage of a resource in a stretch: a fixed amount, and the amount added for each level."""
        claims, request = self.claims, self.claims.request[:, resource]
        up = self.grows[:, resource] & stretch.begun
        done = up & stretch.stopped
        fixed = claims.kept[resource] * int(claims.reserved[~up, resource].sum())
        own = done & (self.held < 0)
        capped = [row for row in self.parts if own[row]]
        own[capped] = False
        fixed += int(request[own].sum())
        pairs = ((self.parts[row] * int(request[row])).as_integer_ratio() for row in capped)
        fixed += sum_fractions(pairs)
        for number, level in enumerate(self.levels):
            fixed += level * self._speed(resource, done & (self.held == number))
        return fixed, self._speed(resource, up & ~stretch.stopped)

    def _speed(self, resource: int, who: Flags) -> Fraction:
        """Return what the claimants ``who`` together get of a resource at a level of 1."""
        amounts, wide = self.claims.ratios(resource)
        pace = self.claims.pace
        return sum_fractions((pace[row] * amounts[row], wide[row]) for row in np.flatnonzero(who).tolist())

    def _stop(self, end: _Exhaustion) -> None:
        """Stop all claimants that get more of a resource at the level at which it is used up.

        Claimants that have not exceeded their floors yet stop where they would.
        """
        resource, (begun, stopped) = end.resource, end.stretch
        now = self.grows[:, resource] & begun & ~stopped
        later = self.grows[:, resource] & ~begun & ~stopped
        self.held[now] = len(self.levels)
        self.levels.append(end.level)
        self.stops[now] = level = float(end.level)
        others = self.grows[now] & (self.begins[now] < level * (1 - SLACK))
        for place, one in np.argwhere(self.grows[now] & ~others & (self.begins[now] <= level * (1 + SLACK))).tolist():
            others[place, one] = self._begin(int(np.flatnonzero(now)[place]), one) < end.level
        self.grows[now] = others
        self.done |= now | stopped
        for row in np.flatnonzero(later).tolist():
            self.parts[row] = self.claims.floor(row, resource) / int(self.claims.request[row, resource])
            self.stops[row] = self.begins[row, resource]
            self.grows[row] = [speed > 0 and self._ever(row, one) for one, speed in enumerate(self.speeds[row])]

    def shares(self) -> ShareBounds:
        """Return the share of each claimant."""
        claims = self.claims
        low, high = self._floors()
        full = self.grows & (self.held < 0)[:, None]
        low[full] = high[full] = claims.request[full]
        for row, part in self.parts.items():
            for resource in np.flatnonzero(full[row]).tolist():
                low[row, resource], high[row, resource] = _floor_and_ceiling(part * int(claims.request[row, resource]))
        for number, level in enumerate(self.levels):
            self._at_level(level, (self.held == number)[:, None] & self.grows, low, high)
        return ShareBounds(low, high)

    def _floors(self) -> tuple[Numbers, Numbers]:
        low, high = self.claims.reserved.copy(), self.claims.reserved.copy()
        for resource, kept in enumerate(self.claims.kept):
            if kept != 1:
                pairs = [_floor_and_ceiling(kept * amount) for amount in low[:, resource].tolist()]
                low[:, resource], high[:, resource] = [down for down, _ in pairs], [up for _, up in pairs]
        return low, high

    def _at_level(self, level: Fraction, where: Flags, low: Numbers, high: Numbers) -> None:
        about = float(level) * self.speeds
        down = np.floor(about)
        rest, off = about - down, about * SLACK / 1_000
        clear = where & (rest > off) & (rest < 1 - off) & (low.dtype != object)
        low[clear] = down[clear]
        high[clear] = low[clear] + 1
        for row, resource in np.argwhere(where & ~clear).tolist():
            amounts, wide = self.claims.ratios(resource)
            share = level.numerator * self.claims.pace[row] * amounts[row]
            low[row, resource], left = divmod(share, level.denominator * wide[row])
            high[row, resource] = low[row, resource] + bool(left)


def _floor_and_ceiling(share: Fraction) -> tuple[int, int]:
    down, left = divmod(share.numerator, share.denominator)
    return down, down + bool(left)
