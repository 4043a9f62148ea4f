"""The whole product from the keyboard: to the search, to a page, and the list of keys."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from scheduler_admin.clusters.models import Cluster
from tests.browser.conftest import OpenPage
from tests.pages import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TREE = "/clusters/demo/queues/"


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    return rows.everything()


def keys(page: Page, *pressed: str) -> None:
    """One after the other."""
    for key in pressed:
        page.keyboard.press(key)


def test_a_slash_leads_to_the_search(open_page: OpenPage, demo: Cluster) -> None:
    """And what stands there is chosen, so that typing begins anew; the slash itself is not typed."""
    page = open_page(f"{TREE}?q=tenant")
    keys(page, "/", "a")
    expect(page.get_by_role("searchbox")).to_have_value("a")


def test_a_slash_leads_to_the_filters_of_a_page_without_a_search(open_page: OpenPage, demo: Cluster) -> None:
    """The first of them."""
    page = open_page("/clusters/demo/history/")
    keys(page, "/")
    expect(page.locator("#f-range")).to_be_focused()


@pytest.mark.parametrize(
    ("letter", "leads"),
    [("c", "/clusters/"), ("f", "/fences/"), ("h", "/history/"), ("e", "/editor/"), ("p", "/pods/")],
)
def test_g_and_a_letter_lead_to_a_page(open_page: OpenPage, demo: Cluster, letter: str, leads: str) -> None:
    """The letters stand in the list."""
    page = open_page(TREE)
    keys(page, "g", letter)
    page.wait_for_url(f"**{leads}")


def test_keys_are_what_is_typed_in_a_field(open_page: OpenPage, demo: Cluster) -> None:
    """Nobody is led away from a word that they write."""
    page = open_page(TREE)
    search = page.get_by_role("searchbox")
    search.focus()
    keys(page, "g", "h", "?", "/")
    expect(search).to_have_value("gh?/")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert page.url.endswith(TREE)


def test_a_question_mark_lists_the_keys(open_page: OpenPage, demo: Cluster) -> None:
    """Escape closes the list, and one is where one was."""
    page = open_page(TREE)
    fold = page.get_by_role("link", name="Collapse tenant-1")
    fold.focus()
    keys(page, "?")
    listed = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(listed).to_contain_text(re.compile(r"g\s+q\s+Queues"))
    keys(page, "Escape")
    expect(listed).to_be_hidden()
    expect(fold).to_be_focused()


def test_the_list_opens_from_the_menu_too(open_page: OpenPage, demo: Cluster) -> None:
    """For those who don't know the key yet."""
    page = open_page(TREE)
    menu = page.get_by_role("button", name="ada")
    menu.click()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    keys(page, "Escape")
    expect(menu).to_be_focused()


def test_single_keys_can_be_turned_off(open_page: OpenPage, demo: Cluster) -> None:
    """Who dictates sets them off without meaning to; it is kept in the browser."""
    page = open_page(TREE)
    keys(page, "?")
    page.get_by_label("Use single-key shortcuts in this browser").uncheck()
    keys(page, "Escape")
    page.reload()
    keys(page, "?", "/")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("searchbox")).not_to_be_focused()
    page.get_by_role("button", name="ada").click()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    page.get_by_label("Use single-key shortcuts in this browser").check()
    keys(page, "Escape", "/")
    expect(page.get_by_role("searchbox")).to_be_focused()
