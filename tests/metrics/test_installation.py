"""What the web process tells of the installation itself."""

from typing import Any

import pytest
from django.test import Client
from redis import Redis

from scheduler_admin.celery import app
from scheduler_admin.core.monitoring.meters import TASKS
from scheduler_admin.core.monitoring.release import version
from scheduler_admin.demo.environment import Place
from scheduler_admin.metrics import installation
from scheduler_admin.metrics.requests import REQUESTS
from tests.deploy.test_redis import place as place  # noqa: PLC0414
from tests.deploy.test_redis import redis as redis  # noqa: PLC0414
from tests.metrics.reading import Samples, read, value
from tests.ports import free_port

pytestmark = pytest.mark.django_db
TOKEN = "a token of enough characters"


@pytest.fixture(autouse=True)
def _token(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


def scraped(client: Client) -> Samples:
    response = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.status_code == 200
    return read(response.content.decode())


def test_the_release_is_named(client: Client, settings: Any) -> None:
    settings.REVISION = "abc123"
    assert value(scraped(client), "build_info", version=version(), revision="abc123") == 1


def test_tasks_that_nobody_takes_are_counted(
    client: Client, place: Place, redis: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each queue."""
    del redis
    broker = Redis(unix_socket_path=str(place.socket))
    monkeypatch.setattr(installation, "broker_client", lambda: broker)
    with app.connection_for_write(f"redis+socket://{place.socket}") as connection:
        for _ in range(3):
            app.send_task("scheduler_admin.history.tasks.prune", queue="housekeeping", connection=connection)
    samples = scraped(client)
    assert [value(samples, "tasks_waiting", queue=queue) for queue in ("engine", "housekeeping")] == [0, 3]


def test_without_redis_everything_else_is_told(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    away = Redis(port=free_port(), socket_connect_timeout=1)
    monkeypatch.setattr(installation, "broker_client", lambda: away)
    samples = scraped(client)
    assert value(samples, "notifications_pending") == 0
    assert samples["scheduler_admin_tasks_waiting"] == []


def test_requests_are_timed_by_their_route(client: Client) -> None:
    """A route, not an address: names of queues would be series without end."""
    REQUESTS.clear()
    for path in ("/clusters/a/history/", "/clusters/b/history/", "/nothing"):
        client.get(path)
    client.generic("BREW", "/nothing")
    counted = {
        (sample.labels["method"], sample.labels["route"], sample.labels["status"]): sample.value
        for metric in REQUESTS.collect()
        for sample in metric.samples
        if sample.name.endswith("_count")
    }
    assert counted == {
        ("GET", "clusters/<slug:name>/history/", "3xx"): 2,
        ("GET", "", "4xx"): 1,
        ("other", "", "4xx"): 1,
    }


def test_a_web_server_is_read_at_the_address_of_its_pod(client: Client, settings: Any) -> None:
    """Each counts its own requests. The token is needed there, too."""
    settings.ALLOWED_HOSTS = ["scheduler-admin.example.com"]
    settings.SECURE_SSL_REDIRECT = True
    headers = {"host": "10.1.2.3:8000", "Authorization": f"Bearer {TOKEN}"}
    answer = client.get("/metrics/requests", headers=headers)
    assert (answer.status_code, dict(answer.cookies)) == (200, {})
    assert "http_request_duration_seconds" in answer.content.decode()
    assert client.get("/metrics/requests", headers={"host": "10.1.2.3:8000"}).status_code == 401
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics/requests", headers=headers).status_code == 404


def test_tasks_are_timed_with_their_result() -> None:
    @app.task(name="tests.tasks.timed")
    def timed(*, fails: bool) -> None:
        if fails:
            raise RuntimeError

    TASKS.clear()
    timed.apply(kwargs={"fails": False})
    timed.apply(kwargs={"fails": True})
    results = {sample.labels["result"] for metric in TASKS.collect() for sample in metric.samples}
    assert results == {"success", "failure"}
