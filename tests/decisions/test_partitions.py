"""Partitions of decisions on PostgreSQL: no row is ever lost, and what is past its time goes with its partition."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.database.partitions import drop, partitions_of, refer
from scheduler_admin.decisions.models import Decision, Happening, LastPreemption, Mention, Rewound, Step, Victim
from scheduler_admin.decisions.services.partitions import DECISIONS, FAMILY, SIZE
from scheduler_admin.journal.models import JournalEntry, JournalSegment
from scheduler_admin.worker import tasks

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.suite("postgres")]
NOW = timezone.now()
DAY = timedelta(days=1)
KEPT = timedelta(days=730)
OF_A_DECISION = (Victim, Step, Mention, Happening, LastPreemption, Rewound)


@pytest.fixture(autouse=True)
def _as_migrated() -> Iterator[None]:
    """Other tests find the partitions that migrations made: the first one."""
    yield
    Cluster.objects.all().delete()
    for one in partitions_of(DECISIONS):
        drop(FAMILY, one)
    with connection.cursor() as cursor:
        for table in FAMILY:
            cursor.execute(
                f"CREATE TABLE {table.name}_first PARTITION OF {table.name} FOR VALUES FROM (MINVALUE) TO ({SIZE})"
            )
        refer(cursor, FAMILY, "first")


@pytest.fixture
def cluster(db: None) -> Cluster:
    """One that nobody reads."""
    return Cluster.objects.create(name="prod")


def suffixes() -> list[str]:
    """The names of the partitions that there are."""
    return [one.suffix for one in partitions_of(DECISIONS)]


def decided(cluster: Cluster, pk: int, ago: timedelta, **fields: Any) -> Decision:
    """A decision with a row of everything that goes with it."""
    at = NOW - ago
    told = {"outcome": "preempt", "state": "closed", "first_seen": at, "last_seen": at} | fields
    row = Decision.objects.create(pk=pk, cluster=cluster, ask_uid=str(pk), **told)
    victim = Victim.objects.create(decision=row, cluster=cluster, uid=str(pk), position=0)
    Step.objects.create(decision=row, at=at, kind="seen")
    Mention.objects.create(about=pk, first_seen=at, decision=row)
    event = Happening.objects.create(cluster=cluster, number=pk, at=at, decision=row, victim=victim)
    event.losers.add(victim)
    LastPreemption.objects.create(cluster=cluster, side="into", queue=str(pk), namespace="x", decision=row, at=at)
    segment = JournalSegment.objects.create(cluster=cluster, began_at=at)
    entry = JournalEntry.objects.create(segment=segment, offset=0, at=at, blob=b"")
    Rewound.objects.create(decision=row, entry=entry, blob=b"")
    return row


def stored() -> dict[str, set[int]]:
    """The decisions that each table has rows of."""
    pks = {"Decision": set(Decision.objects.values_list("pk", flat=True))}
    return pks | {
        model.__name__: set(model._default_manager.values_list("decision", flat=True)) for model in OF_A_DECISION
    }


def rows_in(table: str) -> int:
    """How many rows one partition has."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return int(cursor.fetchone()[0])


def test_a_partition_is_empty_ahead_of_the_newest_decision(cluster: Cluster) -> None:
    """Made before it is needed, and no more of them than that."""
    tasks.make_partitions()
    assert suffixes() == ["first", "1000000"]
    decided(cluster, SIZE, DAY)
    tasks.make_partitions()
    tasks.make_partitions()
    assert suffixes() == ["first", "1000000", "2000000"]
    assert [rows_in(f"{table.name}_1000000") for table in FAMILY] == [1, 1, 1, 1]


def test_rows_that_come_before_their_partition_move_there(cluster: Cluster) -> None:
    """They are stored all the while, and what points at them still does."""
    pks = {5, SIZE + 1, 2 * SIZE + 7}
    for pk in pks:
        decided(cluster, pk, DAY)
    assert [rows_in(f"{table.name}_default") for table in FAMILY] == [2, 2, 2, 2]
    tasks.make_partitions()
    assert [rows_in(f"{table.name}_default") for table in FAMILY] == [0, 0, 0, 0]
    assert suffixes() == ["first", "1000000", "2000000", "3000000"]
    assert set(map(frozenset, stored().values())) == {frozenset(pks)}


def test_no_row_is_of_a_decision_that_is_not_there(cluster: Cluster) -> None:
    """Whichever partition it belongs to."""
    tasks.make_partitions()
    for pk in (7, SIZE + 7, 5 * SIZE):
        with pytest.raises(IntegrityError), transaction.atomic():
            Step.objects.create(decision_id=pk, at=NOW, kind="seen")


def test_a_full_partition_goes_when_all_of_it_is_past_its_time(cluster: Cluster) -> None:
    """With all that goes with its decisions, and no row one by one."""
    decided(cluster, 5, KEPT + 9 * DAY)
    decided(cluster, 6, KEPT + DAY)
    decided(cluster, SIZE + 1, DAY)
    tasks.make_partitions()
    tasks.prune()
    assert suffixes() == ["1000000", "2000000"]
    assert set(map(frozenset, stored().values())) == {frozenset({SIZE + 1})}


@pytest.mark.parametrize(("newest", "left"), [(30 * DAY, {5, 6, SIZE + 1}), (100 * DAY, {6, SIZE + 1})])
def test_what_goes_with_its_partition_before_long_is_left_until_then(
    cluster: Cluster, newest: timedelta, left: set[int]
) -> None:
    """``newest``: how long that may be kept still which keeps the partition. What would be left for too long goes."""
    decided(cluster, 5, KEPT + 9 * DAY)
    decided(cluster, 6, KEPT - newest)
    decided(cluster, SIZE + 1, DAY)
    tasks.make_partitions()
    tasks.prune()
    assert stored()["Decision"] == left
    assert suffixes() == ["first", "1000000", "2000000"]


def test_a_partition_with_a_decision_that_was_considered_lately_stays(cluster: Cluster) -> None:
    """However long ago it was decided first."""
    decided(cluster, 5, KEPT + 9 * DAY, last_seen=NOW, state="on-hold")
    decided(cluster, SIZE + 1, DAY)
    tasks.make_partitions()
    tasks.prune()
    assert stored()["Decision"] == {5, SIZE + 1}


def test_a_page_of_some_days_reads_no_partition_of_other_days(cluster: Cluster) -> None:
    """Neither by time, once a full partition's times are known to the database, nor by ids."""
    decided(cluster, 5, 90 * DAY)
    decided(cluster, SIZE + 1, DAY)
    tasks.make_partitions()
    lately = {"first_seen__gte": NOW - 7 * DAY}
    assert "history_decision_first" in Decision.objects.filter(cluster=cluster).explain()
    assert "history_decision_first" not in Decision.objects.filter(cluster=cluster, **lately).explain()
    assert "history_mention_first" not in Mention.objects.filter(about=1, **lately).explain()
    assert "history_victim_first" not in Victim.objects.filter(decision=SIZE + 1).explain()
