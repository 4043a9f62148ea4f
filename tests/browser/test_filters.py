"""Filters apply themselves, tables are sorted by their heads, and a reader chooses the columns."""

from typing import Any

import pytest
from playwright.sync_api import expect

from scheduler_admin.clusters.models import Cluster
from tests.browser.conftest import OpenPage
from tests.pages import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HISTORY = "/clusters/demo/history/"
TREE = "/clusters/demo/queues/"


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    return rows.everything()


def test_a_filter_applies_as_it_is_set_and_keeps_the_focus(open_page: OpenPage, demo: Cluster) -> None:
    """A choice at once; a text on Enter. The address has both, so that a link can be sent."""
    page = open_page(HISTORY)
    decided_by = page.get_by_role("combobox", name="Decided by")
    decided_by.focus()
    decided_by.select_option("engine")
    page.wait_for_url("**source=engine**")
    expect(decided_by).to_be_focused()
    page.get_by_label("Namespace").fill("search")
    page.keyboard.press("Enter")
    page.wait_for_url("**namespace=search**source=engine**")
    expect(page.get_by_label("Namespace")).to_have_value("search")
    expect(page.get_by_role("button", name="Apply")).to_be_hidden()


def test_a_head_sorts_and_says_how(open_page: OpenPage, demo: Cluster) -> None:
    """The most first, then the least; names from A on."""
    page = open_page(TREE)
    head = page.get_by_role("columnheader", name="Pending pods")
    for said in ("descending", "ascending"):
        head.get_by_role("link").click()
        expect(head).to_have_attribute("aria-sort", said)
    name = page.get_by_role("columnheader", name="Queue", exact=True)
    name.get_by_role("link").click()
    expect(name).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("th[aria-sort]")).to_have_count(1)


def test_columns_are_chosen_and_stay_so(open_page: OpenPage, demo: Cluster) -> None:
    """Also after news and on the next visit; the first column names the row and stays."""
    page = open_page(HISTORY)
    page.get_by_text("Columns", exact=True).click()
    expect(page.get_by_role("group", name="Columns that are shown").get_by_label("Time")).to_have_count(0)
    page.get_by_label("Victim’s queue", exact=True).uncheck()
    head = page.get_by_role("columnheader", name="Victim’s queue")
    expect(head).to_be_hidden()
    assert page.url.endswith(HISTORY)
    page.reload()
    expect(page.get_by_role("columnheader", name="Requesting queue")).to_be_visible()
    expect(head).to_be_hidden()
    shown = page.locator("table[data-columns] tbody tr").first.locator("> :visible")
    expect(shown).to_have_count(page.locator("table[data-columns] thead th:visible").count())
