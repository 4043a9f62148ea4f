"""The share of a queue, by which a policy compares queues, with the values that it is computed from."""

from enum import StrEnum
from fractions import Fraction

import msgspec


class ShareBasis(StrEnum):
    """What a share counts."""

    BORROWED = "borrowed"
    """What the queue borrows of what its cohort could lend, in thousandths."""
    USED = "used"
    """What the queue uses of the cluster, as a fraction: its dominant share."""


class QueueShare(msgspec.Struct, frozen=True, kw_only=True):
    """The share of a queue, for the resource of which it is largest, divided by the queue's weight."""

    basis: ShareBasis
    value: str
    """The share divided by the weight: ``187.5``, ``0.25``; ``+Inf`` for a queue that borrows with a weight of 0."""
    weight: str
    resource: str = ""
    """The resource of which the share is largest; empty: the queue counts nothing, or nothing that could be lent."""
    amount: int = 0
    """What is counted of that resource, in its integer units."""
    whole: int = 0
    """What that is a part of."""
    borrows: bool = False
    """Whether the queue borrows anything, even if nothing of that can be lent."""


def write_fraction(number: Fraction) -> str:
    """Return a fraction as an integer, or with the decimal places of a float."""
    return str(number.numerator) if number.denominator == 1 else repr(float(number))
