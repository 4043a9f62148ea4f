"""The figures of one side of a comparison: plain data, exact integers."""

from collections.abc import Iterable

import msgspec

from engine.model.quantities import Amounts

WHOLE = 1_000_000
"""The unit of shares and of Jain's index: they are in millionths, rounded down."""


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """How long the placed pods waited, in milliseconds; after an eviction, a pod's wait continues to add up."""

    half_ms: int
    """The median: half of them waited no longer."""
    most_ms: int
    """The 95th percentile: 95 of 100 waited no longer."""
    sum_ms: int
    """The sum over all pending pods, including those that still wait."""

    @classmethod
    def of(cls, served: Iterable[int], unserved: Iterable[int]) -> "Waits | None":
        """Return the waits of placed pods; None where none was placed. ``unserved`` are pods that waited in vain."""
        ordered = sorted(served)
        if not ordered:
            return None
        return cls(half_ms=_rank(ordered, 50), most_ms=_rank(ordered, 95), sum_ms=sum(ordered) + sum(unserved))


def _rank(ordered: list[int], percent: int) -> int:
    """Return the percentile: the lowest value that ``percent`` of a hundred do not exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1]


class CoursePoint(msgspec.Struct, frozen=True, kw_only=True):
    """The state at one time of the course."""

    at_ms: int
    preempted: int
    """The pods preempted since the beginning."""
    waiting: int
    """The number of pending pods."""
    short: int
    """The number of queues below their guarantee while pods wait for what these lack."""
    jain: int | None
    """Jain's index; see SideFigures."""


class SideFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What happened, or would have, under one side. Figures that need a duration are missing for a single moment."""

    decisions: int
    """The number of decisions that preempted."""
    preempted: int
    """The number of preempted pods; a pod that is preempted twice counts twice."""
    again: int
    """How many of the preempted pods had been preempted before in the same time."""
    applications: int
    """The number of applications that lost a pod."""
    work: Amounts
    """The lost work, as in engine.observation.lost_work."""
    unknown: int = 0
    """Preempted pods whose start is unknown; their lost work is not in ``work``."""
    placed: int
    """How often a pending pod got a node."""
    waiting: int
    """The pods that still wait in the end."""
    waits: Waits | None = None
    jain: int | None = None
    """Jain's index over the dominant shares of the leaves with demand, in millionths.

    It is the mean over time, or the index at the end where it is about one moment. None: no leaf had any demand.
    """
    below: dict[str, int] = {}
    """Queue path -> for how many ms it was below its guarantee while pods waited for what it lacked."""
    below_ms: int | None = None
    """For how long any queue was below its guarantee."""
    short: dict[str, int] = {}
    """Queue path -> how many pods wait in the end for what the queue lacks of its guarantee."""
    shares: dict[str, int] = {}
    """Leaf -> its dominant share of the cluster in millionths: the mean over time, or the share at the end."""
    loop: tuple[str, ...] = ()
    """The queues (paths) that would preempt each other in turn, forever; only where it is about one moment."""
    settles: bool | None = None
    """Whether the forecast reached a stable state; only where it is about one moment."""
    course: tuple[CoursePoint, ...] = ()
    """The states over time; none where it is about one moment."""
