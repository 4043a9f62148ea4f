"""What a victim's controller did afterwards is taken down: the pod in its place, and since when that runs."""

from datetime import timedelta

import msgspec
import pytest
import time_machine
from django.db.backends.base.operations import BaseDatabaseOperations
from django.utils import timezone

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.decisions.models import Victim
from tests.builders import pod
from tests.worker.passing import preemption, run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def victim(cluster: Cluster, watch: Watch) -> Victim:
    """Evicted, on its way out."""
    run(cluster, watch)
    return preemption().victims.get()


def made(watch: Watch, name: str, **settings: object) -> None:
    """The ReplicaSet of the victims makes a pod, now."""
    now_ms = int(timezone.now().timestamp() * 1000)
    watch.put(msgspec.structs.replace(pod(name, queue="test", app="test"), created_ms=now_ms, **settings))


def test_its_controller_and_grace_are_kept_with_it(victim: Victim) -> None:
    """As the pod had them."""
    assert (victim.controller, victim.grace_s) == ("ReplicaSet/test", 30)


def test_any_grace_that_a_pod_may_have_has_its_place() -> None:
    """64 bits: PostgreSQL would refuse what is more than its column holds, and with it the whole pass."""
    column = Victim._meta.get_field("grace_s").get_internal_type()
    assert BaseDatabaseOperations.integer_field_ranges[column][1] == 2**63 - 1


def test_the_pod_in_its_place_is_followed_until_it_runs(cluster: Cluster, watch: Watch, victim: Victim) -> None:
    """And pages hear of both."""
    made(watch, "test-9")
    before = ClusterStatus.objects.get().news
    run(cluster, watch)
    victim.refresh_from_db()
    assert (victim.successor, victim.running_at) == ("test-9", None)
    assert victim.recreated_at is not None
    assert ClusterStatus.objects.get().news > before
    made(watch, "test-9", node="n1", started_ms=int(timezone.now().timestamp() * 1000))
    run(cluster, watch)
    victim.refresh_from_db()
    assert victim.running_at is not None


def test_one_that_goes_before_it_ran_is_replaced_by_the_next(cluster: Cluster, watch: Watch, victim: Victim) -> None:
    """A pod that never ran did not stand in for anything."""
    made(watch, "test-8")
    run(cluster, watch)
    watch.gone("test-8")
    made(watch, "test-9")
    run(cluster, watch)
    victim.refresh_from_db()
    assert victim.successor == "test-9"


def test_victims_of_other_clusters_are_not_read(cluster: Cluster, watch: Watch, victim: Victim) -> None:
    """However many went there in the last hour: a cluster's own are found by themselves."""
    other = Cluster.objects.create(name="west")
    Victim.objects.filter(pk=victim.pk).update(cluster=other)
    made(watch, "test-9")
    run(cluster, watch)
    victim.refresh_from_db()
    assert victim.successor == ""


def test_after_an_hour_nobody_looks_any_more(cluster: Cluster, watch: Watch, victim: Victim) -> None:
    """What comes then comes for reasons of its own."""
    with time_machine.travel(timezone.now() + timedelta(minutes=61), tick=False):
        made(watch, "test-9")
        run(cluster, watch)
    victim.refresh_from_db()
    assert victim.successor == ""


def evicted_at(cluster: Cluster, watch: Watch, hours: float, **pod_settings: object) -> Victim:
    """The pod that goes had started so many hours before."""
    now_ms = int(timezone.now().timestamp() * 1000)
    for one in [one for one in watch.state.pods.values() if one.node]:
        started_ms = now_ms - round(hours * 3_600_000)
        watch.put(msgspec.structs.replace(one, started_ms=started_ms, created_ms=started_ms, **pod_settings))
    run(cluster, watch)
    return preemption().victims.get()


@time_machine.travel("2026-01-05T12:00:00Z", tick=False)
def test_the_work_that_an_eviction_throws_away_is_known(cluster: Cluster, watch: Watch) -> None:
    """Of one core for two and a half hours; nobody knows of it before it is evicted."""
    victim = evicted_at(cluster, watch, 2.5)
    assert (victim.unsaved_s, victim.work_lost) == (9000, {"cpu": 9_000_000})
    victim.evicted_at = None
    assert (victim.unsaved_s, victim.work_lost) == (None, None)


@time_machine.travel("2026-01-05T12:00:00Z", tick=False)
def test_what_a_checkpoint_has_saved_is_not_thrown_away(cluster: Cluster, watch: Watch) -> None:
    """From its last one on."""
    saved_ms = int((timezone.now() - timedelta(minutes=10)).timestamp() * 1000)
    assert evicted_at(cluster, watch, 2.5, checkpoint_ms=saved_ms).unsaved_s == 600


@time_machine.travel("2026-01-05T12:00:00Z", tick=False)
def test_a_checkpoint_written_on_the_way_out_counts(cluster: Cluster, watch: Watch) -> None:
    """Many write one when they are told to go; it is taken down with what is last seen of the pod."""
    victim = evicted_at(cluster, watch, 2.5)
    with time_machine.travel(timezone.now() + timedelta(seconds=20), tick=False):
        going = watch.state.pods[victim.uid]
        watch.put(msgspec.structs.replace(going, checkpoint_ms=int(timezone.now().timestamp() * 1000)))
        run(cluster, watch)
    victim.refresh_from_db()
    assert (victim.unsaved_s, victim.work_lost) == (0, {"cpu": 0})


@time_machine.travel("2026-01-05T12:00:00Z", tick=False)
def test_a_checkpoint_that_is_no_time_is_kept_to_be_told(cluster: Cluster, watch: Watch) -> None:
    """It saves nothing."""
    victim = evicted_at(cluster, watch, 2.5, odd_checkpoint="noon")
    assert (victim.odd_checkpoint, victim.checkpoint_at, victim.unsaved_s) == ("noon", None, 9000)
