"""Who has what of whom: what some use beyond what they deserve is what others deserve and don't use."""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from operator import sub

import msgspec

NOBODY = ""
"""Lends what is used beyond what anybody deserves."""


class Standing(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a consumer uses and deserves of one resource."""

    used: int
    deserved: int


class Loan(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one consumer uses of what another deserves, in one resource."""

    borrower: str
    lender: str
    amount: int


def loans(standings: Mapping[str, Standing], about: Callable[[str], bool] = lambda _path: True) -> tuple[Loan, ...]:
    """Of one resource, in order of the borrowers' names; a lender lends to nobody more than it deserves and leaves.

    Each borrower has of every lender in proportion to what that could lend. Exact to the unit: what a borrower has of
    all is what it uses beyond what it deserves. Only those that are ``about`` the borrower or the lender: there may be
    as many as pairs of queues.
    """
    over = {path: one.used - one.deserved for path, one in sorted(standings.items()) if one.used > one.deserved}
    idle = {path: one.deserved - one.used for path, one in sorted(standings.items()) if one.used < one.deserved}
    borrowed = sum(over.values())
    lent = divided(min(borrowed, sum(idle.values())), idle)
    lent[NOBODY] = borrowed - sum(lent.values())
    lenders, left = list(lent), list(lent.values())
    known = [place for place, lender in enumerate(lenders) if about(lender)]
    found = []
    for borrower, amount in over.items():
        parts = _parts(amount, left)
        left = list(map(sub, left, parts))
        found += [
            Loan(borrower=borrower, lender=lenders[place], amount=parts[place])
            for place in (range(len(lenders)) if about(borrower) else known)
            if parts[place]
        ]
    return tuple(found)


def divided(amount: int, limits: Mapping[str, int]) -> dict[str, int]:
    """An amount in proportion to limits that together hold it: whole units, none above its limit, all of it."""
    return dict(zip(limits, _parts(amount, list(limits.values())), strict=True))


def _parts(amount: int, limits: Sequence[int]) -> list[int]:
    upto = list(accumulate(limits, initial=0))
    whole = upto[-1] or 1
    bounds = [amount * one // whole for one in upto]
    return [high - low for low, high in pairwise(bounds)]
