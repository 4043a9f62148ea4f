"""How long asks wait: taken down by passes, told of those to come, held against what came of it."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
import time_machine
from django.test import Client
from rest_framework.test import APIClient

from engine.model.objects import Node, Pod
from engine.observation.wait_estimates import PredictionVerdict
from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.pending.models import Wait
from scheduler_admin.pending.waits import KEPT, follow_waits, waits_of
from scheduler_admin.worker import passes
from scheduler_admin.worker.tasks import prune
from tests.builders import ask, node, pod
from tests.worker.conftest import TREE, add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
QUEUE = "root.prod"


@pytest.fixture(autouse=True)
def _frozen() -> Iterator[None]:
    """Time stands still, but for what a test moves."""
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def cluster(db: None) -> Cluster:
    """A cluster that is only watched."""
    return add_cluster(mode="observe")


def ms(at: datetime) -> int:
    """Milliseconds since 1970."""
    return int(at.timestamp() * 1000)


def waiting(name: str = "new", *, since: datetime = NOW, **settings: object) -> Pod:
    """Prod's ask for one core, found unschedulable then."""
    return ask(name, queue="prod", unschedulable_ms=ms(since), **settings)  # type: ignore[arg-type]


def run(watch: Watch, after: float = 0) -> None:
    """A pass, so many seconds from the beginning."""
    with time_machine.travel(NOW + timedelta(seconds=after), tick=False):
        passes.run_pass(cluster=Cluster.objects.select_related("hierarchy__current").get(), watch=watch)  # type: ignore[arg-type]


def full(*more: Node | Pod) -> Watch:
    """A node that Prod itself fills."""
    return Watch(node("n1", 4), [pod(f"own-{k}", queue="prod", node="n1") for k in range(4)], *more)


def past(cluster: Cluster, lasted: list[tuple[int, str]], **told: object) -> None:
    """Asks that began ten hours ago and waited so many seconds, each with its ending."""
    since = NOW - timedelta(hours=10)
    Wait.objects.bulk_create(
        Wait(
            cluster=cluster,
            uid=f"past-{number}-{len(lasted)}",
            namespace="ns",
            queue=QUEUE,
            since=since,
            until=since + timedelta(seconds=seconds),
            ending=ending,
            **{"priority": 0, "shape": "cpu 1024m", **told},
        )
        for number, (seconds, ending) in enumerate(lasted)
    )


def bound(*seconds: int) -> list[tuple[int, str]]:
    """They got room."""
    return [(one, Wait.Ending.BOUND) for one in seconds]


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(("ahead_s", "known"), [(20, [NOW]), (90, [])])
def test_no_wait_begins_in_the_future(ahead_s: int, known: list[datetime]) -> None:
    """A clock that is a little ahead makes it begin now; of one that is far ahead nothing is known."""
    run(full(waiting(since=NOW + timedelta(seconds=ahead_s))))
    assert list(Wait.objects.values_list("since", flat=True)) == known


@pytest.mark.usefixtures("cluster")
def test_an_ask_is_followed_from_first_unschedulable_to_bound() -> None:
    """Its own time counts, not the passes'."""
    watch = full(waiting(since=NOW - timedelta(seconds=2)))
    run(watch)
    run(watch, 1)
    wait = Wait.objects.get()
    assert (wait.queue, wait.ending, wait.until, wait.told) == (QUEUE, "", None, None)
    watch.state.pods["uid-new"] = pod("new", queue="prod", node="n1")
    run(watch, 5)
    wait.refresh_from_db()
    assert (wait.ending, wait.until - wait.since) == (Wait.Ending.BOUND, timedelta(seconds=7))


@pytest.mark.usefixtures("cluster")
def test_where_too_few_are_known_pages_say_so(client: Client) -> None:
    """That of the queue, and that of the pod; REST has null."""
    run(full(waiting("want")))
    client.force_login(olga())
    assert "No estimate of the wait: too few pods" in page(client, f"/clusters/east/queues/{QUEUE}/")
    assert "No estimate of the wait: too few pods in its queue" in page(client, "/pods/east/ns/want/")
    api = APIClient()
    api.force_authenticate(User.objects.get())
    assert api.get(f"/api/v1/clusters/east/queues/{QUEUE}").json()["wait_estimate"]["estimate"] is None
    assert api.get("/api/v1/clusters/east/queues/root").json()["wait_estimate"] is None


@pytest.mark.usefixtures("cluster")
def test_one_that_goes_away_waited_for_as_long_as_it_was_there() -> None:
    """It did not get room."""
    watch = full(waiting())
    run(watch)
    del watch.state.pods["uid-new"]
    run(watch, 9)
    assert Wait.objects.get().ending == Wait.Ending.POD_GONE


@pytest.mark.usefixtures("cluster")
def test_what_nobody_saw_is_not_made_up() -> None:
    """Neither a beginning from before, nor an end during a gap: that one counts until the last pass."""
    old, new = waiting("old", since=NOW - timedelta(minutes=5)), waiting()
    watch = full(old, new)
    run(watch)
    assert [wait.uid for wait in Wait.objects.all()] == ["uid-new"]
    watch.state.pods["uid-new"] = pod("new", queue="prod", node="n1")
    run(watch, 600)
    wait = Wait.objects.get()
    assert (wait.ending, wait.until) == (Wait.Ending.POD_GONE, NOW)


def test_an_ask_is_told_how_long_those_like_it_waited(cluster: Cluster) -> None:
    """By size and priority where enough of those are known, else by its queue; others' queues tell nothing."""
    past(cluster, bound(*range(1, 11)))
    past(cluster, bound(*[500] * 20), shape="cpu 4096m")
    run(full(waiting(), waiting("big", cpu=8), waiting("high", priority=9)))
    told = {wait.uid: wait for wait in Wait.objects.filter(until=None)}
    assert (told["uid-new"].half_ms, told["uid-new"].most_ms, told["uid-new"].alike) == (5_000, 9_000, True)
    assert (told["uid-big"].half_ms, told["uid-big"].known, told["uid-big"].alike) == (500_000, 30, False)
    assert not told["uid-high"].alike


def test_of_too_few_nothing_is_told(cluster: Cluster) -> None:
    """Nine are too few."""
    past(cluster, bound(*range(9)))
    run(full(waiting()))
    assert Wait.objects.get(until=None).told is None


def test_a_pass_reads_as_often_however_many_wait(cluster: Cluster, django_assert_num_queries: Any) -> None:
    """One look at a queue's past for all that are new, none for those that still wait."""
    asks = [waiting(f"new-{number}", cpu=1 + number % 7) for number in range(40)]
    watch = full(*asks)
    snapshot = watch.state.snapshot(TREE, now_ms=ms(NOW))
    with django_assert_num_queries(3):
        follow_waits(cluster=cluster, asks=snapshot.asks, state=watch.state, now=NOW)
    with django_assert_num_queries(1):
        follow_waits(cluster=cluster, asks=snapshot.asks, state=watch.state, now=NOW)


def test_what_was_told_is_held_against_what_came(cluster: Cluster) -> None:
    """A simulated history: true estimates are found true, those of a queue that has become slower too short."""
    random = Random(3)
    times = [max(1, int(random.expovariate(1 / 60))) for _ in range(400)]
    half, most = sorted(times)[199] * 1000, sorted(times)[359] * 1000
    past(cluster, bound(*[int(random.expovariate(1 / 60)) for _ in range(200)]), half_ms=half, most_ms=most)
    found = waits_of(cluster, QUEUE, NOW)
    assert (found.half.of, found.half.verdict, found.most.verdict) == (
        200,
        PredictionVerdict.ACCURATE,
        PredictionVerdict.ACCURATE,
    )
    Wait.objects.all().delete()
    past(cluster, bound(*[int(random.expovariate(1 / 150)) for _ in range(201)]), half_ms=half, most_ms=most)
    found = waits_of(cluster, QUEUE, NOW)
    assert (found.half.verdict, found.most.verdict) == (PredictionVerdict.TOO_SHORT, PredictionVerdict.TOO_SHORT)


def olga(role: str = User.Role.AUDITOR) -> User:
    """Somebody who sees everything, or a tenant of Prod."""
    person = User.objects.create_user(f"olga-{role}", role=role)
    if role == User.Role.TENANT:
        person.tenants.add(Tenant.objects.create(name="prod", subtrees=[QUEUE], namespaces=["ns"]))
    return person


def page(client: Client, path: str) -> str:
    """A page, spaces joined."""
    response = client.get(path)
    assert response.status_code == 200
    return re.sub(r"\s+", " ", response.content.decode())


def test_the_page_of_its_queue_and_rest_tell_it(cluster: Cluster, client: Client) -> None:
    """What came of it only to those who see everything."""
    past(cluster, bound(*range(1, 21)), half_ms=10_000, most_ms=12_000)
    run(full(waiting()))
    told = (
        "Pods in this queue waited a median of 10.0 s; nine in ten waited at most 18.0 s (20 pods in the last 14 days)."
    )
    client.force_login(olga())
    shown = page(client, f"/clusters/east/queues/{QUEUE}/")
    assert told in shown
    assert "12 of 20 pods were scheduled within the wait estimated for nine in ten." in shown
    assert '<span class="st warn">estimate too short</span>' in shown
    client.force_login(olga(User.Role.TENANT))
    shown = page(client, f"/clusters/east/queues/{QUEUE}/")
    assert told in shown
    assert "were scheduled within the" not in shown
    by_role = {}
    for person in User.objects.all():
        api = APIClient()
        api.force_authenticate(person)
        by_role[person.role] = api.get(f"/api/v1/clusters/east/queues/{QUEUE}").json()["wait_estimate"]
    assert by_role[User.Role.AUDITOR]["p90_accuracy"] == {
        "pods_within_estimate": 12,
        "checked_pods": 20,
        "verdict": "too-short",
    }
    assert by_role[User.Role.TENANT]["estimate"] == {"median_seconds": 10, "p90_seconds": 18, "sample_count": 20}
    assert by_role[User.Role.TENANT]["p90_accuracy"] is None


def test_the_page_of_the_pod_and_rest_tell_it(cluster: Cluster, client: Client) -> None:
    """As it was told when it was first seen."""
    past(cluster, bound(*[240] * 5, *[1200] * 20, *[1800] * 12))
    watch = full(waiting("want", priority=-1))
    run(watch)
    past(cluster, bound(*[1] * 90))
    tess = olga(User.Role.TENANT)
    client.force_login(tess)
    told = (
        "Pods in this queue waited a median of 20 min; nine in ten waited at most 30 min (37 pods in the last 14 days)."
    )
    assert told in page(client, "/pods/east/ns/want/")
    with time_machine.travel(NOW + timedelta(minutes=31), tick=False):
        assert "This one has already waited longer." in page(client, "/pods/east/ns/want/")
    api = APIClient()
    api.force_authenticate(tess)
    row = Cluster.objects.get().decisions.get(ask_name="want")
    body = api.get(f"/api/v1/decisions/{row.pk}/pending-reasons").json()["wait_estimate"]
    assert (body["sentence"], body["based_on_similar_pods"], body["estimate"]["sample_count"]) == (told, False, 37)


def test_waits_are_kept_for_four_weeks(cluster: Cluster) -> None:
    """Nothing looks back so far."""
    past(cluster, bound(1))
    with time_machine.travel(NOW + KEPT - timedelta(hours=11), tick=False):
        prune()
    assert Wait.objects.count() == 1
    with time_machine.travel(NOW + KEPT, tick=False):
        prune()
    assert not Wait.objects.exists()
