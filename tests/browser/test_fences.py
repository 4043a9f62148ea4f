"""The map of fences in a real browser: sound in every look, by keyboard, on a phone, and as fresh as the news."""

from datetime import timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.db.models import F
from django.utils import timezone
from playwright.sync_api import expect

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.history.models import Decision
from tests.browser.conftest import OpenPage
from tests.browser.test_pages import RULES
from tests.web import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGE = "/clusters/demo/fences/"
TRAINING = f"{PAGE}?queue=root.tenant-1.training"


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    made = rows.everything()
    rows.decision(made, "root.tenant-1.training", victims=("root.system",), source=Decision.Source.KUBE_SCHEDULER)
    ClusterStatus.objects.update(read_at=timezone.now() + timedelta(minutes=5))
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("path", [PAGE, TRAINING, f"{PAGE}?queue=root.tenant-1", f"{PAGE}?queue=root.queue-a"])
def test_axe_finds_nothing(open_page: OpenPage, demo: Cluster, path: str, width: int, scheme: str) -> None:
    """With none, a queue, a parent and a leaf fence chosen."""
    page = open_page(path, width=width, scheme=scheme)
    found = Axe().run(page, options=RULES).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []


@pytest.mark.parametrize("width", [360, 768, 1280, 1920, 2560])
def test_only_the_map_scrolls_sideways(open_page: OpenPage, demo: Cluster, width: int) -> None:
    """In its own region, which the keyboard reaches; the page never does."""
    page = open_page(TRAINING, width=width)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    region = page.get_by_role("region", name="Map of fences")
    region.focus()
    page.keyboard.press("ArrowRight")
    scrolls = region.evaluate("each => each.scrollWidth > each.clientWidth")
    assert scrolls == (width < 1080)
    if scrolls:
        page.wait_for_function("document.activeElement.scrollLeft > 0")


def test_every_text_keeps_inside_its_box(open_page: OpenPage, demo: Cluster) -> None:
    """Measured by the browser, in the fonts of this machine."""
    page = open_page(TRAINING)
    outside = page.evaluate(
        """() => [...document.querySelectorAll(".map a:has(rect)")].flatMap((link) => {
          const box = link.querySelector("rect").getBBox();
          return [...link.querySelectorAll("text")].filter((text) => {
            const own = text.getBBox();
            return own.x < box.x || own.x + own.width > box.x + box.width
              || own.y < box.y || own.y + own.height > box.y + box.height;
          }).map((text) => text.textContent);
        })"""
    )
    assert outside == []


def test_a_box_is_chosen_by_keyboard(open_page: OpenPage, demo: Cluster) -> None:
    """Each is a link that says what it is; focus shows."""
    page = open_page(PAGE)
    box = page.locator(".map a", has_text="queue-b").first
    box.focus()
    assert box.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_url("**queue=root.tenant-1.queue-b")
    expect(page.locator(".lead")).to_contain_text("queue-b reaches training, and nothing else")
    expect(page.locator('.map a[aria-current="true"]')).to_contain_text("queue-b")


def test_without_javascript_the_form_chooses(open_page: OpenPage, demo: Cluster) -> None:
    """Select, show, clear: addresses all."""
    page = open_page(PAGE, java_script_enabled=False)
    page.get_by_label("Seen from").select_option("root.system")
    page.get_by_label("Arrows").select_option("24h")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**?queue=root.system&since=24h")
    expect(page.locator(".lead")).to_contain_text("system reaches every other queue")
    page.get_by_role("link", name="Clear").click()
    page.wait_for_url(f"**{PAGE}")


def test_news_is_drawn_and_ones_place_is_kept(open_page: OpenPage, demo: Cluster) -> None:
    """A preemption shows within a poll; the map stays where it was scrolled to."""
    page = open_page(TRAINING, width=360)
    region = page.get_by_role("region", name="Map of fences")
    region.evaluate("each => { each.scrollLeft = 200 }")
    rows.decision(demo, "root.tenant-1.training", victims=("root.tenant-1.queue-b",) * 75)
    ClusterStatus.objects.update(news=F("news") + 1)
    expect(page.locator(".map .count", has_text="77")).to_be_visible(timeout=6000)
    assert region.evaluate("each => each.scrollLeft") == 200


def test_the_saved_file_shows_by_itself(open_page: OpenPage, demo: Cluster, tmp_path: Any) -> None:
    """Opened from the disk, with its own colours."""
    page = open_page(TRAINING)
    with page.expect_download() as started:
        page.get_by_role("link", name="Save as SVG").click()
    target = tmp_path / started.value.suggested_filename
    started.value.save_as(target)
    page.goto(f"file://{target}")
    assert target.name == "demo-fences.svg"
    assert page.evaluate("getComputedStyle(document.querySelector('.fenced')).stroke") == "rgb(21, 25, 27)"
