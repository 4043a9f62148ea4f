"""Shares in a real browser: sound in every look, and the time that is left counts down."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from scheduler_admin.clusters.models import Cluster
from tests.browser.conftest import OpenPage
from tests.browser.test_pages import RULES
from tests.web import rows
from tests.web.shares import QUEUE_B, divided

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUEUES = "/clusters/demo/queues/"
QUEUE = f"{QUEUES}{QUEUE_B}/?range=24h"


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    return divided(rows.everything())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("path", [QUEUES, QUEUE])
def test_axe_finds_nothing(open_page: OpenPage, demo: Cluster, path: str, width: int, scheme: str) -> None:
    """Nor does the page scroll sideways."""
    page = open_page(path, width=width, scheme=scheme)
    found = Axe().run(page, options=RULES).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_the_time_that_is_left_counts_down(open_page: OpenPage, demo: Cluster) -> None:
    """From second to second, to nothing."""
    page = open_page(QUEUE)
    left = page.locator("time[data-left]").first
    before = left.inner_text()
    expect(left).not_to_have_text(before)
    assert int(left.inner_text().split()[0]) < int(before.split()[0])
