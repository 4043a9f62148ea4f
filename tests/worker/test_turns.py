"""When a pass may begin: one at a time for each cluster, at its interval, and no catching up."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.watching import ownership
from scheduler_admin.worker import passes
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


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
