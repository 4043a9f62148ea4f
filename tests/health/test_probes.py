"""Probes: whether the process lives, whether it can serve, and which version it is."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from redis import Redis

from scheduler_admin.health import checks
from scheduler_admin.health.middleware import PROBES
from tests.ports import free_port

BASE = Path(__file__).parents[2]
WITHOUT_BROKER = "/readyz?exclude=broker"


@pytest.fixture
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens where Redis should be."""
    away = Redis(port=free_port(), socket_connect_timeout=1)
    monkeypatch.setattr(checks, "broker_client", lambda: away)


@pytest.fixture
def _broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis responds."""

    class Answering:
        def ping(self) -> bool:
            return True

    monkeypatch.setattr(checks, "broker_client", Answering)


def away(execute: Callable[..., Any], *rest: Any) -> Any:
    """Answer a query as a database that is away."""
    del execute, rest
    raise OperationalError("the connection is lost")


@pytest.mark.django_db
@pytest.mark.usefixtures("_broker")
def test_a_process_that_has_all_it_needs_is_ready(client: Client) -> None:
    """Each check is named."""
    answer = client.get("/readyz")
    every = {"database": "ok", "migrations": "ok", "broker": "ok"}
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "checks": every})
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.django_db
@pytest.mark.usefixtures("_broker")
def test_without_its_database_a_process_lives_but_is_not_ready(client: Client) -> None:
    """A restart would not bring the database back."""
    with connection.execute_wrapper(away):
        assert client.get("/livez").status_code == 200
        answer = client.get("/readyz")
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert answer.json()["checks"] == {"database": "unavailable", "migrations": "unavailable", "broker": "ok"}
    assert "connection" not in answer.content.decode()


@pytest.mark.django_db
def test_a_schema_older_than_the_code_is_not_ready(client: Client) -> None:
    """A new pod gets no requests before the migrations have ended."""
    MigrationRecorder(connection).migration_qs.filter(app="clusters").delete()
    answer = client.get(WITHOUT_BROKER)
    assert answer.status_code == 503
    assert answer.json()["checks"] == {"database": "ok", "migrations": "not migrated"}


@pytest.mark.django_db
def test_a_schema_newer_than_the_code_is_ready(client: Client) -> None:
    """During an upgrade, the pods of the release before keep serving."""
    MigrationRecorder(connection).record_applied("clusters", "9999_of_the_next_release")
    assert client.get(WITHOUT_BROKER).status_code == 200


@pytest.mark.django_db
@pytest.mark.usefixtures("_no_broker")
def test_a_missing_broker_can_be_left_out(client: Client) -> None:
    """Pages need no Redis, so their probe leaves it out."""
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["broker"]) == (503, "unavailable")
    assert client.get(WITHOUT_BROKER).status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("path", sorted(PROBES - {"/readyz"} | {WITHOUT_BROKER}))
def test_probes_come_to_any_address_of_a_pod_without_tls_or_login(client: Client, settings: Any, path: str) -> None:
    """No redirect, no cookie, and no check of the host name."""
    settings.SECURE_SSL_REDIRECT = True
    settings.ALLOWED_HOSTS = ["scheduler-admin.example.com"]
    answer = client.get(path, headers={"host": "10.1.2.3:8000"})
    assert (answer.status_code, dict(answer.cookies)) == (200, {})
    assert client.post(path).status_code == 405
    assert client.get("/sign-in/", headers={"host": "10.1.2.3:8000"}).status_code in {301, 400}


def test_the_version_is_the_products(client: Client, settings: Any) -> None:
    """The revision is there if the image was built with one."""
    wanted = tomllib.loads((BASE / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert client.get("/version").json() == {"version": wanted, "revision": None}
    settings.REVISION = "4f2a"
    assert client.get("/version").json() == {"version": wanted, "revision": "4f2a"}
