"""What the web process tells Prometheus of what is stored, and to whom."""

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from prometheus_client.parser import text_string_to_metric_families

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.metrics import stored
from scheduler_admin.queues.services.hierarchies import Terms
from scheduler_admin.worker import tasks
from tests.builders import ask, node, pod, queue, tree
from tests.metrics.reading import Samples, read, value
from tests.notifications.conftest import NOON
from tests.worker.conftest import add_cluster
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TOKEN = "a token of enough characters"
TREE = tree({"red": queue({"cpu": "8", "memory": "2Gi"}), "red.batch": queue("4"), "blue": queue("2")})


@pytest.fixture(autouse=True)
def _token(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """It is noon, until the test says otherwise."""
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture
def cluster(clock: time_machine.Traveller, db: None) -> Cluster:
    return add_cluster(TREE, mode="observe")


@pytest.fixture
def watch() -> Watch:
    """Batch holds one of its four cores and waits for one more; blue holds the other three and a half."""
    held = [pod(f"canary-{number}", queue="blue", cpu="500m", node="n1") for number in range(6)]
    return Watch(node("n1", 4), held, pod("batch-0", queue="red.batch", node="n1"), ask("batch-1", queue="red.batch"))


def scraped(client: Client) -> Samples:
    response = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.status_code == 200
    return read(response.content.decode())


def test_usage_and_guarantees_are_told_in_base_units(client: Client, cluster: Cluster, watch: Watch) -> None:
    """Cores and bytes, of each queue with all below it."""
    run(cluster, watch)
    found = scraped(client)
    assert value(found, "queue_used", cluster="east", queue="root.blue", resource="cpu", unit="core") == 3
    assert value(found, "queue_used", queue="root", resource="cpu") == 4
    assert value(found, "queue_guaranteed", queue="root.red", resource="cpu", unit="core") == 8
    assert value(found, "queue_guaranteed", queue="root.red", resource="memory", unit="byte") == 2 * 2**30
    assert value(found, "pending_pods", queue="root.red.batch") == value(found, "pending_pods", queue="root") == 1


def test_time_below_guarantee_is_known_up_to_the_last_pass(
    client: Client, cluster: Cluster, watch: Watch, clock: time_machine.Traveller
) -> None:
    """It grows with the passes that see it, not with the clock, and is nothing once the queue recovers."""
    run(cluster, watch)
    for _ten_seconds in range(3):
        clock.shift(10)
        run(cluster, watch)
    clock.shift(3600)
    found = scraped(client)
    assert value(found, "below_guarantee_seconds", queue="root.red.batch") == 30
    assert value(found, "below_guarantee_seconds", queue="root.blue") == 0
    clock.shift(-3590)
    watch.gone("batch-1")
    run(cluster, watch)
    assert value(scraped(client), "below_guarantee_seconds", queue="root.red.batch") == 0


def test_what_stands_still_shows_in_moments(
    client: Client, cluster: Cluster, watch: Watch, clock: time_machine.Traveller
) -> None:
    """The last reading, and both workers' heartbeats, stay where they were."""
    run(cluster, watch)
    tasks.check_heartbeats()
    clock.shift(7)
    found = scraped(client)
    noon = NOON.timestamp()
    assert value(found, "last_read_timestamp_seconds", cluster="east") == noon
    assert value(found, "worker_heartbeat_timestamp_seconds", worker="engine", cluster="east") == noon
    assert value(found, "worker_heartbeat_timestamp_seconds", worker="housekeeping", cluster="") == noon


def test_interlocks_that_hold_are_counted_by_kind(client: Client, cluster: Cluster, watch: Watch) -> None:
    """Each kind has its sample, so that an alert can tell none from not known."""
    run(cluster, watch)
    ClusterStatus.objects.update(holds=[{"interlock": "queue-paused", "queue": path} for path in ("root.a", "root.b")])
    found = scraped(client)
    assert value(found, "safeguards_active", safeguard="queue-paused") == 2
    assert value(found, "safeguards_active", safeguard="watch-gap") == 0


def test_queues_without_preemption_are_counted(client: Client, cluster: Cluster, watch: Watch) -> None:
    """Where a pod that counts for them can't be read, and asks wait; one that runs nowhere is in nobody's way."""
    watch.put(pod("waits", queue="red.batch", unread=True))
    run(cluster, watch)
    assert value(scraped(client), "queues_without_preemption", cluster="east") == 0
    watch.put(pod("runs", queue="red.batch", node="n1", unread=True))
    run(cluster, watch)
    assert value(scraped(client), "queues_without_preemption", cluster="east") == 1
    watch.gone("runs")
    run(cluster, watch)
    assert value(scraped(client), "queues_without_preemption", cluster="east") == 0


def test_pods_without_a_queue_are_counted(client: Client, cluster: Cluster, watch: Watch) -> None:
    """Those that run and those that wait; the cluster's own namespace has hardly ever a queue."""
    run(cluster, watch)
    assert value(scraped(client), "pods_without_queue", cluster="east", state="running") == 0
    watch.put(pod("lost", queue="root.gone", node="n1"), pod("waits", queue="root.gone"))
    watch.put(pod("dns", namespace="kube-system", node="n1"))
    run(cluster, watch)
    found = scraped(client)
    assert value(found, "pods_without_queue", cluster="east", state="running") == 1
    assert value(found, "pods_without_queue", cluster="east", state="pending") == 1


def test_a_cluster_that_was_never_read_has_no_figures(client: Client, cluster: Cluster) -> None:
    """No zero stands for what nobody knows."""
    found = scraped(client)
    assert found["scheduler_admin_pending_pods"] == found["scheduler_admin_last_read_timestamp_seconds"] == []


def test_series_are_bounded_and_what_is_left_out_is_told(
    client: Client, cluster: Cluster, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of too many queues those nearest to the root are told."""
    monkeypatch.setattr(stored, "QUEUES", 3)
    run(cluster, watch)
    found = scraped(client)
    told = {labels["queue"] for labels, _value in found["scheduler_admin_pending_pods"]}
    assert told == {"root", "root.blue", "root.red"}
    assert value(found, "queues_not_exported", cluster="east") == 1


def test_what_queues_deserve_is_told_where_the_cluster_is_divided_by_shares(client: Client, watch: Watch) -> None:
    """Two queues of equal weight, which both want more than half."""
    terms = Terms(policy="deserved", dialect="arbitrator", parameters={})
    shape = tree({"red": queue(), "red.batch": queue(), "blue": queue()})
    run(add_cluster(shape, terms=terms, mode="observe"), watch)
    found = scraped(client)
    deserved = {name: value(found, "queue_deserved", queue=f"root.{name}", resource="cpu") for name in ("red", "blue")}
    assert deserved == {"red": 2, "blue": 2}


def test_without_shares_nothing_is_told_to_be_deserved(client: Client, cluster: Cluster, watch: Watch) -> None:
    run(cluster, watch)
    assert scraped(client)["scheduler_admin_queue_deserved"] == []


def test_a_scrape_takes_four_queries_whatever_there_is(client: Client, cluster: Cluster, watch: Watch) -> None:
    """Another cluster takes no more."""
    run(cluster, watch)
    other = Cluster.objects.create(name="west", hierarchy=cluster.hierarchy)
    run(other, watch)
    with CaptureQueriesContext(connection) as queries:
        assert value(scraped(client), "pending_pods", cluster="west", queue="root") == 1
    assert len(queries) == 4


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ä"])
def test_without_the_token_nothing_is_told(client: Client, cluster: Cluster, watch: Watch, header: str) -> None:
    """Queues of every tenant are named: 401, an empty body, and what to send."""
    run(cluster, watch)
    response = client.get("/metrics", headers={"Authorization": header})
    assert (response.status_code, response.content) == (401, b"")
    assert response["WWW-Authenticate"] == 'Bearer realm="metrics"'


def test_where_no_token_is_set_there_is_no_such_address(client: Client, settings: Any) -> None:
    """An empty token opens nothing."""
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_every_family_says_what_it_is(client: Client) -> None:
    """Help and a type that is known."""
    response = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    families = list(text_string_to_metric_families(response.content.decode()))
    assert families
    assert [one.name for one in families if not one.documentation or one.type == "unknown"] == []
