"""Adds up what happens under one side: evictions, waits, and how long queues were below their guarantees."""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta

from engine.model.decision import PodFacts
from engine.model.quantities import Amounts, add
from engine.observation.lost_work import unsaved_s, work
from engine.planning.comparison.figures import WHOLE, CoursePoint, SideFigures, Waits
from engine.planning.comparison.queue_demand import QueueDemand

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


class OutcomeCounts:
    """The counts so far. Pods are identified by a key that stays the same when a pod is created again."""

    def __init__(self) -> None:
        self.decisions = 0
        self.placed = 0
        self.preempted: list[str] = []
        """Keys of the preempted pods, in order."""
        self._applications: set[tuple[str, str]] = set()
        self._work: Amounts = {}
        self._unknown = 0
        self._waited: dict[str, int] = {}
        """Key of a pending pod -> ms."""
        self._served: set[str] = set()
        self._below: dict[str, int] = {}
        self._below_ms = self._jain_ms = self._jain = self._all_ms = 0
        self._shares: dict[str, int] = {}
        self._course: list[CoursePoint] = []

    def evict(self, key: str, pod: PodFacts, *, at_ms: int) -> None:
        """Count a pod that is preempted at a time, with the work since its start or last checkpoint."""
        self.preempted.append(key)
        self._applications.add((pod.namespace, pod.application))
        if pod.started_ms is None:
            self._unknown += 1
            return
        checkpoint = None if pod.checkpoint_ms is None else _time(pod.checkpoint_ms)
        unsaved = unsaved_s(started=_time(pod.started_ms), checkpoint=checkpoint, evicted=_time(at_ms))
        self._work = add(self._work, work(pod.requests, unsaved))

    def serve(self, key: str) -> None:
        """Count that a pod gets a node; a pod that did not wait has a wait of zero."""
        self.placed += 1
        self._served.add(key)
        self._waited.setdefault(key, 0)

    def add_state(self, demand: QueueDemand, waiting: Collection[str], *, at_ms: int, for_ms: int) -> None:
        """Add the state from a time on, for a duration. ``waiting``: keys of the pods without a node."""
        self._all_ms += for_ms
        for key in waiting:
            self._waited[key] = self._waited.get(key, 0) + for_ms
        for path in demand.short:
            self._below[path] = self._below.get(path, 0) + for_ms
        self._below_ms += for_ms if demand.short else 0
        if demand.jain is not None:
            self._jain_ms += for_ms
            self._jain += demand.jain * for_ms
        for leaf, share in demand.shares.items():
            self._shares[leaf] = self._shares.get(leaf, 0) + int(share * WHOLE) * for_ms
        point = CoursePoint(
            at_ms=at_ms,
            preempted=len(self.preempted),
            waiting=len(waiting),
            short=len(demand.short),
            jain=demand.jain,
        )
        self._course.append(point)

    def figures(self, demand: QueueDemand, waiting: Collection[str]) -> SideFigures:
        """Return all figures, with the state at the end."""
        served_ms = [ms for key, ms in self._waited.items() if key in self._served and key not in waiting]
        unserved_ms = [ms for key, ms in self._waited.items() if key not in self._served or key in waiting]
        timed = self._all_ms > 0
        return SideFigures(
            decisions=self.decisions,
            preempted=len(self.preempted),
            again=len(self.preempted) - len(set(self.preempted)),
            applications=len(self._applications),
            work=dict(sorted(self._work.items())),
            unknown=self._unknown,
            placed=self.placed,
            waiting=len(waiting),
            waits=Waits.of(served_ms, unserved_ms) if timed else None,
            jain=self._mean_jain() if timed else demand.jain,
            below=dict(sorted(self._below.items())),
            below_ms=self._below_ms if timed else None,
            short=dict(sorted(demand.short.items())),
            shares=self._mean_shares() if timed else _shares(demand),
            course=sample_points(self._course),
        )

    def _mean_jain(self) -> int | None:
        return self._jain // self._jain_ms if self._jain_ms else None

    def _mean_shares(self) -> dict[str, int]:
        return {leaf: part // self._all_ms for leaf, part in sorted(self._shares.items())}


POINTS = 240
"""The most points of a course: more would share pixels."""


def sample_points(course: Iterable[CoursePoint]) -> tuple[CoursePoint, ...]:
    """Return at most POINTS of the points, evenly spaced, with the last one, as sums run up to it."""
    points = list(course)
    if len(points) <= POINTS:
        return tuple(points)
    return tuple(points[place * (len(points) - 1) // (POINTS - 1)] for place in range(POINTS))


def _shares(demand: QueueDemand) -> dict[str, int]:
    return {leaf: int(share * WHOLE) for leaf, share in demand.shares.items()}


def _time(ms: int) -> datetime:
    return _BEGINNING + timedelta(milliseconds=ms)
