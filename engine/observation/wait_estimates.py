"""Estimate how long pods will wait from past waits, and check past estimates; exactly, in integers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction

import msgspec

from engine.model.quantities import PODS, Amounts

FEWEST = 10
"""Minimum number of pods that got room, for an estimate to be made."""
HALF, MOST = Fraction(1, 2), Fraction(9, 10)
_DOUBT = Fraction(1, 40)
"""Rejection threshold on either side: a less likely outcome speaks against the estimate."""


class ObservedWait(msgspec.Struct, frozen=True):
    """How long a pod is known to have waited, and whether it then got room; if not, it was deleted or still waits."""

    lasted_ms: int
    bound: bool


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """The time within which similar pods got room."""

    half_ms: int
    """The time within which half of them got room."""
    most_ms: int | None
    """The time within which nine of ten got room; None if too few are known to have got room by then."""
    known: int
    """Number of pods that got room, on which the estimate is based."""


def estimate(waits: Iterable[ObservedWait]) -> Estimate | None:
    """Return an estimate for another pod from past waits, or None if too few of them are known.

    Pods that were deleted or still wait count for as long as they waited: the product-limit estimator of Kaplan and
    Meier (Nonparametric estimation from incomplete observations, Journal of the American Statistical Association 53,
    1958).
    """
    past_waits = list(waits)
    known = sum(wait.bound for wait in past_waits)
    if known < FEWEST:
        return None
    half, most = _within(past_waits, (HALF, MOST))
    return None if half is None else Estimate(half_ms=half, most_ms=most, known=known)


def _within(waits: Sequence[ObservedWait], parts: Sequence[Fraction]) -> list[int | None]:
    """Return the first times by which each part of the pods would have got room, had none been deleted.

    A time is None if it cannot be known.
    """
    bound = Counter(wait.lasted_ms for wait in waits if wait.bound)
    ended = Counter(wait.lasted_ms for wait in waits)
    times: list[int | None] = [None] * len(parts)
    waiting, still_waiting = len(waits), Fraction(1)
    for time_ms in sorted(ended):
        if bound[time_ms]:
            still_waiting *= Fraction(waiting - bound[time_ms], waiting)
            times = [
                time_ms if time is None and 1 - still_waiting >= part else time
                for time, part in zip(times, parts, strict=True)
            ]
        waiting -= ended[time_ms]
    return times


def shape_of(requests: Mapping[str, int]) -> Amounts:
    """Return a key for pods of similar size: each amount rounded up to a power of two, without ``pods``."""
    return {
        name: 1 << (amount - 1).bit_length() for name, amount in sorted(requests.items()) if amount > 0 and name != PODS
    }


class PredictionVerdict(StrEnum):
    """The result of checking past estimates."""

    TOO_FEW = "too-few-samples"
    ACCURATE = "accurate"
    """The estimate held as often as predicted, within chance."""
    TOO_SHORT = "too-short"
    """Pods waited longer than estimated more often than they should."""
    TOO_LONG = "too-long"


class WaitPrediction(msgspec.Struct, frozen=True):
    """The estimate for a pod when it was first seen, and how long the pod then waited."""

    within_ms: int
    wait: ObservedWait
    since_ms: int
    """How long ago the pod was first seen."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """The number of checkable pods that got room within the estimated time."""

    in_time: int
    of: int
    verdict: PredictionVerdict


def check(predictions: Iterable[WaitPrediction], part: Fraction) -> Checked:
    """Check whether ``part`` of the pods got room within their estimated time.

    Pods whose time is not over are left out, because otherwise those that got room early would count and the rest would
    not. Pods that were deleted before that time are left out too, because their outcome is not known.
    """
    over = [prediction for prediction in predictions if prediction.since_ms >= prediction.within_ms]
    judged = [
        prediction for prediction in over if prediction.wait.bound or prediction.wait.lasted_ms >= prediction.within_ms
    ]
    in_time = sum(prediction.wait.bound and prediction.wait.lasted_ms <= prediction.within_ms for prediction in judged)
    return Checked(in_time=in_time, of=len(judged), verdict=_verdict(in_time, len(judged), part))


def _verdict(count: int, of: int, part: Fraction) -> PredictionVerdict:
    """Judge a count by the exact binomial distribution: how likely an outcome as extreme is for a true estimate."""
    if of < FEWEST:
        return PredictionVerdict.TOO_FEW
    chances = _chances(of, part)
    doubt = _DOUBT * part.denominator**of
    if sum(chances[: count + 1]) < doubt:
        return PredictionVerdict.TOO_SHORT
    return PredictionVerdict.TOO_LONG if sum(chances[count:]) < doubt else PredictionVerdict.ACCURATE


def _chances(of: int, part: Fraction) -> list[int]:
    """Return the probability of each count, in units of 1 / ``part.denominator**of``; fractions would be far slower."""
    does, not_ = part.numerator, part.denominator - part.numerator
    chances = [not_**of]
    for k in range(of):
        chances.append(chances[k] * (of - k) * does // ((k + 1) * not_))  # divides exactly
    return chances
