"""Shares in a real browser: sound in every look, and the time that is left counts down."""

from typing import Any

import pytest
from playwright.sync_api import expect

from scheduler_admin.clusters.models import Cluster
from tests.browser.conftest import OpenPage
from tests.browser.sound import faults
from tests.web import rows
from tests.web.shares import QUEUE_B, divided

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUEUES = "/clusters/demo/queues/"
QUEUE = f"{QUEUES}{QUEUE_B}/?range=24h"


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    return divided(rows.everything())


@pytest.mark.parametrize("path", [QUEUES, QUEUE])
def test_it_is_sound_in_every_look(open_page: OpenPage, demo: Cluster, path: str) -> None:
    """With what was divided."""
    assert faults(open_page(path)) == {}


def test_the_time_that_is_left_counts_down(open_page: OpenPage, demo: Cluster) -> None:
    """From second to second, to nothing."""
    page = open_page(QUEUE)
    left = page.locator("time[data-left]").first
    before = left.inner_text()
    expect(left).not_to_have_text(before)
    assert int(left.inner_text().split()[0]) < int(before.split()[0])
