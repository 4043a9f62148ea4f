"""The page of the REST API: all routes, tried out as the reader, with nothing from elsewhere."""

from typing import Any

import pytest
from playwright.sync_api import Page, Request

from tests.browser.conftest import Console, OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def docs(open_page: OpenPage) -> Page:
    page = open_page("/docs/api/")
    page.locator(".opblock").first.wait_for()
    return page


def _tried(page: Page, operation: str) -> int:
    """The status of an operation's answer when it is tried with what stands there."""
    block = page.locator(f"[id$='-{operation}']")
    block.locator("button.opblock-summary-control").click()
    block.locator(".try-out__btn").click()
    with page.expect_response("**/api/v1/**") as answer:
        block.locator("button.execute").click()
    return answer.value.status


def test_it_lists_every_route_of_the_document(docs: Page) -> None:
    document = docs.evaluate("async () => (await fetch('/api/v1/openapi.json')).json()")
    described = [*document["paths"].values(), *document["webhooks"].values()]
    operations = sum(map(len, described))
    assert docs.locator(".opblock").count() == operations


def test_what_is_tried_is_asked_as_the_person_who_reads(docs: Page) -> None:
    assert _tried(docs, "list_clusters") == 200


def test_what_writes_passes_the_guard_against_other_sites(docs: Page, said: Console) -> None:
    with docs.expect_console_message():  # the browser tells of the 422
        assert _tried(docs, "lint_document") == 422  # what stands there as an example is no document
    said.expect_refusals()


def test_it_asks_nobody_else(docs: Page, live_server: Any) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    docs.on("request", note)
    docs.reload()
    docs.locator(".opblock").first.wait_for()
    assert asked
    assert [url for url in asked if not url.startswith((live_server.url, "data:"))] == []


def test_it_is_dark_where_the_page_is(open_page: OpenPage) -> None:
    page = open_page("/docs/api/", scheme="dark")
    page.locator("html.dark-mode").wait_for()
