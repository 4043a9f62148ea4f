"""Adds up many fractions exactly."""

from collections.abc import Iterable
from fractions import Fraction
from math import gcd


def sum_fractions(fractions: Iterable[tuple[int, int]]) -> Fraction:
    """Sum many fractions, each given as a numerator and a denominator.

    Fractions with equal denominators are added first, then pairs of sums. That way few numbers ever become large.
    """
    sums: dict[int, int] = {}
    for numerator, denominator in fractions:
        sums[denominator] = sums.get(denominator, 0) + numerator
    pairs = sorted((denominator, numerator) for denominator, numerator in sums.items())
    while len(pairs) > 1:
        odd = pairs[-1:] if len(pairs) % 2 else []
        pairs = [_sum(one, other) for one, other in zip(pairs[::2], pairs[1::2], strict=False)] + odd
    return Fraction(pairs[0][1], pairs[0][0]) if pairs else Fraction(0)


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    common = gcd(one[0], other[0])
    of_one, of_other = other[0] // common, one[0] // common
    return one[0] * of_one, one[1] * of_one + other[1] * of_other
