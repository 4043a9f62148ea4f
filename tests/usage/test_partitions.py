"""Partitions of usage on PostgreSQL: by step and time, made ahead and dropped whole."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.database.partitions import partitions_of
from scheduler_admin.usage.models import Usage
from scheduler_admin.usage.partitions import USAGE, drop_past, make_ahead
from scheduler_admin.usage.rollup import prune

pytestmark = [pytest.mark.django_db, pytest.mark.suite("postgres")]
START = datetime(2026, 1, 1, tzinfo=UTC)
"""Partitions of six hours begin here."""
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def cluster(db: None) -> Cluster:
    """One whose usage is rolled up to the end of January."""
    cluster = Cluster.objects.create(name="prod")
    for step in (60, 3600):
        stored(cluster, step, START + 30 * DAY)
    return cluster


def stored(cluster: Cluster, step: int, start: datetime, queue: str = "root") -> None:
    """A block."""
    Usage.objects.create(cluster=cluster, queue=queue, step=step, start=start, document=b"")


def many() -> dict[str, int]:
    """How many partitions there are of each step."""
    return dict(Counter(one.suffix.partition("_")[0] for one in partitions_of(USAGE)))


def waiting() -> int:
    """How many blocks have no partition of their own."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM history_usage_default")
        return int(cursor.fetchone()[0])


def made(now: datetime) -> None:
    """Partitions are made, with no check of a row to come."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    make_ahead(now=now)


def test_partitions_are_made_for_now_and_for_what_comes_next(db: None) -> None:
    """And for what comes after that as time goes on; what was away for long makes none of what nobody keeps."""
    made(START)
    assert many() == {"10": 2, "60": 2, "3600": 2}
    made(START + 7 * HOUR)
    assert many() == {"10": 3, "60": 2, "3600": 2}
    made(START + 400 * DAY)
    assert many()["10"] < 10


def test_blocks_that_come_before_their_partition_move_there(cluster: Cluster) -> None:
    """None is lost meanwhile."""
    stored(cluster, 10, START)
    assert waiting() == 3
    made(START)
    assert (waiting(), Usage.objects.count()) == (1, 3)  # one of minutes is of a month later


def test_a_partition_goes_when_nothing_of_it_is_kept_any_more(cluster: Cluster) -> None:
    """At once, and not block by block."""
    made(START)
    for hour in range(6):
        stored(cluster, 10, START + hour * HOUR)
    now = START + 31 * HOUR
    prune(cluster=cluster, now=now, begins=drop_past(now=now))
    assert Usage.objects.filter(step=10).count() == 0
    assert many()["10"] == 1


def test_a_partition_stays_whole_until_then(cluster: Cluster) -> None:
    """Some of its blocks are past their time, others are not."""
    made(START)
    for hour in range(6):
        stored(cluster, 10, START + hour * HOUR)
    now = START + 27 * HOUR
    prune(cluster=cluster, now=now, begins=drop_past(now=now))
    assert Usage.objects.filter(step=10).count() == 6


def test_a_partition_stays_while_a_cluster_is_not_rolled_up(cluster: Cluster) -> None:
    """Nothing goes that the next step has not yet."""
    late = Cluster.objects.create(name="late")
    made(START)
    stored(late, 10, START)
    now = START + 20 * DAY
    prune(cluster=late, now=now, begins=drop_past(now=now))
    assert Usage.objects.filter(cluster=late).count() == 1


def test_usage_of_some_hours_is_read_from_their_partitions_alone(cluster: Cluster) -> None:
    """As a chart asks for it."""
    made(START)
    rows = Usage.objects.filter(cluster=cluster, queue="root", step=10, start__gte=START, start__lt=START + HOUR)
    assert "history_usage_10_2026010100" in rows.explain()
    assert "default" not in rows.explain()
    assert "history_usage_10_2026010106" not in rows.explain()
