"""When a pass may begin: one at a time for each cluster, at its interval, and no catching up."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
import time_machine
from django.utils import timezone
from kombu import Connection
from kombu.pools import ProducerPool
from pytest_django import DjangoAssertNumQueries

from scheduler_admin.celery import app
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.watching import ownership
from scheduler_admin.worker import passes, tasks
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    """What tasks are sent through, in this process."""
    with app.connection_for_write("memory://") as connection:
        monkeypatch.setattr(app.amqp, "_producer_pool", ProducerPool(connection.Pool(1), limit=1))
        yield connection


def test_a_second_pass_at_the_same_time_does_nothing(cluster: Cluster, watch: Watch) -> None:
    """One pass at a time per cluster."""
    with watch.busy:
        run(cluster, watch)
    assert not ClusterStatus.objects.exists()


def test_a_cluster_that_another_worker_owns_is_left_alone(cluster: Cluster, watch: Watch) -> None:
    """Ownership is a row, taken only once the former owner is silent."""
    Cluster.objects.update(owner="another", owned_until=timezone.now() + timedelta(seconds=5))
    run(cluster, watch)
    assert not ClusterStatus.objects.exists()
    Cluster.objects.update(owned_until=timezone.now() - timedelta(seconds=1))
    run(cluster, watch)
    assert ClusterStatus.objects.exists()


def test_every_due_cluster_is_sent_once_per_interval(cluster: Cluster) -> None:
    """Two beats at the same moment send one pass."""
    now = timezone.now()
    assert passes.due_clusters(now) == [cluster]
    assert passes.due_clusters(now) == []
    assert passes.due_clusters(now + timedelta(seconds=1)) == [cluster]


def test_who_had_no_pass_for_the_longest_time_is_the_first(cluster: Cluster) -> None:
    """On a busy machine the last ones are dropped: each time others."""
    now = timezone.now()
    west = Cluster.objects.create(name="west", hierarchy=cluster.hierarchy)
    new = Cluster.objects.create(name="new", hierarchy=cluster.hierarchy)
    ownership.claim(cluster=west, owner="us", now=now - timedelta(seconds=9))
    ownership.claim(cluster=cluster, owner="us", now=now - timedelta(seconds=1))
    assert passes.due_clusters(now) == [new, west, cluster]


def test_the_passes_of_clusters_that_begin_together_are_spread_over_their_interval(cluster: Cluster) -> None:
    """The first is at once, the second sooner by another part for each; from then on they keep their interval."""
    hierarchy, many, every_s = cluster.hierarchy, 20, 20
    cluster.delete()
    for number in range(many):
        Cluster.objects.create(name=f"east-{number}", hierarchy=hierarchy, interval_ms=1000 * every_s)
    now = timezone.now()
    due = [[each.name for each in passes.due_clusters(now + timedelta(seconds=second))] for second in range(60)]
    first, second, third = due[0], due[1 : every_s + 1], due[every_s + 1 : 2 * every_s + 1]
    assert [len(first), *(sum(map(len, round_)) for round_ in (second, third))] == [many] * 3
    assert not any(second[: every_s // 2 - 1])
    assert max(map(len, second)) <= 3
    assert second == third


def test_beat_reads_no_more_of_a_cluster_than_it_needs(
    cluster: Cluster, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """It asks each second: one query, and one for each that is due. Whose they are is known from that."""
    Cluster.objects.create(name="west", hierarchy=cluster.hierarchy)
    now = timezone.now()
    with django_assert_num_queries(3) as queries:
        assert [ownership.queue_of(each, now) for each in passes.due_clusters(now)] == [ownership.SHARED] * 2
    assert "kubeconfig" not in queries[0]["sql"]


@pytest.mark.parametrize(("interval_ms", "kept_s"), [(200, 1), (1000, 1), (30_000, 30)])
def test_a_pass_that_nobody_begins_is_dropped_when_the_next_is_due(
    interval_ms: int, kept_s: int, cluster: Cluster, broker: Connection
) -> None:
    """It goes to the worker that has the cluster, which may be busy until then; but for a second it always waits."""
    now = timezone.now()
    Cluster.objects.update(owner="us", owned_until=now + timedelta(minutes=1), interval_ms=interval_ms)
    with time_machine.travel(now, tick=False):
        tasks.send_due_passes()
    sent = broker.SimpleQueue("engine/us").get(block=False)
    assert sent.headers["task"] == tasks.run_pass.name
    assert datetime.fromisoformat(sent.headers["expires"]) - now == timedelta(seconds=kept_s)


def test_after_three_days_asleep_one_pass_is_due_and_not_a_quarter_of_a_million(cluster: Cluster) -> None:
    """What was missed is not caught up with."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        passes.due_clusters(timezone.now())
        clock.shift(timedelta(days=3))
        assert [passes.due_clusters(timezone.now()) for _ in range(3)] == [[cluster], [], []]


def test_a_clock_that_was_set_back_holds_up_no_pass(cluster: Cluster) -> None:
    """A turn an hour ahead is from before: the next pass does not wait for it."""
    now = timezone.now()
    Cluster.objects.update(next_pass_at=now + timedelta(hours=1))
    assert passes.due_clusters(now) == [cluster]
