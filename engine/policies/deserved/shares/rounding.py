"""Rounds shares to whole units.

Shares are rounded down, and then the rest is given away in the order of names so that nothing is idle.
"""

from collections.abc import Sequence

import numpy as np

from engine.model.columns.node_columns import Numbers, Rows
from engine.policies.deserved.shares.claims import SLACK, Claims
from engine.policies.deserved.shares.progressive_filling import ShareBounds


def round_shares(claims: Claims, shares: ShareBounds) -> Numbers:
    """Return the shares in whole units; rows are in the order of names.

    Each claimant gets at least its exact share rounded down. The rest first raises claimants to their exact shares
    rounded up, then goes to any claimant that can use it.
    """
    found = shares.low
    free = np.array(claims.pool, found.dtype) - found.sum(axis=0)
    asked = claims.request > 0
    for most in (np.where(asked, shares.high, 0), claims.usable):
        for row in raisable_rows(claims, found, most, free).tolist():
            more = raise_alone(claims.request[row].tolist(), found[row].tolist(), most[row].tolist(), free.tolist())
            found[row] += more
            free -= more
    return found


def raisable_rows(claims: Claims, given: Numbers, most: Numbers, free: Numbers) -> Rows:
    """Return the rows of claimants that may get something more; all others certainly get nothing.

    A claimant gets nothing if nothing is left of the resource of which it has the smallest part of its request.
    """
    asked = claims.request > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(asked, given.astype(np.float64) / claims.request.astype(np.float64), np.inf)
    smallest = asked & (parts <= parts.min(axis=1, keepdims=True) * (1 + SLACK))
    can = smallest & (given < most) & (free > 0)
    return np.flatnonzero(claims.rising & can.any(axis=1))


def raise_alone(request: Sequence[int], given: Sequence[int], most: Sequence[int], free: Sequence[int]) -> list[int]:
    """Return what a claimant gets in addition if it alone is raised with what is free.

    Of each resource it gets as much as it can use.
    """
    upper, lower = 1, 0
    for asked, has, limit, left in zip(request, given, most, free, strict=True):
        if asked:
            reach = min(limit, has + left)
            if not lower or reach * lower < upper * asked:
                upper, lower = reach, asked
    return [max(-(-upper * asked // lower) - has, 0) if asked else 0 for asked, has in zip(request, given, strict=True)]
