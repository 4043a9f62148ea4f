"""The history in a browser: readable in both schemes and widths, filtered by keyboard, refreshed without a jump."""

from datetime import timedelta

import pytest
from django.db.models import F

from scheduler_admin.clusters.models import ClusterStatus
from scheduler_admin.queues.models import Revision
from tests.browser.sound import faults
from tests.builders import rewrite
from tests.pages import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TRAINING, QUEUE_B = "root.tenant-1.training", "root.tenant-1.queue-b"


@pytest.fixture
def cluster():
    """A cluster with enough decisions to scroll."""
    rows.user("ada")
    made = rows.cluster("demo")
    rows.status(made)
    for minutes in range(1, 40):
        rows.decision(
            made, TRAINING, minutes=30 * minutes, victims=(QUEUE_B, "root.tenant-2.queue-2")[: 1 + minutes % 2]
        )
    rewrite(Revision.objects.all(), published_at=F("published_at") - timedelta(hours=5))
    return made


def test_it_is_sound_in_every_look(cluster, open_page):
    """Axe finds nothing, nothing runs over, the console is silent."""
    page = open_page("/clusters/demo/history/?range=7d&stack=source")
    assert faults(page) == {}
    page.goto("/clusters/demo/history/?node=nowhere&range=between")
    assert faults(page) == {}


def test_a_filter_is_set_by_keyboard_and_stays_in_the_address(cluster, open_page):
    """A link to what one sees."""
    page = open_page("/clusters/demo/history/")
    page.get_by_role("textbox", name="Node").focus()
    page.keyboard.type("gpu-99")
    page.keyboard.press("Enter")
    page.wait_for_url("**node=gpu-99**")
    assert page.get_by_text("No decisions match these filters.").is_visible()
    page.get_by_role("link", name="Clear", exact=True).click()
    page.wait_for_selector("tbody tr")
    assert page.locator("tbody tr").count() > 10


def test_news_come_in_without_a_jump(cluster, open_page):
    """The new row stands on top, the scroll and the focus stay where they were."""
    page = open_page("/clusters/demo/history/", width=360)
    link = page.locator("tbody tr:nth-child(20) a")
    link.focus()
    focused = link.get_attribute("id")
    page.evaluate("document.getElementById('scroll-decisions').scrollLeft = 120")
    page.evaluate("scrollTo(0, 900)")
    new = rows.decision(cluster, TRAINING, minutes=0, victims=(QUEUE_B,))
    ClusterStatus.objects.update(news=F("news") + 1, decided=F("decided") + 1)
    page.wait_for_selector(f"#d-{new.pk}")
    assert page.evaluate("document.getElementById('scroll-decisions').scrollLeft") == 120
    assert page.evaluate("scrollY") >= 800
    assert page.evaluate("document.activeElement.id") == focused
    assert faults(page) == {}


def test_a_row_opens_its_decision_and_older_pages_follow(cluster, open_page):
    """With links, so that everything can be opened in a tab of its own."""
    for number in range(40):
        rows.decision(cluster, TRAINING, minutes=number + 1, victims=(QUEUE_B,))
    page = open_page("/clusters/demo/history/")
    first = page.locator("tbody tr:first-child a").get_attribute("id")
    page.get_by_role("link", name="Older").click()
    page.wait_for_url("**before=**")
    assert page.locator(f"#{first}").count() == 0
    page.get_by_role("link", name="Newer").click()
    page.wait_for_url("**after=**")
    page.locator(f"#{first}").click()
    page.wait_for_url(f"**/decisions/{(first or '').removeprefix('d-')}/")
