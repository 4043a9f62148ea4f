"""Pages that refresh themselves: soon, only while they may, and without moving what somebody looks at."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone
from playwright.sync_api import Page, expect

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from tests.browser.conftest import OpenPage
from tests.pages import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TREE = "/clusters/demo/queues/"
QUEUE_2 = '[data-path="root.tenant-2.queue-2"] .asks'


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    made = rows.everything()
    ClusterStatus.objects.update(read_at=timezone.now() + timedelta(minutes=5))
    return made


def tell(demo: Cluster, asks: int) -> None:
    """A pass finds that so many asks wait in queue-2."""
    path = "root.tenant-2.queue-2"
    queues = dict(ClusterStatus.objects.get(cluster=demo).queues)
    queues[path] = queues[path] | {"asks": asks}
    ClusterStatus.objects.update(news=F("news") + 1, queues=queues)


def runs(demo: Cluster, name: str) -> None:
    """A pass finds that an application runs in queue-2."""
    one = {"name": f"{name}-application", "namespace": "a-long-namespace", "pods": 3, "requests": {"cpu": 3000}}
    ClusterStatus.objects.filter(cluster=demo).update(news=F("news") + 1, applications={"root.tenant-2.queue-2": [one]})


def asked(page: Page) -> list[str]:
    """The questions for news from now on."""
    found: list[str] = []
    page.on("request", lambda request: request.headers.get("hx-request") and found.append(request.url))
    return found


def test_news_is_asked_for_every_two_seconds(open_page: OpenPage, demo: Cluster) -> None:
    """By the page's own clock, however slow the machine is."""
    page = open_page(TREE)
    page.clock.install()
    page.reload()
    with page.expect_response(lambda one: one.request.headers.get("hx-request") == "true"):
        page.clock.run_for(2000)


def test_a_page_is_not_live_until_that_is_wanted_again(open_page: OpenPage, demo: Cluster) -> None:
    """Nothing is asked meanwhile, on any page of this browser; then the news comes at once."""
    page = open_page(TREE)
    page.clock.install()
    page.reload()
    live = page.get_by_role("button", name="Live refresh")
    live.click()
    expect(page.get_by_text("Not live")).to_be_visible()
    page.goto("/clusters/demo/fences/")
    page.goto(TREE)
    expect(live).to_have_attribute("aria-pressed", "false")
    tell(demo, 77)
    found = asked(page)
    page.clock.run_for(20_000)
    assert found == []
    live.click()
    expect(page.locator(QUEUE_2)).to_contain_text("77")


def test_news_moves_nothing(open_page: OpenPage, demo: Cluster) -> None:
    """No layout shift, however often: every number has its place."""
    page = open_page(TREE)
    page.evaluate(
        """() => {
          window.moved = [];
          new PerformanceObserver((list) => window.moved.push(...list.getEntries().map(({ value }) => value)))
            .observe({ type: "layout-shift" });
        }"""
    )
    for asks in (5, 77, 6):
        tell(demo, asks)
        expect(page.locator(QUEUE_2)).to_contain_text(str(asks))
    assert page.evaluate("window.moved") == []


def test_what_is_unfolded_and_scrolled_stays_so(open_page: OpenPage, demo: Cluster) -> None:
    """What waits in a queue is swapped beside the rest: where one is in its wide table is kept as well."""
    runs(demo, "old")
    page = open_page("/clusters/demo/queues/root.tenant-2.queue-2/", width=360)
    wide = page.get_by_role("group", name="Running applications")
    wide.evaluate("(each) => each.scrollTo(40, 0)")
    wide.focus()
    page.get_by_text("Show as table").evaluate("(each) => { each.parentElement.open = true; }")
    page.evaluate("scrollTo(0, 300)")
    runs(demo, "brand-new")
    expect(wide).to_contain_text("brand-new")
    expect(wide).to_be_focused()
    assert wide.evaluate("(each) => each.scrollLeft") == 40
    assert page.evaluate("scrollY") == 300
    assert page.locator("#fold-table").evaluate("(each) => each.open")


@pytest.mark.parametrize(
    ("path", "times"), [("history/", "main time[data-clock]"), ("queues/", ".pulse time[data-clock], [data-axis]")]
)
def test_a_refresh_shows_no_time_of_another_zone(open_page: OpenPage, demo: Cluster, path: str, times: str) -> None:
    """Not for a frame: what comes from the server is in UTC until it is written anew."""
    page = open_page(f"/clusters/demo/{path}", width=1440, timezone_id="Asia/Kathmandu")
    page.wait_for_selector(times)
    page.evaluate(
        """(times) => {
          window.seen = [];
          const look = () => {
            window.seen.push([...document.querySelectorAll(times)].map((one) => one.textContent).join());
            requestAnimationFrame(look);
          };
          look();
        }""",
        times,
    )
    ClusterStatus.objects.update(news=F("news") + 1, decided=F("decided") + 1)
    with page.expect_response(lambda one: one.request.headers.get("hx-request") == "true" and one.status == 200):
        pass
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    minutes = {text.rpartition(":")[0] or text for seen in page.evaluate("window.seen") for text in seen.split(",")}
    zone = page.evaluate("() => new Date().getTimezoneOffset()")
    assert zone == -345
    assert len(page.evaluate("window.seen")) > 2
    assert minutes == {text.rpartition(":")[0] or text for text in page.evaluate("window.seen[0]").split(",")}


def test_the_panel_of_a_cluster_keeps_the_keyboard_over_news(open_page: OpenPage, demo: Cluster) -> None:
    """News puts its button in anew meanwhile: Tab goes into the panel all the same, and Escape back to the button."""
    page = open_page(TREE)
    page.locator("#pulse-mode").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#cluster-state")).to_be_focused()
    page.locator("#pulse").evaluate("(pulse) => pulse.replaceWith(pulse.cloneNode(true))")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#cluster-state') !== null")
    page.keyboard.press("Escape")
    expect(page.locator("#cluster-state")).to_be_hidden()
    expect(page.locator("#pulse-mode")).to_be_focused()
