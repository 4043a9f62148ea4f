"""A tenant's pages in a browser: from the list to the answer, sound in every look."""

from datetime import timedelta

import pytest
from django.utils import timezone

from scheduler_admin.queues.models import Revision
from scheduler_admin.worker.tasks import work_out_changes
from tests.browser.sound import faults
from tests.builders import rewrite
from tests.decisions.test_rewind import TREE, full, seen
from tests.pages import moments, rows
from tests.worker.conftest import add_cluster

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def tenant():
    """Queue-b's tenant, whose pods were preempted and one of whose asks waits."""
    made = rows.cluster("demo")
    rows.status(made)
    moments.carried_out(moments.decide(made)[0])
    return rows.tenant_user("tess", "root.tenant-1.queue-b", ("search",))


def test_it_is_sound_in_every_look(tenant, open_page):
    """The list, the empty search, a victim and an ask, and what tenants read of classes and fences."""
    paths = ["", "?q=nothing", "demo/search/embed-batch-7f9c-x8v2d/", "demo/search/embed-batch-7f9c-late/"]
    page = open_page("/", who="tess")
    for path in (*(f"/pods/{path}" for path in paths), "/clusters/demo/priority-classes/", "/clusters/demo/fences/"):
        page.goto(path)
        assert faults(page) == {}


def test_on_a_phone_the_reason_is_seen_without_scrolling_sideways(tenant, open_page):
    """Rows are stacked, each cell with its name."""
    page = open_page("/pods/", who="tess", width=360)
    reason = page.locator("td[data-l=Reason]").first
    box = reason.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert reason.inner_text() != ""


def test_from_signing_in_to_the_answer(tenant, open_page):
    """A tenant lands on their pods, finds one and reads why."""
    page = open_page("/sign-in/", width=360)
    page.get_by_label("Username").fill("tess")
    page.get_by_label("Password").fill(rows.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/pods/")
    page.get_by_label("Pod, application, namespace, or owner (Job/train)").fill("rank")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=rank**")
    page.get_by_role("link", name="rank-batch-31d0-exec-5").click()
    page.wait_for_selector("h1.why")
    assert "because training was below its guarantee" in page.locator("h1").inner_text()
    assert page.get_by_role("link", name="History").count() == 0


@pytest.mark.parametrize("by", ["kube-scheduler", "yunikorn"])
def test_a_victim_of_another_scheduler_is_told_as_one_of_ours(by, open_page):
    """What of its own would have spared it, on its page and the decision's, in every look."""
    made = add_cluster(TREE, mode="observe")
    rewrite(Revision.objects.all(), published_at=timezone.now() - timedelta(minutes=1))
    row = seen(made, full(), "b-0", "b-1", by=by)
    work_out_changes()
    rows.user()
    page = open_page("/")
    for path in ("pods/east/ns/b-1/", f"clusters/east/decisions/{row.pk}/?otherwise=1"):
        page.goto(f"/{path}")
        assert "b-1 would be spared if" in page.locator("main").inner_text()
        assert faults(page) == {}
