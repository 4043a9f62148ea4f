"""The pages of notifications in a real browser: nothing for axe to find, and a test that is waited for and told."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from scheduler_admin.accounts.models import Tenant
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.services import add_channel
from tests.browser.conftest import OpenPage
from tests.browser.sound import faults
from tests.notifications.receiver import SECRET

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def channel(live_server: Any) -> Channel:
    """A webhook with a message of each state; nothing listens where it leads."""
    tenant = Tenant.objects.create(name="vision", namespaces=["vision"])
    made = add_channel(
        tenant=tenant,
        kind="webhook",
        address="https://hooks.invalid/hook",
        secret=SECRET,
        values={"name": "alerts", "below_min": 15},
        actor=None,
    )
    said = {"event": "preempted", "lines": ["2 pods of etl were preempted.", "Why."], "link": "http://site/pods/"}
    for state in Notification.State.values:
        error = "hooks.invalid responded with 503." if state in ("waiting", "failed") else ""
        now = timezone.now()
        Notification.objects.create(
            channel=made, about=state, state=state, error=error, attempts=2, created_at=now, due_at=now, **said
        )
    return made


@pytest.mark.parametrize("path", ["/notifications/", "/notifications/{pk}/"])
def test_it_is_sound_in_every_look(open_page: OpenPage, channel: Channel, path: str) -> None:
    """With a message of each state."""
    assert faults(open_page(path.format(pk=channel.pk))) == {}


def test_a_test_is_waited_for_and_told(open_page: OpenPage, channel: Channel) -> None:
    """With what went wrong, at the top of the page."""
    page = open_page(f"/notifications/{channel.pk}/")
    page.get_by_role("button", name="Send test message").click()
    page.wait_for_selector(".notice.error")
    assert "hooks.invalid can’t be resolved" in page.inner_text(".notice.error")


def test_a_channel_of_the_site_has_events_of_its_own(open_page: OpenPage, channel: Channel) -> None:
    """Which are there once the site is chosen, in place of those of tenants."""
    page = open_page("/notifications/")
    of_tenants, of_site = (
        page.get_by_label("Pods that were preempted"),
        page.get_by_label("Changes of a cluster’s mode"),
    )
    expect(of_tenants).to_be_visible()
    expect(of_site).to_be_hidden()
    page.get_by_label("Tenant").select_option("The site")
    expect(of_tenants).to_be_hidden()
    of_site.check()
    page.get_by_label("Name").fill("platform")
    page.get_by_label("Address").fill("https://hooks.invalid/platform")
    page.get_by_label("Format").select_option("CloudEvents")
    page.get_by_role("button", name="Add channel").click()
    expect(page.get_by_text("Channel added.")).to_be_visible()
    expect(page.locator("dl.facts")).to_contain_text("mode changed")
    assert faults(page) == {}
