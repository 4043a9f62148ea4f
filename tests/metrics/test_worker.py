"""What the engine's worker counts, and tells at a port of its own."""

import http.client
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from pytest_django import DjangoCaptureOnCommitCallbacks

from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult
from engine.cluster.errors import ClusterError
from engine.cluster.watching.supervised import note_failure
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.watching.watchers import WATCHES
from scheduler_admin.core.monitoring import meters
from scheduler_admin.core.monitoring.meters import REGISTRY, Ended
from scheduler_admin.metrics.serving import serve
from scheduler_admin.worker import passes, tasks
from tests.metrics.reading import read, value
from tests.waiting import PATIENCE_S
from tests.worker.conftest import add_cluster
from tests.worker.conftest import watch as watch  # noqa: PLC0414
from tests.worker.passing import run
from tests.worker.watch import Watch

TOKEN = "a token of enough characters"


@pytest.fixture(autouse=True)
def _from_nothing() -> None:
    """Nothing is counted yet."""
    for one in (meters.PASSES, meters.DECISIONS, meters.OBSERVED, meters.ENDINGS, meters.EVICTIONS, meters.LOOPS):
        one.clear()


@pytest.fixture
def cluster(db: None) -> Cluster:
    return add_cluster()


def counted(name: str, **labels: str) -> float:
    return value(read(generate_latest(REGISTRY).decode()), name, **labels)


def test_a_decision_is_counted_once_it_is_stored(
    cluster: Cluster, watch: Watch, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    """With each eviction that it asked for; the passes after it, which only follow it, count nothing."""
    with django_capture_on_commit_callbacks(execute=True):
        run(cluster, watch, times=3)
    assert counted("decisions_total", cluster="east", policy="fence", outcome="preempt") == 1
    assert counted("evictions_total", cluster="east", result="accepted") == 1


def test_what_became_of_requests_and_decisions_is_told_apart(
    cluster: Cluster, watch: Watch, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    """A victim that the API server refuses to evict blocks its decision."""
    refusal = EvictionResult(outcome=EvictionOutcome.REFUSED, sentence="no")
    watch.actuator.evicting = {f"test-{number}": refusal for number in range(4)}
    with django_capture_on_commit_callbacks(execute=True):
        run(cluster, watch)
    assert counted("evictions_total", result="rejected") == 1
    assert counted("decisions_ended_total", cluster="east", ending="blocked") == 1


def test_what_others_decide_is_counted_by_who_did(
    cluster: Cluster, watch: Watch, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    """Once, though every pass comes across it."""
    Cluster.objects.update(mode=Cluster.Mode.OBSERVE)
    ago_ms = int(timezone.now().timestamp() * 1000) - 5_000
    gone = {"terminating": True, "disruption": "PreemptionByScheduler", "disrupted_ms": ago_ms}
    watch.put(msgspec.structs.replace(watch.state.pods["uid-test-0"], **gone))
    with django_capture_on_commit_callbacks(execute=True):
        run(cluster, watch, times=3)
    assert counted("observed_decisions_total", cluster="east", source="kube-scheduler") == 1


@pytest.mark.parametrize(
    ("does", "ended"),
    [(Ended.DONE, "done"), (ClusterError("gone"), "unreadable"), (ValueError("a mistake"), "failed")],
)
def test_a_pass_is_timed_however_it_ends(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, does: Ended | Exception, ended: str
) -> None:
    """Also where it fails."""

    def run_pass(**_given: object) -> Ended:
        if isinstance(does, Exception):
            raise does
        return does

    monkeypatch.setattr(passes, "run_pass", run_pass)
    monkeypatch.setattr(WATCHES, "of", lambda cluster: None)
    tasks.run_pass(cluster.pk)
    assert counted("pass_duration_seconds_count", cluster="east", result=ended) == 1


def test_threads_that_failed_are_counted() -> None:
    """By their names."""
    note_failure("of a test", ValueError())
    note_failure("of a test", ValueError())
    assert REGISTRY.get_sample_value("scheduler_admin_thread_failures_total", {"thread": "of a test"}) >= 2


def test_passes_say_how_they_ended(cluster: Cluster, watch: Watch) -> None:
    """Read, or not, or not ours."""
    current = Cluster.objects.select_related("hierarchy__current").get()
    assert passes.run_pass(cluster=current, watch=watch) is Ended.DONE
    watch.watcher.synced = False
    assert passes.run_pass(cluster=current, watch=watch) is Ended.UNREADABLE
    with watch.busy:
        assert passes.run_pass(cluster=current, watch=watch) is Ended.SKIPPED


@pytest.fixture
def port(settings: Any) -> Iterator[int]:
    """Where a worker tells what it knows."""
    settings.METRICS_TOKEN = TOKEN
    registry = CollectorRegistry()
    serving = serve("127.0.0.1", 0, registry)
    yield serving.port
    serving.stop()


def asked(port: int, header: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request("GET", "/metrics", headers={"Authorization": header})
    response = connection.getresponse()
    return response.status, response.read().decode()


def test_the_worker_tells_who_has_the_token(port: int) -> None:
    """With how much memory and time the process takes."""
    status, text = asked(port, f"Bearer {TOKEN}")
    assert status == 200
    assert read(text)["process_resident_memory_bytes"][0][1] > 0


@pytest.mark.parametrize("header", ["", "Bearer wrong"])
def test_the_worker_tells_nobody_else(port: int, header: str) -> None:
    """The port may be reached by others."""
    assert asked(port, header) == (401, "")
