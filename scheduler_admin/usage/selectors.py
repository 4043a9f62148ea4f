"""Reads of usage over time: one queue, one resource, in as many points as a screen can show."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

import msgspec
from django.db.models import Max, Min, Q, QuerySet

from scheduler_admin.accounts.former_paths import renames_for, with_former
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.usage import runs
from scheduler_admin.usage.models import Usage, UsageSample
from scheduler_admin.usage.runs import LEVELS, Level, Now, Run

_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
POINTS = 750
"""More would fall on the same pixels."""
STEPS = (10, 20, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400)
"""Seconds from point to point, of which the first is taken that is not too many points."""


class Point(msgspec.Struct, frozen=True, gc=False):
    """One step of the time shown: the mean of what was used, and the highest; guarantee and max as it began.

    ``asks``: the most that waited. ``deserved``: the mean; None where nothing was divided by shares.
    """

    at: datetime
    used: int
    highest: int
    guaranteed: int | None
    max: int | None
    asks: int
    deserved: int | None = None


@dataclass(frozen=True)
class Series:
    """Points in order of time. ``step_s``: how long a time each of them stands for."""

    resource: str
    step_s: int
    read: Callable[[], Iterable[Point]]
    """Reads the points: the news of a page say how far they are apart, and nothing of them."""

    @cached_property
    def points(self) -> list[Point]:
        """The points, read once."""
        return list(self.read())

    @cached_property
    def shared(self) -> bool:
        """Whether it tells what the queue deserved."""
        return any(point.deserved is not None for point in self.points)

    @property
    def rolled(self) -> bool:
        """Whether a point stands for several samples, so that its mean and its highest differ."""
        return self.step_s > STEPS[0]


@dataclass(frozen=True)
class _Piece:
    """Blocks of a level that begin in ``[since, until)``."""

    level: Level
    since: datetime
    until: datetime

    @property
    def rows(self) -> Q:
        return Q(step=self.level.step, start__gte=self.since, start__lt=self.until)


def oldest(user: Who, cluster_id: int, queue: str) -> datetime | None:
    """When a queue's first sample was taken; None while there is none."""
    names = with_former(queue, renames_for(user), alone=True)
    rows = Usage.objects.restrict(user, "view").filter(cluster=cluster_id, queue__in=names)
    first = rows.order_by("-step", "start").values_list("document", flat=True).first()
    if first:
        return _at(runs.unpack(first).times[0])
    if not scope_of(user, "view").has_path(queue):
        return None
    samples = UsageSample.objects.filter(cluster=cluster_id).order_by("at").values_list("at", "document")
    return next((at for at, document in samples if _sample(document, names)), None)


def series(user: Who, cluster: Cluster, queue: str, resource: str, since: datetime, until: datetime) -> Series:
    """Usage of a queue in ``[since, until)``, as finely as that time is kept and a screen can show.

    With what it used under its former paths. One query, and two when the points are read.
    """
    names = with_former(queue, renames_for(user), alone=True)
    rows = Usage.objects.restrict(user, "view").filter(cluster=cluster, queue__in=names)
    since = max(since, _EARLIEST)
    step = _step(until - since)
    pieces, whole_until = _pieces(rows, step, since, until)
    step = max([step, *(piece.level.step for piece in pieces)])

    def read() -> Iterator[Point]:
        found = list(_stored(rows, pieces, resource))
        if scope_of(user, "view").has_path(queue):
            found.append(_sampled(cluster, names, resource, max(since, whole_until), until))
        found.sort(key=lambda run: run.times[:1])  # where a queue was renamed within a block there are two of it
        return _points(runs.thinned(_within(runs.joined(found), since, until, step), step), resource)

    return Series(resource, step, read)


def _step(length: timedelta) -> int:
    return next((step for step in STEPS if length <= POINTS * timedelta(seconds=step)), STEPS[-1])


def _pieces(rows: QuerySet[Usage], step: int, since: datetime, until: datetime) -> tuple[list[_Piece], datetime]:
    """Which blocks to read, in order of time, and up to when they reach.

    The coarsest points that are fine enough; after the last of them finer ones, which are not rolled up yet, and
    before the first of them coarser ones, where the finer ones are past their time.
    """
    extents = _extents(rows, since, until)
    fine = [level for level in reversed(LEVELS) if level.step <= step and level in extents]
    pieces, reached = [], since - timedelta(seconds=LEVELS[-1].span)
    for level in fine:
        first, last = extents[level]
        end = last + timedelta(seconds=level.span)
        if end > reached:
            pieces.append(_Piece(level, max(first, reached), end))
            reached = end
    begin = pieces[0].since if pieces else until
    for level in (level for level in LEVELS if level.step > step and level in extents):
        first, last = extents[level]
        if since < begin and first < begin:
            pieces.insert(0, _Piece(level, first, begin))
            begin, reached = first, max(reached, last + timedelta(seconds=level.span))
    return pieces, reached


def _extents(rows: QuerySet[Usage], since: datetime, until: datetime) -> dict[Level, tuple[datetime, datetime]]:
    """Where the first and the last block of each level begin, of those that reach into a time."""
    reaching = Q()
    for level in LEVELS:
        reaching |= Q(step=level.step, start__gt=since - timedelta(seconds=level.span), start__lt=until)
    found = rows.filter(reaching).order_by().values_list("step").annotate(Min("start"), Max("start"))
    by_step = {step: (first, last) for step, first, last in found}
    return {level: by_step[level.step] for level in LEVELS if level.step in by_step}


def _stored(rows: QuerySet[Usage], pieces: list[_Piece], resource: str) -> Iterator[Run]:
    wanted = Q(pk__in=())
    for piece in pieces:
        wanted |= piece.rows
    ends = {piece.level.step: int(piece.until.timestamp()) for piece in pieces}
    for step, document in rows.filter(wanted).order_by("start").values_list("step", "document"):
        run = runs.unpack_of(document, resource)
        if run:
            yield runs.cut(run, 0, ends[step])


def _sample(document: bytes | memoryview, names: Collection[str]) -> Now | None:
    """What a sample says of a queue, by whichever of its names it had then."""
    return next((now for name in names if (now := runs.unpack_sample_of(document, name))), None)


def _sampled(cluster: Cluster, names: Collection[str], resource: str, since: datetime, until: datetime) -> Run:
    """What is not stored queue by queue yet: some minutes."""
    rows = UsageSample.objects.filter(cluster=cluster, at__gte=since, at__lt=until).order_by("at")
    moments = []
    for at, document in rows.values_list("at", "document"):
        now = _sample(document, names)
        if now and resource in now.amounts:
            moments.append((int(at.timestamp()), now))
    return runs.run_of(moments)


def _within(run: Run, since: datetime, until: datetime, step: int) -> Run:
    """From the beginning of the step in which the time begins."""
    begin = int(since.timestamp())
    return runs.cut(run, begin - begin % step, int(-(-until.timestamp() // 1)))


def _points(run: Run, resource: str) -> Iterator[Point]:
    one = run.amounts.get(resource)
    if one is None:
        return
    columns = (one.used, one.highest, one.guaranteed, one.max, run.asks, one.deserved)
    for at, *values in zip(run.times, *columns, strict=True):
        yield Point(_at(at), *values)


def _at(second: int) -> datetime:
    return datetime.fromtimestamp(second, UTC)
