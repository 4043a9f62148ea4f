"""Kueue's workloads that wait for quota are pending: counted, listed to their owners, and followed until the end."""

from datetime import timedelta
from html import unescape
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from engine.model.objects import (
    ClusterQueue,
    Flavor,
    FlavorQuota,
    LocalQueue,
    PodSet,
    Preemption,
    ResourceGroup,
    Workload,
)
from engine.model.queue_tree import Take
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.pending.models import Wait
from tests.pages import rows
from tests.worker.passing import run
from tests.worker.watch import Watch

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


def limit(watch: Watch, cpu: int) -> None:
    """So much quota of its own ClusterQueue test has."""
    quotas = {("default", "cpu"): FlavorQuota(cpu)}
    groups = (ResourceGroup(("cpu",), ("default",)),)
    rules = Preemption(within=Take.LOWER_PRIORITY)
    watch.state.flavors["default"] = Flavor(name="default")
    watch.state.cluster_queues["test"] = ClusterQueue(name="test", quotas=quotas, groups=groups, preemption=rules)


def words(html: str) -> str:
    """What a page says, without its marks."""
    return " ".join(unescape(strip_tags(html)).split())


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
    assert ada.get(f"/api/v1/clusters/{cluster.name}/pending-workloads/test/big").json() == row


def test_why_one_waits_is_told_by_kueues_rules_on_its_own_quota(cluster: Cluster, kueue: Watch, ada: Client) -> None:
    """On a page of its own, to which the lists lead, and by REST."""
    limit(kueue, 4_000)
    put(kueue, waiting("big"))
    run(cluster, kueue)
    address = f"/workloads/{cluster.name}/test/big/"
    assert address in ada.get("/pods/").content.decode()
    shown = words(ada.get(address).content.decode())
    assert "big is waiting for quota." in shown
    assert f"Message from Kueue: {WHY}" in shown
    assert "test could get at most 4 cores, even if no other queue used any, and the request is 6 cores." in shown
    assert "It would get room if the guarantee of test were at least cpu 6." in shown
    said = ada.get(f"/api/v1/clusters/{cluster.name}/pending-workloads/test/big/pending-reasons").json()
    assert [(one["name"], one["passed"]) for one in said["checks"]] == [
        ("admissible", True),
        ("potential-quota", False),
        ("priority", False),
        ("available-quota", False),
    ]
    assert said["message"] == WHY
    assert said["ahead"]["sentence"] == "No other workload of its queue is ahead of it."


def test_an_open_page_learns_that_it_waits_no_more(cluster: Cluster, kueue: Watch, ada: Client) -> None:
    """Who comes later finds no page."""
    run(cluster, kueue)
    address = f"/workloads/{cluster.name}/test/big/"
    assert ada.get(address).status_code == 404
    refreshed = ada.get(address, headers={"HX-Request": "true"})
    assert "This workload is no longer waiting for quota." in refreshed.content.decode()


def test_what_waits_no_more_since_the_last_pass_is_not_worked_out(cluster: Cluster, kueue: Watch, ada: Client) -> None:
    """Its queue is gone, say."""
    put(kueue, waiting("big", local_queue=""))
    run(cluster, kueue)
    answer = ada.get(f"/api/v1/clusters/{cluster.name}/pending-workloads/test/big/pending-reasons")
    assert answer.status_code == 409
    shown = ada.get(f"/workloads/{cluster.name}/test/big/").content.decode()
    assert "This workload is no longer waiting, or its Kueue configuration is not supported here." in shown


def test_a_tenant_is_told_of_its_own_quota_and_not_what_others_hold(
    cluster: Cluster, kueue: Watch, client: Client
) -> None:
    """Others could give back what is missing: how much is not told."""
    limit(kueue, 4_000)
    put(
        kueue, waiting("big", priority=5), waiting("small", holds=True, queue="test", usage={("default", "cpu"): 3_000})
    )
    run(cluster, kueue)
    client.force_login(rows.tenant_user("tom", subtree="root.test", namespaces=("test",)))
    said = client.get(f"/api/v1/clusters/{cluster.name}/pending-workloads/test/big/pending-reasons").json()
    left = next(one for one in said["checks"] if one["name"] == "available-quota")
    assert (left["requirements"][0]["available"], left["requirements"][0]["evictable"]) == ("1", "0")
    theirs = f"/api/v1/clusters/{cluster.name}/pending-workloads/prod/theirs"
    assert [client.get(one).status_code for one in (theirs, f"{theirs}/pending-reasons")] == [404, 404]


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
