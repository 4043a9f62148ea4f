"""A worker's watches live as long as their clusters, and end without a pass acting on."""

import gc
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.utils import timezone

from engine.cluster.acting.lease import ClusterLease
from engine.cluster.errors import ConnectionFailure
from engine.cluster.watching.yunikorn import KIND
from scheduler_admin.clusters.connections.error_messages import told_missing
from scheduler_admin.clusters.models import Cluster, Worker
from scheduler_admin.clusters.watching import ownership, sharing, watchers
from scheduler_admin.clusters.watching.ownership import claim, note
from scheduler_admin.clusters.watching.sharing import share
from scheduler_admin.clusters.watching.watchers import OWNER, Watch, Watches
from scheduler_admin.queues.services.hierarchies import publish_as
from scheduler_admin.worker import tasks
from tests.builders import queue, tree
from tests.cluster.doubles import Simulated, simulate
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Iterator[Simulated]:
    """A cluster to watch."""
    with simulate() as simulated:
        yield simulated


@pytest.fixture
def cluster(api: Simulated, tmp_path: Path) -> Cluster:
    """It, with a tree, as it stands in the database."""
    config = tmp_path / "kubeconfig"
    config.write_text(
        "{apiVersion: v1, kind: Config, current-context: c, users: [{name: u, user: {}}],"
        f" clusters: [{{name: c, cluster: {{server: '{api.address}'}}}}],"
        " contexts: [{name: c, context: {cluster: c, user: u}}]}"
    )
    revision = publish_as(name="main", tree=tree({"prod": queue("4")}), author=None, reason="test")
    return Cluster.objects.create(name="east", hierarchy=revision.hierarchy, kubeconfig=str(config))


@pytest.fixture
def watches(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watches]:
    """Those of this process."""
    found = Watches()
    for module in (tasks, sharing):
        monkeypatch.setattr(module, "WATCHES", found)
    yield found
    found.stop()


def following() -> set[str]:
    """The threads that follow a cluster now."""
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("reflector-")}


def test_a_cluster_that_is_deleted_is_followed_no_longer(cluster: Cluster, watches: Watches) -> None:
    """Its threads and connections end with it, and not before."""
    first = watches.of(cluster)
    claim(cluster=cluster, owner=OWNER, now=timezone.now())
    share()
    assert watches.of(cluster) is first
    assert following()
    cluster.delete()
    share()
    assert not following()


@pytest.mark.parametrize(("streamed", "verbs"), [(False, {"list", "watch"}), (True, {"watch"})])
def test_lists_are_streamed_where_the_site_wants_that(
    streamed: bool, verbs: set[str], cluster: Cluster, watches: Watches, api: Simulated, settings: Any
) -> None:
    """By a setting; pages otherwise. Either way every kind is read whole."""
    settings.STREAMED_LISTS = streamed
    watcher = watches.of(cluster).watcher
    assert watcher.wait_synced(PATIENCE_S)
    wait_for(lambda: {one.verb for one in api.audit if one.resource == "pods"} == verbs, "pods are read as is wanted")


def test_a_watch_that_is_closed_leads_no_longer_and_begins_no_pass(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the first moment: a pass that runs meanwhile is refused its next eviction."""
    monkeypatch.setattr(watchers, "_PATIENCE_S", 0.1)
    monkeypatch.setattr(ClusterLease, "holds_now", lambda *_arguments: True)
    watch = Watch(cluster)
    assert watch.lead()
    seen: list[bool] = []
    monkeypatch.setattr(watch, "resign", lambda resign=watch.resign: (seen.append(watch.lead()), resign()))
    watch.close()
    assert seen == [False]
    assert watch.busy.locked()


def test_a_lease_that_nobody_can_take_is_told_until_it_can_be(
    cluster: Cluster, watches: Watches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Why, on the page of clusters; not where it is only too early to act, nor where another installation acts."""
    watch = watches.of(cluster)
    with monkeypatch.context() as refused:
        refused.setattr(ClusterLease, "_attempt", Mock(side_effect=ConnectionFailure("leases is forbidden")))
        assert not watch.lead()
        assert watch.missing["Lease"] == "leases is forbidden"
        told = "The Lease can’t be acquired (leases is forbidden), so no pods are evicted."
        assert told_missing(watch.missing)[-1] == told
    assert watch._lease is not None
    assert watch._lease.renew()
    assert (watch.leads(), watch.lease_trouble) == (False, "")
    watch._lease.error, watch._lease.holder = "forbidden", "another"
    assert (watch.rival, watch.lease_trouble) == ("another", "")


def test_nobody_waits_for_a_watch_that_is_closed(
    cluster: Cluster, watches: Watches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing waits for a pass, a lease and threads to end: passes of other clusters go on meanwhile."""
    watches.of(cluster)
    free = []
    close = Watch.close

    def closing(watch: Watch) -> None:
        free.append(watches._lock.acquire(blocking=False))
        watches._lock.release()
        close(watch)

    with monkeypatch.context() as patched:
        patched.setattr(Watch, "close", closing)
        watches.keep(())
    assert free == [True]


def test_a_cluster_is_given_to_another_worker_between_its_passes(cluster: Cluster, watches: Watches) -> None:
    """One that has a pass just now stays: two workers never decide for it at once."""
    watch = watches.of(cluster)
    claim(cluster=cluster, owner=OWNER, now=timezone.now())
    with watch.busy:
        watches.give("another")
        cluster.refresh_from_db()
        assert (cluster.owner, bool(following())) == (OWNER, True)
    watches.give("another")
    cluster.refresh_from_db()
    assert (cluster.owner, following()) == ("another", set())


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_waits_for_the_end_of_a_watch_is_heard_of_meanwhile(
    cluster: Cluster, watches: Watches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass and open connections may take longer to end than others wait before they take its clusters."""
    monkeypatch.setattr(sharing, "TURN_S", 0.01)
    watch, worker = watches.of(cluster), sharing.Sharing()
    claim(cluster=cluster, owner="another", now=timezone.now())
    with watch.busy:
        worker.start()
        wait_for(lambda: watch._closing, "the watch is to end")
        later = Worker.objects.filter(heard_at__gt=timezone.now())
        wait_for(later.exists, "the worker is heard of again")
        assert following()
    worker.stop()
    assert not following()


def test_a_cluster_that_can_not_be_given_is_watched_anew(
    cluster: Cluster, watches: Watches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database went away in between: nothing is left of the watch that was ended, and it stays ours."""
    watches.of(cluster)
    claim(cluster=cluster, owner=OWNER, now=timezone.now())
    with monkeypatch.context() as away:
        away.setattr(ownership, "hand_over", Mock(side_effect=OperationalError("gone")))
        with pytest.raises(OperationalError):
            watches.give("another")
    assert not following()
    tasks.run_pass(cluster.pk)
    cluster.refresh_from_db()
    assert (cluster.owner, bool(following())) == (OWNER, True)


@contextmanager
def silent(api: Simulated) -> Iterator[None]:
    """Let the cluster answer nothing for now."""
    over = threading.Event()
    api.loop.call_soon_threadsafe(over.wait, PATIENCE_S)
    try:
        yield
    finally:
        over.set()


def next_pass_after_a_turn() -> timedelta | None:
    """Let the next pass be an hour away; how far it is away after this worker's turn, None: it is due at once."""
    hour = timezone.now() + timedelta(hours=1)
    Cluster.objects.update(next_pass_at=hour)
    share()
    due = Cluster.objects.get().next_pass_at
    return due and due - hour + timedelta(hours=1)


def test_the_first_pass_waits_until_the_cluster_is_read(cluster: Cluster, watches: Watches) -> None:
    """It does not take up a turn in vain, and the worker begins to read no other in its place."""
    tasks.run_pass(cluster.pk)
    cluster.refresh_from_db()
    assert (cluster.status.error, cluster.owner) == ("", OWNER)
    assert cluster.status.pass_at is not None


def test_a_cluster_whose_pass_came_too_early_has_one_as_soon_as_it_is_read(
    cluster: Cluster, watches: Watches, api: Simulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, however seldom its passes are, and not twice."""
    monkeypatch.setattr(watchers, "_FIRST_READ_S", 0.0)
    with silent(api):
        tasks.run_pass(cluster.pk)
        assert next_pass_after_a_turn() == timedelta(hours=1)
    assert watches.of(cluster).watcher.wait_synced(PATIENCE_S)
    assert [next_pass_after_a_turn() for _ in range(2)] == [None, timedelta(hours=1)]


def test_a_cluster_that_had_a_pass_since_it_was_read_needs_no_other(
    cluster: Cluster, watches: Watches, api: Simulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker's turn comes after it."""
    monkeypatch.setattr(watchers, "_FIRST_READ_S", 0.0)
    with silent(api):
        tasks.run_pass(cluster.pk)
    passed(cluster, watches)
    assert next_pass_after_a_turn() == timedelta(hours=1)


@pytest.mark.parametrize("yunikorn", ["", "yunikorn/yunikorn-service:9080"])
def test_the_memory_of_a_watch_is_free_as_soon_as_it_ends(cluster: Cluster, yunikorn: str) -> None:
    """No garbage collection is needed, which is rare in a worker."""
    cluster.yunikorn_service = yunikorn
    watch = Watch(cluster)
    assert watch.watcher.wait_synced(PATIENCE_S)
    known = weakref.ref(watch.watcher)
    gc.disable()
    try:
        watch.close()
        del watch
        assert known() is None
    finally:
        gc.enable()


def test_what_another_worker_has_is_not_watched(cluster: Cluster, watches: Watches) -> None:
    """Not by a pass that was sent before it changed hands, nor on."""
    watches.of(cluster)
    claim(cluster=cluster, owner="another", now=timezone.now())
    share()
    assert not following()
    tasks.run_pass(cluster.pk)
    assert not following()


def test_the_worker_with_more_clusters_gives_one_at_a_turn(cluster: Cluster, watches: Watches) -> None:
    """To one that was heard of just now."""
    now = timezone.now()
    Cluster.objects.create(name="west", owner=OWNER, owned_until=now + timedelta(minutes=1))
    watches.of(cluster)
    claim(cluster=cluster, owner=OWNER, now=now)
    note(owner="another", now=now)
    share()
    cluster.refresh_from_db()
    assert (cluster.owner, following()) == ("another", set())


def test_a_cluster_is_known_again_by_the_uid_that_its_first_pass_reads(cluster: Cluster, watches: Watches) -> None:
    """And what its kubeconfig leads to later is not taken for it."""
    passed(cluster, watches)
    cluster.refresh_from_db()
    assert cluster.uid == watches.of(cluster).watcher.uid != ""
    assert cluster.status.error == ""
    Cluster.objects.update(uid="another")
    watches.stop()
    cluster.refresh_from_db()
    watch = watches.of(cluster)
    wait_for(lambda: watch.watcher.health().stranger, "the stranger is found")
    tasks.run_pass(cluster.pk)
    cluster.status.refresh_from_db()
    assert "not the cluster that was connected" in cluster.status.error


def test_a_uid_that_another_cluster_here_is_known_by_is_not_taken(cluster: Cluster, watches: Watches) -> None:
    """No pass fails for it."""
    passed(cluster, watches)
    cluster.refresh_from_db()
    twin = Cluster.objects.create(name="twin", hierarchy=cluster.hierarchy, kubeconfig=cluster.kubeconfig)
    passed(twin, watches)
    twin.refresh_from_db()
    assert (twin.uid, twin.status.error) == ("", "")


def test_a_cluster_that_is_here_under_two_names_is_acted_on_under_one(cluster: Cluster) -> None:
    """One worker follows both: its lease is of the one alone."""
    twin = Cluster.objects.create(name="twin", hierarchy=cluster.hierarchy, kubeconfig=cluster.kubeconfig)
    first, second = Watch(cluster), Watch(twin)
    try:
        first.lead()
        assert not second.lead()
        assert second.rival.endswith("/east")
        assert not first.rival
    finally:
        second.close()
        first.close()


def passed(cluster: Cluster, watches: Watches) -> None:
    """A whole pass over a cluster that has been read."""
    assert watches.of(cluster).watcher.wait_synced(PATIENCE_S)
    tasks.run_pass(cluster.pk)


def test_yunikorn_is_asked_where_a_cluster_says_so(cluster: Cluster, watches: Watches) -> None:
    """From then on, by a watch of its own; that it can't be asked is told among what is missing, and no pass waits."""
    first = watches.of(cluster)
    assert (first.yunikorn, KIND in first.missing) == (None, False)
    cluster.yunikorn_service = "yunikorn/yunikorn-service:9080"
    cluster.save()
    watch = watches.of(cluster)
    assert watch is not first
    wait_for(lambda: KIND in watch.missing, "the simulated cluster has no such service")
    assert watch.missing[KIND] == "the service does not exist"
    watches.keep(())
    assert "yunikorn" not in {thread.name for thread in threading.enumerate()}
