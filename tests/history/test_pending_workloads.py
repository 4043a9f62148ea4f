"""Kueue's workloads that wait for quota are pending: counted, listed to their owners, and followed until the end."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from engine.snapshot import ClusterQueue, LocalQueue, PodSet, Workload
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.history.models import Wait
from tests.history.passing import run
from tests.history.watch import Watch
from tests.web import rows

pytestmark = pytest.mark.django_db
WHY = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 5 more needed"


def now_ms() -> int:
    return int(timezone.now().timestamp() * 1000)


def waiting(name: str, **settings: Any) -> Workload:
    """Six pods of one core that a Job wants in the namespace of the tenant, tried a second ago."""
    plain = {"uid": f"uid-{name}", "namespace": "test", "local_queue": "main", "owners": (f"Job/{name}",)}
    sets = (PodSet(name="main", count=6, requests={"cpu": 1000}),)
    told = {"created_ms": now_ms() - 2000, "waits_ms": now_ms() - 1000, "waits_why": WHY, "pod_sets": sets}
    return Workload(name=name, **{**plain, **told, **settings})


@pytest.fixture
def kueue(watch: Watch) -> Watch:
    """The queues of the tree are ClusterQueues of Kueue's too."""
    state = watch.state
    for name in ("prod", "test"):
        state.cluster_queues[name] = ClusterQueue(name=name)
    state.local_queues["test", "main"] = LocalQueue(namespace="test", name="main", queue="test")
    return watch


@pytest.fixture
def ada(client: Client) -> Client:
    """Sees everything."""
    client.force_login(rows.user())
    return client


def put(watch: Watch, *workloads: Workload) -> None:
    for one in workloads:
        watch.state.workloads[one.uid] = one


def test_they_count_as_asks_of_their_queue(cluster: Cluster, kueue: Watch) -> None:
    """And of all above it; those that hold quota, or are done, do not."""
    put(kueue, waiting("big"), waiting("held", holds=True), waiting("over", done=True))
    run(cluster, kueue)
    figures = ClusterStatus.objects.get().queues
    assert figures["root.test"]["asks"] == 1
    assert figures["root.test"]["oldest_ask_ms"] is not None


def test_they_are_listed_with_what_they_want_and_kueues_own_words(cluster: Cluster, kueue: Watch, ada: Client) -> None:
    """On the queue's page, among one's pods, and by REST."""
    put(kueue, waiting("big"))
    run(cluster, kueue)
    for page in (f"/clusters/{cluster.name}/queues/root.test/", "/pods/", "/pods/?q=job/b", "/pods/?namespace=test"):
        shown = ada.get(page).content.decode()
        assert "Waiting for quota" in shown, page
        assert "insufficient unused quota for cpu" in shown
        assert "cpu 6" in shown
    (row,) = ada.get(f"/api/v1/clusters/{cluster.name}/pending-workloads").json()["results"]
    assert (row["name"], row["owner"], row["queue"], row["message"]) == ("big", "Job/big", "root.test", WHY)
    assert row["requests"]["cpu"] == "6"


@pytest.mark.parametrize("address", ["?q=other", "?namespace=prod", "?show=preempted"])
def test_who_looks_for_others_does_not_find_them(cluster: Cluster, kueue: Watch, ada: Client, address: str) -> None:
    put(kueue, waiting("big"))
    run(cluster, kueue)
    assert "Waiting for quota" not in ada.get(f"/pods/{address}").content.decode()


def test_a_tenant_sees_those_of_its_own_namespaces(cluster: Cluster, kueue: Watch, client: Client) -> None:
    put(kueue, waiting("big"), waiting("theirs", namespace="prod", local_queue=""))
    run(cluster, kueue)
    client.force_login(rows.tenant_user("tom", subtree="root.test", namespaces=("test",)))
    shown = client.get("/pods/").content.decode()
    assert "big" in shown
    assert "theirs" not in shown


def test_how_long_they_wait_is_told_from_how_long_others_did(cluster: Cluster, kueue: Watch) -> None:
    """It ends with the quota."""
    put(kueue, waiting("big"))
    run(cluster, kueue)
    assert Wait.objects.get().ending == ""
    with time_machine.travel(timezone.now() + timedelta(seconds=5)):
        put(kueue, waiting("big", holds=True, queue="test"))
        run(cluster, kueue)
    assert Wait.objects.get().ending == Wait.Ending.BOUND
