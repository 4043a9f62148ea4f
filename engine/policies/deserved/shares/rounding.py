"""Shares in whole units: rounded down, and then what that left given away in order of names, so that nothing idles."""

from collections.abc import Sequence

import numpy as np

from engine.model.columns.node_columns import Numbers, Rows
from engine.policies.deserved.shares.claims import SLACK, Claims
from engine.policies.deserved.shares.progressive_filling import ShareBounds


def whole(claims: Claims, shares: ShareBounds) -> Numbers:
    """Each at least its exact share rounded down; what is left first up to that rounded up, then to who can use it.

    Rows are in the order of names.
    """
    found = shares.low
    free = np.array(claims.pool, found.dtype) - found.sum(axis=0)
    asked = claims.request > 0
    for most in (np.where(asked, shares.high, 0), claims.usable):
        for row in raisable(claims, found, most, free).tolist():
            more = raised(claims.request[row].tolist(), found[row].tolist(), most[row].tolist(), free.tolist())
            found[row] += more
            free -= more
    return found


def raisable(claims: Claims, given: Numbers, most: Numbers, free: Numbers) -> Rows:
    """The rows of those that may get something on top; of all others it is certain that they get nothing.

    Somebody gets nothing where there is no more of the resource of which it has the smallest part of its request.
    """
    asked = claims.request > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(asked, given.astype(np.float64) / claims.request.astype(np.float64), np.inf)
    smallest = asked & (parts <= parts.min(axis=1, keepdims=True) * (1 + SLACK))
    can = smallest & (given < most) & (free > 0)
    return np.flatnonzero(claims.rising & can.any(axis=1))


def raised(request: Sequence[int], given: Sequence[int], most: Sequence[int], free: Sequence[int]) -> list[int]:
    """What it gets on top where it alone is raised with what is free: of each resource as much as it can use."""
    upper, lower = 1, 0
    for asked, has, limit, left in zip(request, given, most, free, strict=True):
        if asked:
            reach = min(limit, has + left)
            if not lower or reach * lower < upper * asked:
                upper, lower = reach, asked
    return [max(-(-upper * asked // lower) - has, 0) if asked else 0 for asked, has in zip(request, given, strict=True)]
