"""What can be copied: names and summaries, with a confirmation that is spoken, and as plain text without JavaScript."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone
from playwright.sync_api import expect

from scheduler_admin.clusters.models import ClusterStatus
from scheduler_admin.decisions.models import Decision
from tests.browser.sound import faults
from tests.pages import moments, rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
POD = "/pods/demo/search/embed-batch-7f9c-x8v2d/"
HEARD = "() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }"
REFUSED = "() => { navigator.clipboard.writeText = async () => { throw new Error('no'); }; }"


@pytest.fixture
def cluster():
    """Queue-b's tenant and an admin, and a preemption that was carried out."""
    made = rows.cluster("demo")
    rows.status(made)
    moments.carried_out(moments.decide(made)[0])
    rows.tenant_user("tess", "root.tenant-1.queue-b", ("search",))
    rows.user("ada")
    return made


def test_a_name_is_copied_and_that_is_spoken(cluster, open_page):
    """By the button behind it, which the keyboard reaches."""
    page = open_page(POD, who="tess")
    page.evaluate(HEARD)
    page.get_by_role("button", name="Copy search/embed-batch-7f9c-x8v2d").press("Enter")
    expect(page.locator("#copied")).to_have_text("Copied search/embed-batch-7f9c-x8v2d")
    assert page.evaluate("window.copied") == "search/embed-batch-7f9c-x8v2d"
    assert faults(page) == {}


@pytest.mark.parametrize("who", ["tess", "ada"])
def test_a_summary_for_a_ticket_is_copied_whole(cluster, open_page, who):
    """Which pod, when, what happened and why, in numbers, with a link."""
    row = Decision.objects.get(outcome="preempt")
    page = open_page(POD if who == "tess" else f"/clusters/demo/decisions/{row.pk}/", who=who)
    page.evaluate(HEARD)
    page.get_by_role("button", name="Copy summary").click()
    expect(page.locator("#copied")).to_have_text("Copied the summary")
    copied = page.evaluate("window.copied")
    assert "below its guarantee" in copied
    assert f"Time: {row.first_seen:%Y-%m-%d %H:%M:%S} UTC" in copied
    assert "- nvidia.com/gpu: used 6 before, 4 after, guaranteed 2, max" in copied
    assert copied.splitlines()[-1].startswith("Link: http")


def test_where_the_browser_has_no_clipboard_it_is_copied_all_the_same(cluster, open_page):
    """As on a site without TLS; the focus stays where it was."""
    page = open_page(POD, who="tess")
    page.evaluate(REFUSED)
    page.evaluate("() => { document.execCommand = () => Boolean(window.copied = document.activeElement.value); }")
    button = page.get_by_role("button", name="Copy summary")
    button.press("Enter")
    expect(page.locator("#copied")).to_have_text("Copied the summary")
    assert page.evaluate("window.copied").startswith("Pod: search/embed-batch")
    expect(button).to_be_focused()
    page.evaluate("() => { document.execCommand = () => false; }")
    button.press("Enter")
    expect(page.locator("#copied")).to_have_text("Could not copy. Select the text instead.")


def test_news_bring_their_buttons_and_keep_the_focus(cluster, open_page):
    """One for each name, however often the page refreshes itself."""
    page = open_page(POD, who="tess")
    name = "Copy search/embed-batch-7f9c-x8v2d"
    page.get_by_role("button", name=name).focus()
    page.evaluate("document.querySelector('h1').textContent = 'old'")
    moments.decide(cluster, timezone.now() - timedelta(minutes=1), only="vision-train-0042-worker-3", hold="paused")
    ClusterStatus.objects.update(news=F("news") + 1, decided=F("decided") + 1)
    expect(page.locator("h1")).not_to_have_text("old")
    expect(page.get_by_role("button", name=name)).to_have_count(1)
    expect(page.get_by_role("button", name=name)).to_be_focused()


def test_without_javascript_the_text_can_be_selected(cluster, open_page):
    """There is no button that does nothing."""
    page = open_page(POD, who="tess", java_script_enabled=False)
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)
    page.get_by_text("Show summary").click()
    assert "because training was below its guarantee" in page.locator("#ticket").inner_text()
