"""Partitions of usage on PostgreSQL: each holds the points of one step over a stretch of time."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.database import partitions
from scheduler_admin.core.database.partitions import Partition, Table
from scheduler_admin.usage import rollup
from scheduler_admin.usage.models import Usage

USAGE = Table("history_usage", "step, start")
LENGTHS = {10: timedelta(hours=6), 60: timedelta(days=7), 3600: timedelta(days=91)}
"""By step. Whole blocks, and so much longer than they need be rows are stored."""
_EPOCH = datetime.fromtimestamp(0, UTC)


class Stretch(NamedTuple):
    """What one partition holds."""

    step: int
    start: datetime
    end: datetime
    partition: Partition


def make_ahead(*, now: datetime) -> None:
    """Make sure that there is a partition for what begins now, and for what begins after that."""
    if not partitions.partitioned(USAGE):
        return
    known, kept = list(_stretches()), rollup.keeps()
    for step, length in LENGTHS.items():
        oldest = max(kept[step], length) if any(one.step == step for one in known) else timedelta()
        start = max([_begin(now - oldest, length), *(one.end for one in known if one.step == step)])
        while start <= now + length:
            partitions.add([USAGE], f"{step}_{start:%Y%m%d%H}", (step, start), (step, start + length))
            start += length
    partitions.analyze([USAGE])


def drop_past(*, now: datetime) -> dict[int, datetime]:
    """Drop partitions of which nothing is kept any more. Return by step where the others begin; empty without any."""
    if not partitions.partitioned(USAGE):
        return {}
    limits = [(cluster, rollup.limits(cluster=cluster, now=now)) for cluster in Cluster.objects.all()]
    begins: dict[int, datetime] = {}
    for one in _stretches():
        ours = Usage.objects.filter(step=one.step, start__gte=one.start, start__lt=one.end)
        if one.end <= now - rollup.keeps()[one.step] and not any(
            ours.filter(cluster=cluster, start__gte=limit[one.step]).exists() for cluster, limit in limits
        ):
            partitions.drop([USAGE], one.partition)
        else:
            begins.setdefault(one.step, one.start)
    return begins


def _stretches() -> Iterator[Stretch]:
    for one in partitions.partitions_of(USAGE):
        assert one.low is not None
        (step, start), (_step, end) = one.low, one.high
        yield Stretch(int(step), datetime.fromisoformat(start), datetime.fromisoformat(end), one)


def _begin(at: datetime, length: timedelta) -> datetime:
    return _EPOCH + (at - _EPOCH) // length * length
