"""Times that people pick are in their own zone, wherever they pick one; addresses and the server have UTC."""

import re
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from scheduler_admin.clusters.models import Cluster, Pause
from tests.browser.conftest import OpenPage
from tests.pages import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HISTORY = "/clusters/demo/history/?range=between&from=2026-07-01T10:00&to=2026-07-01T12:00Z"


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    return rows.everything()


def test_a_period_is_read_and_sent_in_the_viewers_zone(open_page: OpenPage, demo: Cluster) -> None:
    """The zone stands beside the field, with its offset at that time of the year."""
    page = open_page(HISTORY, timezone_id="Europe/Berlin")
    begins = page.get_by_label("From")
    expect(begins).to_have_value("2026-07-01T12:00")
    expect(begins.locator("xpath=..")).to_contain_text("UTC+2")
    begins.fill("2026-01-01T09:30")
    expect(begins.locator("xpath=..")).to_contain_text("UTC+1")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(re.compile(r"from=2026-01-01T08%3A30Z&to=2026-07-01T12%3A00Z"))
    expect(page.get_by_label("From")).to_have_value("2026-01-01T09:30")


def test_a_pause_ends_when_the_viewer_said(open_page: OpenPage, demo: Cluster) -> None:
    """By the keyboard, from the top bar; the time is asked for only where the pause lasts until one."""
    page = open_page("/clusters/demo/nodes/", timezone_id="Asia/Tokyo")
    page.locator("#pulse-mode").focus()
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog", name="State of demo")
    expect(panel.get_by_label(re.compile("^Until"))).to_be_hidden()
    panel.get_by_label("Duration").select_option("Until a time")
    year = timezone.now().year + 1
    panel.get_by_label(re.compile("^Until")).fill(f"{year}-03-01T08:15")
    panel.get_by_label("Reason").fill("storage migration")
    panel.get_by_label("Reason").press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("demo is paused. No pods are evicted there.")
    assert f"{Pause.objects.get().until:%Y-%m-%d %H:%M}" == f"{year}-02-28 23:15"
    page.locator("#pulse-mode").click()
    expect(panel.get_by_role("button", name="Pause")).to_be_hidden()
    panel.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("status").first).to_contain_text("demo is resumed.")
