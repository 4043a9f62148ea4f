"""Chromium, signed in, with every message of its console kept: a page that breaks its own policy fails the test."""

import os
from collections.abc import Callable, Iterator
from threading import Condition
from typing import Any

import pytest
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.test import Client
from playwright.sync_api import Browser, Page, expect, sync_playwright

from scheduler_admin.accounts.models import User
from scheduler_admin.queues.models import Draft
from tests.browser.chromium import launch
from tests.browser.windows import PATIENCE_MS, WindowPool
from tests.pages import rows
from tests.pages.queues.drafts import started
from tests.waiting import PATIENCE_S

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # Playwright's loop runs in the test's own thread

expect.set_options(timeout=PATIENCE_MS)

OpenPage = Callable[..., Page]


@pytest.fixture(autouse=True)
def _plain(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = False
    settings.SESSION_COOKIE_SECURE = False
    settings.CSRF_COOKIE_SECURE = False
    settings.SIMULATOR_URL = ""


@pytest.fixture(scope="package")  # its event loop must not outlive these tests
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


class Console(list[str]):
    """Errors and warnings that a page's console has."""

    refusals = False

    def expect_refusals(self) -> None:
        """Take it for well that the browser notes requests that fail, those still to come too."""
        self.refusals = True

    def unexpected(self) -> list[str]:
        """All others."""
        return [text for text in self if not (self.refusals and text.startswith("Failed to load resource"))]


@pytest.fixture
def said() -> Iterator[Console]:
    """What the console says, which is nothing unexpected in the end."""
    console = Console()
    yield console
    assert console.unexpected() == []


@pytest.fixture
def _answered(live_server: Any) -> Iterator[None]:
    """The server answers to the end before the test's database is taken away: a page that is left still asks."""
    going, changed = [0], Condition()

    def count(by: int) -> None:
        with changed:
            going[0] = max(0, going[0] + by)  # what ends may have begun before, from a page of another test
            changed.notify_all()

    def begins(**_: Any) -> None:
        count(1)

    def ends(**_: Any) -> None:
        count(-1)

    request_started.connect(begins)
    request_finished.connect(ends)
    try:
        yield
        with changed:
            assert changed.wait_for(lambda: not going[0], timeout=PATIENCE_S), "a request is not answered"
    finally:
        request_started.disconnect(begins)
        request_finished.disconnect(ends)


@pytest.fixture(scope="package")
def windows(chromium: Browser, live_server: Any) -> WindowPool:
    """Share one pool of windows between all browser tests."""
    return WindowPool(chromium, live_server.url)


@pytest.fixture
def open_page(windows: WindowPool, live_server: Any, said: Console, _answered: None) -> Iterator[OpenPage]:
    """Opens a path as somebody who has signed in before, in a window of a width and scheme; the sign-in page as nobody.

    The default is ada, an admin.
    """

    def opened(path: str, *, who: str = "ada", width: int = 1280, scheme: Any = "light", **options: Any) -> Page:
        page = windows.open(width=width, scheme=scheme, **options)
        page.on("console", lambda message: message.type in {"error", "warning"} and said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        if path != "/sign-in/":
            cookie = {"name": settings.SESSION_COOKIE_NAME, "value": _session_of(who), "url": live_server.url}
            page.context.add_cookies([cookie])  # type: ignore[list-item]
        page.goto(path)
        return page

    yield opened
    windows.reset()


def _session_of(name: str) -> str:
    client = Client()
    client.force_login(User.objects.filter(username=name).first() or rows.user(name))
    return str(client.session.session_key)


@pytest.fixture
def draft(live_server: Any) -> Draft:
    """Rae's, of the fence example."""
    demo = rows.everything()
    rows.user("rae", User.Role.ADMIN)
    return started(demo, by="rae")
