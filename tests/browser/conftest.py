"""Chromium, signed in, with every message of its console kept: a page that breaks its own policy fails the test."""

import os
from collections.abc import Callable, Iterator
from threading import Condition
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from scheduler_admin.accounts.models import User
from scheduler_admin.queues.models import Draft
from tests.browser.chromium import launch
from tests.waiting import PATIENCE_S
from tests.web import rows
from tests.web.drafts import started

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # Playwright's loop runs in the test's own thread

PATIENCE_MS = PATIENCE_S * 1000
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


@pytest.fixture
def said() -> Iterator[list[str]]:
    """Errors and warnings of the console; there must be none in the end."""
    messages: list[str] = []
    yield messages
    assert messages == []


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


@pytest.fixture
def open_page(chromium: Browser, live_server: Any, said: list[str], _answered: None) -> Iterator[OpenPage]:
    """Opens a path as ada, in a window of a width and scheme."""
    contexts: list[BrowserContext] = []
    rows.user()

    def opened(path: str, *, width: int = 1280, scheme: Any = "light", **options: Any) -> Page:
        context = chromium.new_context(
            base_url=live_server.url, viewport={"width": width, "height": 900}, color_scheme=scheme, **options
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: message.type in {"error", "warning"} and said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto("/sign-in/")
        if path != "/sign-in/":
            page.get_by_label("User name").fill("ada")
            page.get_by_label("Password").fill(rows.PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url(lambda url: "/sign-in/" not in url)
            page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def draft(live_server: Any) -> Draft:
    """Rae's, of the fence example."""
    demo = rows.everything()
    rows.user("rae", User.Role.ADMIN)
    return started(demo, by="rae")
