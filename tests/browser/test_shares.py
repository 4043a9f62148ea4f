"""Shares in a real browser: sound in every look, and the time that is left counts down."""

from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from scheduler_admin.clusters.models import Cluster, Notice
from tests.browser.conftest import OpenPage
from tests.browser.sound import faults
from tests.pages import rows
from tests.pages.queues.shares import QUEUE_B, divided

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
    due = Notice.objects.get().due_at
    page = open_page("/clusters/", isolated=True)  # its clock is that of the whole context
    page.clock.set_fixed_time(due - timedelta(seconds=15))
    page.goto(QUEUE)
    left = page.locator("time[data-left]").first
    for seconds, text in ((-15, "15 s"), (-12, "12 s"), (5, "0 s")):
        page.clock.set_fixed_time(due + timedelta(seconds=seconds))
        expect(left).to_have_text(text)
