"""Partitions of decisions on PostgreSQL: each holds a million ids, in the order of time, with all that goes with them.

By ids, and not by the time itself: every row of the others has its decision's id, and so do most queries. Which times a
full partition holds, the database knows as well.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import Max, Min, QuerySet

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.database import partitions
from scheduler_admin.core.database.partitions import Partition, Table
from scheduler_admin.decisions.models import Decision, Happening, LastPreemption, Rewound

SIZE = 1_000_000
"""Ids of one partition: at ten million decisions in two years one is filled in ten weeks."""
DECISIONS, MENTIONS = Table("history_decision", "id"), Table("history_mention", "decision_id")
FAMILY = (DECISIONS, Table("history_victim", "decision_id"), Table("history_step", "decision_id"), MENTIONS)
LEFT = timedelta(days=92)
"""So much longer rows are left that go with their partition then, and need not be deleted one by one."""
_SETTLED = timedelta(days=1)
"""So long after its newest decision nothing is added to a full partition any more."""


class Past(NamedTuple):
    """What is past its time."""

    partitions: list[Partition]
    """These hold nothing else."""
    before: datetime
    """Of the others, decisions that were last considered before this time."""


def make_ahead(*, newest: int | None = None) -> None:
    """Make sure that a whole partition is empty beyond the ``newest`` id; without one, of what is stored."""
    if not partitions.partitioned(DECISIONS):
        return
    newest = _newest() if newest is None else newest
    end = _end(partitions.partitions_of(DECISIONS)[-1])
    while end <= newest + SIZE:
        partitions.add(FAMILY, str(end), (end,), (end + SIZE,))
        end += SIZE
    partitions.analyze(FAMILY)


def bound_full(*, now: datetime) -> None:
    """Tell the database which times full partitions hold, each once."""
    for one in _full():
        known = all(partitions.bounded(table, one, "first_seen") for table in (DECISIONS, MENTIONS))
        times = {} if known else _rows(one).aggregate(first=Min("first_seen"), last=Max("first_seen"))
        if times.get("last") and times["last"] < now - _SETTLED:
            for table in (DECISIONS, MENTIONS):
                partitions.bound(table, one, "first_seen", times["first"], times["last"])


def past(*, before: datetime) -> Past:
    """Return what was last considered before a time; where there are no partitions, as rows alone."""
    found: list[Partition] = []
    for one in _full():
        newest = _newest_time(one)
        if newest is not None and newest >= before:
            return Past(found, before - LEFT if newest < before + LEFT else before)
        if _rows(one).filter(last_seen__gte=before).exists():
            return Past(found, before - LEFT)
        found.append(one)
    return Past(found, before)


@transaction.atomic
def drop(partition: Partition) -> None:
    """Drop all decisions of a partition with all that goes with them, at once."""
    ids = {"decision__gte": _begin(partition), "decision__lt": _end(partition)}
    Happening.losers.through.objects.filter(**{f"victim__{name}": pk for name, pk in ids.items()}).delete()
    for model in (Happening, LastPreemption, Rewound):
        model._default_manager.filter(**ids).delete()  # noqa: SLF001 - as Django documents it
    partitions.drop(FAMILY, partition)


def _full() -> Iterator[Partition]:
    """Those beyond which there are decisions already, the oldest first."""
    if partitions.partitioned(DECISIONS):
        newest = _newest()
        yield from (one for one in partitions.partitions_of(DECISIONS) if _end(one) <= newest)


def _newest() -> int:
    return Decision.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def _rows(partition: Partition) -> QuerySet[Decision]:
    return Decision.objects.filter(pk__gte=_begin(partition), pk__lt=_end(partition)).order_by()


def _newest_time(partition: Partition) -> datetime | None:
    """When its newest decision was first seen; a look at an index for each cluster."""
    newest = (
        _rows(partition).filter(cluster=pk).order_by("-first_seen").values_list("first_seen", flat=True).first()
        for pk in Cluster.objects.values_list("pk", flat=True)
    )
    return max((one for one in newest if one is not None), default=None)


def _begin(partition: Partition) -> int:
    return int(partition.low[0]) if partition.low else 0


def _end(partition: Partition) -> int:
    return int(partition.high[0])
