"""Whatever goes wrong between us and the API server: nothing is evicted, the page says what, and it heals alone."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.utils import timezone

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Notice
from tests.cluster.certificates import authority, issued, serving
from tests.cluster.doubles import Answer, Asked
from tests.faults.conftest import World
from tests.pages import rows
from tests.pages.conftest import client_of
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db


def page() -> str:
    """The page of all clusters, as an operator reads it."""
    otto = User.objects.filter(username="otto").first() or rows.user("otto", User.Role.OPERATOR)
    return unescape(client_of(otto).get("/clusters/", secure=True).content.decode())


def half_a_line(asked: Asked, answer: Answer) -> None:
    """A watch gets half an event, a list half its page; then nothing."""
    answer.raw(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n" + b'{"type":"ADDED","obj'
    )
    answer.hang()


def trickle(asked: Asked, answer: Answer) -> None:
    """Byte after byte, so that no single wait is long."""
    answer.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n")
    for _ in range(9999):
        answer.raw(b" ")
        answer.wait(0.02)


def truncated(asked: Asked, answer: Answer) -> None:
    """A page that is whole by its length, and no whole document: watches are told to begin with a list."""
    if "watch" in asked.query:
        answer.status(410, "Expired", "too old resource version")
        return
    answer.json(200, b'{"kind":"List","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"na')


def login(asked: Asked, answer: Answer) -> None:
    """The page of a proxy."""
    answer.json(200, b"<!doctype html><title>Sign in</title>", {"Content-Type": "text/html"})


FAULTS: dict[str, tuple[Callable[[Asked, Answer], None], str]] = {
    "429": (lambda _asked, answer: answer.status(429, "TooManyRequests", "too many requests"), "too many requests"),
    "429 with a time": (
        lambda _asked, answer: answer.status(429, "TooManyRequests", "slow down", headers={"Retry-After": "1"}),
        "slow down",
    ),
    "500": (lambda _asked, answer: answer.status(500, "InternalError", "etcdserver: leader changed"), "leader changed"),
    "503 without a word": (lambda _asked, answer: answer.json(503, b""), "the API server answered 503"),
    "redirected": (
        lambda _asked, answer: answer.json(302, b"", {"Location": "https://login.example/"}),
        "the API server answered 302",
    ),
    "forbidden": (lambda _asked, answer: answer.status(403, "Forbidden", "no right to list"), "no right to list"),
    "silent": (lambda _asked, answer: answer.hang(), "did not respond in time"),
    "half a line": (half_a_line, "did not respond in time"),
    "trickling": (trickle, "did not respond in time"),
    "reset": (lambda _asked, answer: answer.reset(), "the connection to the API server broke"),
    "truncated": (truncated, "can't be read"),
    "nothing": (lambda _asked, answer: answer.json(200, b""), "the list of namespaces can't be read"),
    "a login page": (login, "the response is a web page"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_evicts_nothing_is_told_and_heals(world: World, name: str) -> None:
    """The ask came while nothing could be read: it gets its room once all is well again, by nobody's doing."""
    assert world.run().error == ""
    world.proxy.fault, words = FAULTS[name]
    world.add_ask()
    world.in_trouble(words)
    began = datetime.now(UTC)
    since = world.run().error_since
    assert since is not None
    assert since >= began
    status = world.run()
    assert words in status.error
    assert status.error_since == since
    assert world.evicted() == []
    html = page()
    assert "can't be read" in html
    assert status.error in html
    heals(world)


def test_a_days_outage_is_one_trouble_and_ends_as_it_began(world: World) -> None:
    """A pass an hour, with nobody there: no row is added, and what went meanwhile is not evicted."""
    assert world.run().error == ""
    world.proxy.fault, words = FAULTS["reset"]
    world.add_ask()
    world.in_trouble(words)
    since = world.run().error_since
    before = kept()
    with time_machine.travel(timezone.now(), tick=True) as clock:
        for _ in range(24):
            clock.shift(timedelta(hours=1))
            world.clock.ahead_s += 3600
            status = world.run()
            assert (words in status.error, status.error_since) == (True, since)
        assert kept() == before
        assert world.evicted() == []
        assert "can't be read" in page()
        gone = "/api/v1/namespaces/default/pods/test-3"
        world.proxy.simulated.connection().request("DELETE", gone, query={"gracePeriodSeconds": "0"})
        world.add_pod("test-4", "test", "n1")
        heals(world)
    assert "test-3" not in world.evicted()


def kept() -> dict[str, int]:
    """How many rows there are of everything that passes write."""
    models: list[type[Any]] = [Notice, *apps.get_app_config("history").get_models()]
    return {model.__name__: model.objects.count() for model in models}


def heals(world: World) -> None:
    """All is well again: the pass that sees the ask evicts for it, and the page has nothing to complain of."""
    world.proxy.fault = None
    world.well()
    wait_for(lambda: world.run().error == "" and world.evicted(), "the ask gets its room")
    # Events, which passes do without, may be read again a moment later than the rest.
    wait_for(lambda: world.run().error == "" and "can't be read" not in page(), "the page has nothing to complain of")


@pytest.mark.parametrize("fault", ["expired", "of another host", "of another authority"])
def test_a_certificate_that_is_not_good_is_told_and_a_new_one_is_taken(
    world: World, fault: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Only connections opened from now on see it, so those that stand are broken."""
    folder = tmp_path_factory.mktemp("bad")
    shows = {
        "expired": lambda: issued(authority(), "kube-apiserver", ends=datetime(2025, 3, 1, tzinfo=UTC)),
        "of another host": lambda: issued(authority(), "kube-apiserver", address="192.0.2.1"),
        "of another authority": lambda: issued(authority("other"), "kube-apiserver"),
    }
    show(world, shows[fault](), folder)
    world.proxy.fault = FAULTS["reset"][0]
    world.add_ask()
    world.in_trouble("the TLS connection to the API server failed")
    status = world.run()
    assert "the TLS connection to the API server failed" in status.error
    if fault == "expired":
        assert "2025-03-01" in status.error
    assert status.error in page()
    assert world.evicted() == []
    show(world, issued(authority(), "kube-apiserver"), folder)
    heals(world)


def show(world: World, pair: tuple[str, str], folder: Path) -> None:
    """From now on the API server has this certificate."""
    serving(*pair, folder)
    world.tls.load_cert_chain(folder / "server.pem")


def test_a_token_that_was_rotated_is_told_until_the_new_one_is_there(world: World) -> None:
    """Its file is written anew, and nobody restarts anything."""

    def strict(asked: Asked, answer: Answer) -> None:
        if asked.headers.get("Authorization") == "Bearer second":
            world.proxy.passed_on(asked, answer)
        else:
            answer.status(401, "Unauthorized", "Unauthorized")

    world.proxy.fault = strict
    world.add_ask()
    world.in_trouble("Unauthorized")
    assert "Unauthorized" in world.run().error
    assert world.evicted() == []
    world.token.write_text("second")
    world.well()
    wait_for(lambda: world.run().error == "" and world.evicted(), "the ask gets its room")
