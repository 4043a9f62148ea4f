"""Rolls usage up, from samples to blocks and from finer blocks to coarser ones, and drops what is past its time.

Every batch is a transaction of its own, short enough for passes to write in between. What is written is never changed,
and the root's row comes last: it says that its block is whole. So a roll-up that is killed is taken up again where it
ended, and two at once write the same.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain, groupby, pairwise
from operator import attrgetter
from types import MappingProxyType

from django.conf import settings

from engine.model.queue_tree import ROOT
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.bulk import drop
from scheduler_admin.usage.models import Usage, UsageSample
from scheduler_admin.usage.runs import (
    LEVELS,
    Level,
    Run,
    joined,
    pack,
    read_now,
    run_of,
    thinned,
    unpack,
    unpack_sample,
)

LATE = timedelta(minutes=1)
"""A pass may store its sample so long after the moment that it is of."""
_BATCH = 50


def roll_up(*, cluster: Cluster, now: datetime, for_s: float) -> None:
    """Write all blocks of a cluster that are due; after ``for_s`` seconds the rest is left to the next time."""
    until_s = time.monotonic() + for_s
    coarser = (_roll(cluster, *levels, now) for levels in pairwise(LEVELS))
    for _batch in chain(_gather(cluster, now), *coarser):
        if time.monotonic() >= until_s:
            return


def keeps() -> dict[int, timedelta]:
    """How long points are kept, by their seconds."""
    lengths = (
        timedelta(hours=settings.USAGE_10S_HOURS),
        timedelta(days=settings.USAGE_1MIN_DAYS),
        timedelta(days=settings.USAGE_1H_DAYS),
    )
    return {level.step: length for level, length in zip(LEVELS, lengths, strict=True)}


def limits(*, cluster: Cluster, now: datetime) -> dict[int, datetime]:
    """Return, by step, before when blocks of a cluster are past their time. All of those are rolled up."""
    kept, found = keeps(), dict[int, datetime]()
    for level, coarser in zip(LEVELS, (*LEVELS[1:], None), strict=True):
        limit = now - kept[level.step] - timedelta(seconds=level.span)
        found[level.step] = min(limit, _whole_until(cluster, coarser)) if coarser else limit
    return found


def prune(*, cluster: Cluster, now: datetime, begins: Mapping[int, datetime] = MappingProxyType({})) -> None:
    """Drop blocks that are past their time; by step from ``begins`` on they go with their partitions."""
    for step, limit in limits(cluster=cluster, now=now).items():
        drop(Usage.objects.filter(cluster=cluster, step=step, start__lt=min(limit, begins.get(step, limit))))


def _gather(cluster: Cluster, now: datetime) -> Iterator[None]:
    """Samples of all queues at once become blocks of each."""
    level, rows = LEVELS[0], UsageSample.objects.filter(cluster=cluster)
    while (first := rows.order_by("at").values_list("at", flat=True).first()) and _over(level, first, now):
        start, end = _block(level, first)
        block = rows.filter(at__gte=start, at__lt=end)
        samples = [
            (int(at.timestamp()), unpack_sample(document))
            for at, document in block.order_by("at").values_list("at", "document")
        ]
        for paths in _batches(cluster, level, start, {path for _at, queues in samples for path in queues}):
            moments = {
                path: [(at, read_now(queues[path])) for at, queues in samples if path in queues] for path in paths
            }
            _write(cluster, level, start, {path: run_of(those) for path, those in moments.items()}.items())
            yield
        block.delete()


def _roll(cluster: Cluster, finer: Level, level: Level, now: datetime) -> Iterator[None]:
    """Blocks of a level from the finer one's, all of which are there by now: those are written before."""
    rows = Usage.objects.filter(cluster=cluster, step=finer.step)
    of_root = rows.filter(queue=ROOT).order_by("start").values_list("start", flat=True)
    while (first := of_root.filter(start__gte=_whole_until(cluster, level)).first()) and _over(level, first, now):
        start, end = _block(level, first)
        block = rows.filter(start__gte=start, start__lt=end)
        for paths in _batches(cluster, level, start, block.order_by().values_list("queue", flat=True).distinct()):
            found = block.filter(queue__in=paths).order_by("queue", "start")
            runs = (
                (path, thinned(joined([unpack(row.document) for row in each]), level.step))
                for path, each in groupby(found, key=attrgetter("queue"))
            )
            _write(cluster, level, start, runs)
            yield


def _batches(cluster: Cluster, level: Level, start: datetime, queues: Iterable[str]) -> Iterator[Sequence[str]]:
    """The queues that have no row yet, the root last of all."""
    there = Usage.objects.filter(cluster=cluster, step=level.step, start=start).values_list("queue", flat=True)
    left = sorted({*queues} - {*there}, key=lambda path: (path == ROOT, path))
    return (left[at : at + _BATCH] for at in range(0, len(left), _BATCH))


def _write(cluster: Cluster, level: Level, start: datetime, runs: Iterable[tuple[str, Run]]) -> None:
    Usage.objects.bulk_create(
        [Usage(cluster=cluster, queue=path, step=level.step, start=start, document=pack(run)) for path, run in runs],
        ignore_conflicts=True,
    )


def _whole_until(cluster: Cluster, level: Level) -> datetime:
    rows = Usage.objects.filter(cluster=cluster, queue=ROOT, step=level.step).order_by("-start")
    last = rows.values_list("start", flat=True).first()
    return last + timedelta(seconds=level.span) if last else datetime.fromtimestamp(0, UTC)


def _block(level: Level, at: datetime) -> tuple[datetime, datetime]:
    """The block that holds a time: from, to."""
    start = datetime.fromtimestamp(level.start(int(at.timestamp())), UTC)
    return start, start + timedelta(seconds=level.span)


def _over(level: Level, at: datetime, now: datetime) -> bool:
    """Whether the block that holds a time is over."""
    return _block(level, at)[1] + LATE <= now
