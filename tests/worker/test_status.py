"""What a pass keeps of a cluster for pages to read: usage, asks, priority classes, news."""

import msgspec
import pytest
import time_machine

from engine.model.objects import PriorityClass
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.status.priority_classes import unlisted
from scheduler_admin.journal.models import Pass
from scheduler_admin.pending.models import Wait
from tests.builders import ask, pod
from tests.samples import sampled
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


def test_a_pass_keeps_what_pages_show(cluster: Cluster, watch: Watch) -> None:
    """Usage by queue, asks waiting, applications, capacity: pages read them without asking the cluster."""
    watch.put(ask("prod-0", queue="prod", unschedulable_ms=5))
    run(cluster, watch)
    status = ClusterStatus.objects.get()
    assert status.queues["root.test"] == {"used": {"cpu": 4000, "pods": 4}, "asks": 0, "oldest_ask_ms": None}
    assert status.queues["root.prod"]["oldest_ask_ms"] == 5
    assert status.queues["root"]["asks"] == 1
    assert status.applications["root.test"][0]["pods"] == 4
    assert status.capacity["cpu"] == 4000


def test_what_yunikorn_holds_back_waits_though_it_says_nothing_of_it(cluster: Cluster, watch: Watch) -> None:
    """From its creation on, which is when YuniKorn was handed it; kube-scheduler tells of each pod that it tried."""
    told_nothing = {"queue": "prod", "unschedulable_ms": None, "created_ms": 7}
    watch.put(ask("prod-0", scheduler="yunikorn", **told_nothing), ask("new", **told_nothing))
    run(cluster, watch)
    figures = ClusterStatus.objects.get().queues["root.prod"]
    assert (figures["asks"], figures["oldest_ask_ms"]) == (1, 7)
    assert Wait.objects.count() == 0  # it began before anybody looked


def test_news_grows_only_when_a_page_would_look_different(cluster: Cluster, watch: Watch) -> None:
    """A quiet pass costs pages nothing."""
    watch.put(ask("prod-0", queue="prod", never_preempts=True))
    run(cluster, watch)
    first = ClusterStatus.objects.get().news
    run(cluster, watch)
    assert ClusterStatus.objects.get().news == first
    watch.put(pod("late", queue="test", node="n1"))
    run(cluster, watch)
    assert ClusterStatus.objects.get().news == first + 1


def test_usage_alone_is_no_news_for_pages_of_decisions(cluster: Cluster, watch: Watch) -> None:
    """A decision is, and so is whatever else they may show."""
    del watch.state.pods["uid-prod-0"]
    run(cluster, watch)
    before = ClusterStatus.objects.get()
    watch.put(pod("late", queue="test", node="n1"))
    run(cluster, watch)
    after = ClusterStatus.objects.get()
    assert (after.news, after.decided) == (before.news + 1, before.decided)
    watch.put(ask("prod-1", queue="prod", never_preempts=True))
    run(cluster, watch)
    assert ClusterStatus.objects.get().decided > after.decided


def test_usage_is_sampled_every_ten_seconds(cluster: Cluster, watch: Watch) -> None:
    """All queues in one row; what the cluster has is told also where nothing of it is used."""
    watch.put(ask("prod-0", queue="prod", never_preempts=True))
    with time_machine.travel("2026-01-01T12:00:07Z", tick=False) as clock:
        run(cluster, watch, times=2)
        clock.shift(4)
        watch.put(pod("gpu", queue="test", node="n1", resources={"gpu": 2}))
        run(cluster, watch)
    (first, before), (second, after) = sampled("root.test")
    assert [f"{at:%H:%M:%S}" for at in (first, second)] == ["12:00:00", "12:00:10"]
    assert [one.amounts["cpu"].used for one in (before, after)] == [4000, 5000]
    assert after.amounts["gpu"].used == 2
    assert sampled("root.prod")[0][1].asks == 1
    assert sampled("root.prod")[0][1].amounts["cpu"].used == 0
    assert Pass.objects.filter(sampled=True).count() == 2


def test_priority_classes_by_which_the_scheduler_would_preempt_are_found(cluster: Cluster, watch: Watch) -> None:
    """Never is no rival; a class without it is."""
    never = [msgspec.structs.replace(one, never_preempts=True) for one in watch.state.pods.values()]
    watch.put(never, PriorityClass(name="hot"))
    run(cluster, watch)
    assert ClusterStatus.objects.get().rivals == []
    watch.put(pod("eager", queue="test", node="n1", priority_class="hot"))
    run(cluster, watch)
    assert ClusterStatus.objects.get().rivals == ["hot"]


def test_a_pass_stores_the_classes_with_who_has_them(cluster: Cluster, watch: Watch) -> None:
    """And why quotas can't be read; a class that changes is news to pages."""
    watch.put(PriorityClass(name="hot", value=5, version="1"))
    watch.put(pod("eager", queue="test", node="n1", priority_class="hot"))
    watch.put(ask("late", queue="prod", priority_class="hot"))
    watch.watcher.missing = {"ResourceQuota": "resourcequotas is forbidden"}
    run(cluster, watch)
    status = ClusterStatus.objects.get()
    assert unlisted(status.classes) == [PriorityClass(name="hot", value=5, version="1")]
    assert (status.class_use["hot"]["running"], status.class_use["hot"]["waiting"]) == (1, 1)
    assert {place["queue"] for place in status.class_use["hot"]["places"]} == {"root.test", "root.prod"}
    assert status.missing == {"ResourceQuota": "resourcequotas is forbidden"}
    run(cluster, watch, times=2)
    news = ClusterStatus.objects.get().news
    watch.put(PriorityClass(name="hot", value=5, version="2", description="new"))
    run(cluster, watch)
    assert ClusterStatus.objects.get().news == news + 1


def test_a_class_that_was_made_anew_needs_no_restart_of_the_pods_that_run(cluster: Cluster, watch: Watch) -> None:
    """They keep their policy for good, and have no use for it; a pod that waits is still preempted for."""
    never = [msgspec.structs.replace(one, never_preempts=True) for one in watch.state.pods.values()]
    anew = PriorityClass(name="hot", never_preempts=True)
    watch.put(never, anew, pod("old", queue="test", node="n1", priority_class="hot"))
    run(cluster, watch)
    assert ClusterStatus.objects.get().rivals == []
    watch.put(ask("older", queue="test", priority_class="hot"))
    run(cluster, watch)
    assert ClusterStatus.objects.get().rivals == ["hot"]
