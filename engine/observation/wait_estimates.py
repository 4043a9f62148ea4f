"""How long asks waited, what that tells of those to come, and whether what was told came true: exact, in integers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction

import msgspec

from engine.model.quantities import PODS, Amounts

FEWEST = 10
"""So many that got room must be known before anything is told."""
HALF, MOST = Fraction(1, 2), Fraction(9, 10)
_DOUBT = Fraction(1, 40)
"""What a true estimate would bring about less often than this, on either side, speaks against it."""


class ObservedWait(msgspec.Struct, frozen=True):
    """One ask's: how long it is known to have waited, and whether it then got room; else it went away, or waits on."""

    lasted_ms: int
    bound: bool


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Within how long such asks got room."""

    half_ms: int
    """Half of them."""
    most_ms: int | None
    """Nine of ten; None where too few are known to have got room by then."""
    known: int
    """From how many that got room."""


def estimate(waits: Iterable[ObservedWait]) -> Estimate | None:
    """What the waits so far tell of another one; None where too few are known.

    Those that went away, or wait on, count for as long as they waited: the product-limit estimator of Kaplan and Meier
    (Nonparametric estimation from incomplete observations, Journal of the American Statistical Association 53, 1958).
    """
    found = list(waits)
    known = sum(wait.bound for wait in found)
    if known < FEWEST:
        return None
    half, most = _within(found, (HALF, MOST))
    return None if half is None else Estimate(half_ms=half, most_ms=most, known=known)


def _within(waits: Sequence[ObservedWait], parts: Sequence[Fraction]) -> list[int | None]:
    """The first time by which each part of them would have got room, had none gone away; None: never known."""
    bound = Counter(wait.lasted_ms for wait in waits if wait.bound)
    ended = Counter(wait.lasted_ms for wait in waits)
    found: list[int | None] = [None] * len(parts)
    waiting, left = len(waits), Fraction(1)
    for at in sorted(ended):
        if bound[at]:
            left *= Fraction(waiting - bound[at], waiting)
            found = [at if time is None and 1 - left >= part else time for time, part in zip(found, parts, strict=True)]
        waiting -= ended[at]
    return found


def shape_of(requests: Mapping[str, int]) -> Amounts:
    """What asks of like size have in common: each amount up to the next power of two, the pod itself left out."""
    return {
        name: 1 << (amount - 1).bit_length() for name, amount in sorted(requests.items()) if amount > 0 and name != PODS
    }


class PredictionVerdict(StrEnum):
    """What came of what was told."""

    TOO_FEW = "too-few"
    TRUE = "true"
    """As often as told, or as near to it as chance goes."""
    TOO_SHORT = "too-short"
    """It took longer than told more often than it should."""
    TOO_LONG = "too-long"


class WaitPrediction(msgspec.Struct, frozen=True):
    """What was told of an ask when it was first seen, and how it went."""

    within_ms: int
    wait: ObservedWait
    since_ms: int
    """How long ago it was first seen."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """How many of those got room in time of whom it can be known."""

    in_time: int
    of: int
    verdict: PredictionVerdict


def check(told: Iterable[WaitPrediction], part: Fraction) -> Checked:
    """Whether that ``part`` of them got room within what was told.

    Left out are those whose time is not over, as those that got room early would count and the others not yet; and
    those that went away before, of whom nobody knows.
    """
    over = [one for one in told if one.since_ms >= one.within_ms]
    judged = [one for one in over if one.wait.bound or one.wait.lasted_ms >= one.within_ms]
    in_time = sum(one.wait.bound and one.wait.lasted_ms <= one.within_ms for one in judged)
    return Checked(in_time=in_time, of=len(judged), verdict=_verdict(in_time, len(judged), part))


def _verdict(count: int, of: int, part: Fraction) -> PredictionVerdict:
    """By the binomial distribution, exactly: how likely so few, or so many, are if the estimate is true."""
    if of < FEWEST:
        return PredictionVerdict.TOO_FEW
    chances = _chances(of, part)
    doubt = _DOUBT * part.denominator**of
    if sum(chances[: count + 1]) < doubt:
        return PredictionVerdict.TOO_SHORT
    return PredictionVerdict.TOO_LONG if sum(chances[count:]) < doubt else PredictionVerdict.TRUE


def _chances(of: int, part: Fraction) -> list[int]:
    """How likely each number of them is, in parts of ``part.denominator**of``: fractions take far longer."""
    does, not_ = part.numerator, part.denominator - part.numerator
    chances = [not_**of]
    for k in range(of):
        chances.append(chances[k] * (of - k) * does // ((k + 1) * not_))  # without a remainder
    return chances
