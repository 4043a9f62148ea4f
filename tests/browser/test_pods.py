"""A tenant's pages in a browser: from the list to the answer, sound in every look."""

from datetime import timedelta

import pytest
from django.utils import timezone

from scheduler_admin.history.tasks import work_out_changes
from scheduler_admin.queues.models import Revision
from tests.browser.explained import LOOKS, signed_in, sound
from tests.builders import rewrite
from tests.history.conftest import add_cluster
from tests.history.test_rewinding import TREE, full, seen
from tests.web import moments, rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def tenant(monkeypatch):
    """Queue-b's tenant, whose pods were preempted and one of whose asks waits."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    made = rows.cluster("demo")
    rows.status(made)
    moments.carried_out(moments.decide(made)[0])
    return rows.tenant_user("tess", "root.tenant-1.queue-b", ("search",))


def test_it_is_sound_in_every_look(tenant, live_server, chromium):
    """The list, the empty search, a victim and an ask."""
    paths = ["", "?q=nothing", "demo/search/embed-batch-7f9c-x8v2d/", "demo/search/embed-batch-7f9c-late/"]
    for scheme, width in LOOKS:
        page = signed_in(chromium, live_server.url, "tess", scheme, width)
        for path in paths:
            page.goto(f"{live_server.url}/pods/{path}")
            sound(page)


def test_from_signing_in_to_the_answer(tenant, live_server, chromium):
    """A tenant lands on their pods, finds one and reads why."""
    page = signed_in(chromium, live_server.url, "tess", width=360)
    assert page.url.endswith("/pods/")
    page.get_by_label("Pod, application, namespace or owner (Job/train)").fill("rank")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=rank**")
    page.get_by_role("link", name="rank-batch-31d0-exec-5").click()
    page.wait_for_selector("h1.why")
    assert "because training stood below its guarantee" in page.locator("h1").inner_text()
    assert page.get_by_role("link", name="History").count() == 0


@pytest.mark.parametrize("by", ["kube-scheduler", "yunikorn"])
def test_a_victim_of_another_scheduler_is_told_as_one_of_ours(by, live_server, chromium, monkeypatch):
    """What of its own would have spared it, on its page and the decision's, in every look."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    made = add_cluster(TREE, mode="observe")
    rewrite(Revision.objects.all(), published_at=timezone.now() - timedelta(minutes=1))
    row = seen(made, full(), "b-0", "b-1", by=by)
    work_out_changes()
    rows.user()
    for scheme, width in LOOKS:
        page = signed_in(chromium, live_server.url, "ada", scheme, width)
        for path in ("pods/east/ns/b-1/", f"clusters/east/decisions/{row.pk}/?otherwise=1"):
            page.goto(f"{live_server.url}/{path}")
            assert "b-1 would stay if" in page.locator("main").inner_text()
            sound(page)
