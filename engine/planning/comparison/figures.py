"""What a comparison found of one side: plain data, exact integers."""

from collections.abc import Iterable

import msgspec

from engine.model.quantities import Amounts

WHOLE = 1_000_000
"""Shares and Jain's index are told in millionths, rounded down."""


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """How long those waited who got a node, in milliseconds; who waits again after an eviction waits on."""

    half_ms: int
    """Half of them waited no longer."""
    most_ms: int
    """95 of 100 did."""
    sum_ms: int
    """All asks together, also those that still wait."""

    @classmethod
    def of(cls, served: Iterable[int], others: Iterable[int]) -> "Waits | None":
        """None where nobody got a node. ``others`` waited too."""
        ordered = sorted(served)
        if not ordered:
            return None
        return cls(half_ms=_rank(ordered, 50), most_ms=_rank(ordered, 95), sum_ms=sum(ordered) + sum(others))


def _rank(ordered: list[int], percent: int) -> int:
    """The lowest that so many of a hundred do not exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1]


class CoursePoint(msgspec.Struct, frozen=True, kw_only=True):
    """How it stood at one time of the course."""

    at_ms: int
    preempted: int
    """Pods since the beginning."""
    waiting: int
    """Asks."""
    short: int
    """Queues below their guarantee while asks wait for what they lack."""
    jain: int | None
    """See Figures."""


class SideFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What happened, or would have, under one side. What takes time has no figure where it is about one moment."""

    decisions: int
    """That preempted."""
    preempted: int
    """Pods; one that goes twice counts twice."""
    again: int
    """Of those, how many had been preempted before within the time."""
    applications: int
    """That lost a pod."""
    work: Amounts
    """Thrown away, as in engine.observation.lost_work."""
    unknown: int = 0
    """Preempted pods of which it is not known when they had started; their work is not in ``work``."""
    placed: int
    """Times that an ask got a node."""
    waiting: int
    """Asks that still wait in the end."""
    waits: Waits | None = None
    jain: int | None = None
    """Jain's index over the dominant shares of the leaves with demand, in millionths: its mean over time, or that of
    the end where it is about one moment. None: no leaf had any."""
    below: dict[str, int] = {}
    """Path -> for how many ms it was below its guarantee while asks waited for what it lacked."""
    below_ms: int | None = None
    """For how long any queue was."""
    short: dict[str, int] = {}
    """Path -> how many asks wait in the end for what the queue lacks of its guarantee."""
    shares: dict[str, int] = {}
    """Leaf -> its dominant share of the cluster in millionths: its mean over time, or that of the end."""
    loop: tuple[str, ...] = ()
    """The queues (paths) that would preempt each other in turn, for ever; only where it is about one moment."""
    settles: bool | None = None
    """Whether it came to rest; only where it is about one moment."""
    course: tuple[CoursePoint, ...] = ()
    """How it went, in order of time; none where it is about one moment."""
