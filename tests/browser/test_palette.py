"""The palette: from any page to anything, by the keyboard."""

from typing import Any

import pytest
from playwright.sync_api import Route, expect

from scheduler_admin.clusters.models import Cluster
from tests.browser.conftest import OpenPage
from tests.browser.sound import ALL, violations
from tests.pages import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGE = "/clusters/demo/queues/"


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    return rows.everything()


def test_it_leads_to_a_queue_and_to_a_page(open_page: OpenPage, demo: Cluster) -> None:
    """Typed, chosen with the arrows, opened with Enter; Escape leads back to where one was."""
    page = open_page(PAGE)
    page.locator("main a").first.focus()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find a page")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    expect(page.locator("main a").first).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("queue-b")
    option = page.get_by_role("option", name="root.tenant-1.queue-b")
    expect(option).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", option.get_attribute("id") or "")
    assert violations(page, ALL) == []
    page.keyboard.press("Enter")
    page.wait_for_url("**/clusters/demo/queues/root.tenant-1.queue-b/")
    page.keyboard.press("Control+k")
    page.keyboard.type("hist")
    expect(page.get_by_role("option", name="History")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.wait_for_url("**/clusters/demo/history/")


def test_its_button_says_when_nothing_is_found(open_page: OpenPage, demo: Cluster) -> None:
    """With the mouse, and in words that are read aloud."""
    page = open_page(PAGE, width=360, scheme="dark")
    page.get_by_role("link", name="Find").click()
    page.keyboard.type("no such name")
    expect(page.locator("#palette-found")).to_contain_text("Nothing here has “no such name” in its name")
    expect(page.locator("#palette [role=status]")).to_have_text("0 found")


def test_letters_typed_while_it_is_loading_are_kept(open_page: OpenPage, demo: Cluster) -> None:
    """Its field is there before what finds has come over a slow line."""
    page = open_page(PAGE)
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/palette*.js", hold)
    with page.expect_request("**/palette*.js"):
        page.get_by_role("link", name="Find").click()
    page.keyboard.type("queue-b")
    for route in waiting:
        route.continue_()
    expect(page.get_by_role("option", name="root.tenant-1.queue-b")).to_have_attribute("aria-selected", "true")
