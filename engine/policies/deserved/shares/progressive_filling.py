"""Raising all shares together as far as there is something to raise them with: dominant resource fairness.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011; floors, caps and weights are as docs/policies/deserved.md
says. What is used at a level only grows with it, so the level at which a resource is used up is found by halving, in
floats; between those of its two neighbours where something changes it is then worked out exactly. All that floats
leave open is compared exactly.
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
from engine.policies.deserved.shares.exact_sums import added


class ShareBounds(NamedTuple):
    """What each gets, between two whole amounts: it is exact where they are the same."""

    low: Numbers
    high: Numbers


class _Stretch(NamedTuple):
    """Of a resource, between two levels where something changes."""

    begun: Flags
    """Row -> whether it has grown out of its floor."""
    stopped: Flags


class _End(NamedTuple):
    """A resource is used up at a level."""

    level: Fraction
    resource: int
    stretch: _Stretch


def fill(claims: Claims) -> ShareBounds:
    """What each gets of the pool, of which there is no less than all floors."""
    filling = _Filling(claims)
    filling.run()
    return filling.shares()


class _Filling:
    """Resource by resource is used up; who would get more of it stops there."""

    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        self.speeds = claims.speeds
        self.parts = dict(claims.parts)
        """Row -> the part of its request at which it stops, where that is neither all of it nor one of ``levels``."""
        self.levels: list[Fraction] = []
        """At which a resource was used up."""
        self.held: Rows = np.full(len(claims.request), -1, np.intp)
        """Row -> which of the levels it stopped at, -1 if at none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            self.begins: Floats = np.where(self.speeds > 0, claims.floors / self.speeds, inf)
            """At which level each grows out of its floor."""
        self.stops: Floats = claims.stops.copy()
        for row, part in self.parts.items():
            self.stops[row] *= float(part)
        self.grows: Flags = self._grows()
        """Whether it ever has more than its floor."""
        self.done: Flags = np.zeros(len(claims.request), np.bool_)
        """Row -> whether it is known to have stopped by the last of the levels."""

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
        """Up to where everybody has stopped."""
        open_ = list(range(len(self.claims.pool)))
        while ends := [end for resource in open_ if (end := self._end(resource))]:
            first = min(ends, key=lambda end: end.level)
            self._stop(first)
            open_.remove(first.resource)

    def _end(self, resource: int) -> _End | None:
        """Where a resource is used up, None if that never is."""
        pool, grows = self.claims.pool[resource], self.grows[:, resource]
        if not (grows & ~self.done).any() or self._used(resource, inf) < pool * (1 - SLACK):
            return None
        stops = np.where(self.held < 0, self.stops, 0.0)
        points = np.unique(np.concatenate([self.begins[grows, resource], stops[grows]])).tolist()
        first = bisect_left(points, pool * (1 - SLACK), key=lambda level: self._used(resource, level))
        last = bisect_right(points, pool * (1 + SLACK), key=lambda level: self._used(resource, level))
        low, high = points[first - 1] if first else -1.0, points[last] if last < len(points) else inf
        stretch = _Stretch(self.begins[:, resource] <= low, (stops <= low) | (self.held >= 0))
        if last > first:
            self._tell_apart(resource, stretch, low, high)
        fixed, speed = self._line(resource, stretch)
        return _End((pool - fixed) / speed, resource, stretch) if speed else None

    def _used(self, resource: int, level: float) -> float:
        """What all have of a resource at a level: one that is off by some part leaves this off by no more than that."""
        risen = np.minimum(self.stops, level) * self.speeds[:, resource]
        return float(np.maximum(risen, self.claims.floors[:, resource]).sum())

    def _tell_apart(self, resource: int, stretch: _Stretch, low: float, high: float) -> None:
        """Let what happens between two levels have happened as far as there is enough for it, exactly."""
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
        """At which level some stop, those that are alike together."""
        wide, pace = self.claims.wide, self.claims.pace
        alike = defaultdict[tuple[int, int, Fraction | None], list[int]](list)
        for row in rows:
            alike[int(wide[row]), pace[row], self.parts.get(row)].append(row)
        for (amount, each, part), those in alike.items():
            yield Fraction(amount, each) * (1 if part is None else part), those

    def _line(self, resource: int, stretch: _Stretch) -> tuple[Fraction, Fraction]:
        """What is used of a resource in a stretch: so much, and so much more for each level."""
        claims, request = self.claims, self.claims.request[:, resource]
        up = self.grows[:, resource] & stretch.begun
        done = up & stretch.stopped
        fixed = claims.kept[resource] * int(claims.reserved[~up, resource].sum())
        own = done & (self.held < 0)
        capped = [row for row in self.parts if own[row]]
        own[capped] = False
        fixed += int(request[own].sum())
        pairs = ((self.parts[row] * int(request[row])).as_integer_ratio() for row in capped)
        fixed += added(pairs)
        for number, level in enumerate(self.levels):
            fixed += level * self._speed(resource, done & (self.held == number))
        return fixed, self._speed(resource, up & ~stretch.stopped)

    def _speed(self, resource: int, who: Flags) -> Fraction:
        """What they get together for a level of 1."""
        amounts, wide = self.claims.ratios(resource)
        pace = self.claims.pace
        return added((pace[row] * amounts[row], wide[row]) for row in np.flatnonzero(who).tolist())

    def _stop(self, end: _End) -> None:
        """Whoever gets more of a resource stops at the level at which it is used up, or when it would begin to."""
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
        """What each has."""
        claims = self.claims
        low, high = self._floors()
        full = self.grows & (self.held < 0)[:, None]
        low[full] = high[full] = claims.request[full]
        for row, part in self.parts.items():
            for resource in np.flatnonzero(full[row]).tolist():
                low[row, resource], high[row, resource] = _between(part * int(claims.request[row, resource]))
        for number, level in enumerate(self.levels):
            self._at_level(level, (self.held == number)[:, None] & self.grows, low, high)
        return ShareBounds(low, high)

    def _floors(self) -> tuple[Numbers, Numbers]:
        low, high = self.claims.reserved.copy(), self.claims.reserved.copy()
        for resource, kept in enumerate(self.claims.kept):
            if kept != 1:
                pairs = [_between(kept * amount) for amount in low[:, resource].tolist()]
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


def _between(share: Fraction) -> tuple[int, int]:
    down, left = divmod(share.numerator, share.denominator)
    return down, down + bool(left)
