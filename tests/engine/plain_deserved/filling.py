"""Raising all shares together as far as there is something to raise them with: dominant resource fairness.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011; floors, caps and weights are as docs/policies/deserved.md
says. Exact: the level at which something changes is a fraction.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

import msgspec

from engine.model.quantities import Amounts

Exact = dict[str, Fraction]
"""Resource -> amount, not yet rounded to its unit."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What one of those that divide something asks of it."""

    name: str
    request: Amounts = {}
    """Of resources that the cluster has, each more than nothing."""
    floor: Exact = {}
    """It has that much whatever it asks, never more than its cap."""
    cap: Amounts = {}
    """A resource that is missing is not capped."""
    weight: Fraction = Fraction(1)

    @property
    def most(self) -> Fraction:
        """The part of its request at which it meets its first cap, at most all of it."""
        capped = (Fraction(self.cap[name], amount) for name, amount in self.request.items() if name in self.cap)
        return min([Fraction(1), *capped])

    def at(self, part: Fraction) -> Exact:
        """What it has where it is given that part of its request."""
        given = {name: part * amount for name, amount in self.request.items()}
        return given | {name: max(amount, given.get(name, amount)) for name, amount in self.floor.items()}


class _Step(NamedTuple):
    """At a level a claim grows out of its floor in a resource; where none is named, it has all that it may have."""

    level: Fraction
    claim: Claim
    resource: str


def fill(claims: Iterable[Claim], pool: Mapping[str, int], capacity: Mapping[str, int]) -> dict[str, Exact]:
    """What each gets of a pool that holds all their floors; shares are measured against the whole ``capacity``."""
    claims = tuple(claims)
    parts = _Rising(claims, pool, capacity).run()
    return {claim.name: claim.at(parts.get(claim.name, Fraction(0))) for claim in claims}


class _Rising:
    """The level goes up from one step to the next, or to where a resource is used up if that comes first."""

    def __init__(self, claims: tuple[Claim, ...], pool: Mapping[str, int], capacity: Mapping[str, int]) -> None:
        self.level = Fraction(0)
        self.paces = {one.name: _pace(one, capacity) for one in claims if one.request and one.weight}
        self.steps = sorted(
            (step for one in claims if one.name in self.paces for step in self._steps(one)),
            key=lambda step: (step.level, step.claim.name),
        )
        self.left: dict[str, Fraction] = {name: Fraction(amount) for name, amount in pool.items()}
        for claim in claims:
            for name, amount in claim.floor.items():
                self.left[name] = self.left.get(name, Fraction(0)) - amount
        self.growing: dict[str, dict[str, Claim]] = {name: {} for name in capacity}
        self.speeds: dict[str, Fraction] = {name: Fraction(0) for name in capacity}
        self.parts: dict[str, Fraction] = {}

    def _steps(self, claim: Claim) -> Iterable[_Step]:
        pace, most = self.paces[claim.name], claim.most
        yield _Step(most / pace, claim, "")
        for name, amount in claim.request.items():
            begin = Fraction(claim.floor.get(name, 0)) / amount
            if begin < most:
                yield _Step(begin / pace, claim, name)

    def run(self) -> dict[str, Fraction]:
        """Name -> the part of its request at which each stopped."""
        for step in self.steps:
            self._use_up_to(step.level)
            self._rise(step.level)
            if step.claim.name in self.parts:
                continue
            if not step.resource or not self.left.get(step.resource):
                self._stop(step.claim)
            else:
                self._change(step.claim, step.resource, 1)
        return self.parts

    def _use_up_to(self, level: Fraction) -> None:
        """Stop, up to a level, whoever grows in a resource when it is used up."""
        while True:
            ends = {name: self.level + self.left[name] / speed for name, speed in self.speeds.items() if speed}
            first = min(ends, key=lambda name: (ends[name], name), default=None)
            if first is None or ends[first] > level:
                return
            self._rise(ends[first])
            for claim in tuple(self.growing[first].values()):
                self._stop(claim)

    def _rise(self, level: Fraction) -> None:
        if level > self.level:
            for name, speed in self.speeds.items():
                if speed:
                    self.left[name] -= speed * (level - self.level)
            self.level = level

    def _stop(self, claim: Claim) -> None:
        self.parts[claim.name] = self.level * self.paces[claim.name]
        for name in claim.request:
            if claim.name in self.growing[name]:
                self._change(claim, name, -1)

    def _change(self, claim: Claim, resource: str, sign: int) -> None:
        """Let it grow in a resource from here on, or with -1 no longer."""
        self.speeds[resource] += sign * self.paces[claim.name] * claim.request[resource]
        if sign > 0:
            self.growing[resource][claim.name] = claim
        else:
            del self.growing[resource][claim.name]


def _pace(claim: Claim, capacity: Mapping[str, int]) -> Fraction:
    """The part of its request that it gets for a level of 1: its weight by its dominant share."""
    return claim.weight / max(Fraction(amount, capacity[name]) for name, amount in claim.request.items())
