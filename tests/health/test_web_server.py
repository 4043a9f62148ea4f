"""The web server shares what it loads between its processes, and keeps nothing of what it has answered."""

import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from scheduler_admin.health.turns import MOST, in_turn

BASE = Path(__file__).parents[2]
LOADED = """
import threading
import scheduler_admin.wsgi
from django.db import connections
assert threading.active_count() == 1, threading.enumerate()
assert all(one.connection is None for one in connections.all())
"""
CONFIGURED = """
from runpy import run_path
run_path("gunicorn.conf.py")
from scheduler_admin import settings
print(settings._LOCK_WAIT_S)
"""


def test_nothing_that_is_loaded_is_unsafe_to_fork() -> None:
    """No thread would go on in a worker process, and none may use a connection of another."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", LOADED], cwd=BASE, check=True)


def test_locks_are_waited_for_as_long_as_is_documented() -> None:
    """Gunicorn's configuration reads the settings before the application does."""
    environment = {name: value for name, value in os.environ.items() if name != "LOCK_WAIT_S"}
    done = subprocess.run(
        [sys.executable, "-c", CONFIGURED], cwd=BASE, env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == ["4"]


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage is collected meanwhile."""
    gc.disable()
    yield
    gc.enable()


class Ring:
    """What refers to itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.usefixtures("uncollected")
def test_what_a_long_answer_leaves_is_looked_for_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document of 20,000 queues leaves hundreds of megabytes."""
    from scheduler_admin import wsgi  # noqa: PLC0415 - it sets up Django

    monkeypatch.setattr(wsgi, "_LONG_S", -1.0)
    left = weakref.ref(Ring())
    wsgi.Request(RequestFactory().get("/").environ).close()
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join()
    assert left() is None


@pytest.mark.django_db
@pytest.mark.usefixtures("uncollected")
def test_a_request_is_gone_when_it_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the garbage collector, though request.user refers to its request."""
    from scheduler_admin.wsgi import Application, Request  # noqa: PLC0415 - it freezes what is loaded

    users = list[weakref.ref[Any]]()

    class Watched(Request):
        def close(self) -> None:
            users.append(weakref.ref(self.user))
            super().close()

    monkeypatch.setattr(Application, "request_class", Watched)
    environ = RequestFactory(headers={"host": "localhost"}).get("/sign-in/").environ
    response = Application()(environ, lambda _status, _headers: None)
    assert b"".join(response)
    response.close()
    assert [user() for user in users] == [None]


def test_only_some_requests_are_worked_on_at_once() -> None:
    """The others wait, and are answered too."""
    counted, most, lock, enough = 0, 0, threading.Lock(), threading.Barrier(MOST)

    def view(_request: HttpRequest) -> HttpResponse:
        nonlocal counted, most
        with lock:
            counted += 1
            most = max(most, counted)
        enough.wait(timeout=60)
        with lock:
            counted -= 1
        return HttpResponse()

    answer, request = in_turn(view), RequestFactory().get("/")
    with ThreadPoolExecutor(2 * MOST) as threads:
        answers = list(threads.map(lambda _: answer(request), range(2 * MOST)))
    assert (len(answers), most) == (2 * MOST, MOST)
