"""The map of fences in a real browser: sound in every look, by keyboard, on a phone, and as fresh as the news."""

import struct
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from django.db.models import F
from django.utils import timezone
from playwright.sync_api import expect

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.decisions.models import Decision
from tests.browser.conftest import Console, OpenPage
from tests.browser.sound import faults
from tests.pages import rows
from tests.waiting import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGE = "/clusters/demo/fences/"
TRAINING = f"{PAGE}?queue=root.tenant-1.training"

INKS = """() => {
  const image = document.images[0], canvas = document.createElement("canvas"), counts = {};
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < data.length; at += 4) {
    const ink = data.slice(at, at + 3).join();
    counts[ink] = (counts[ink] ?? 0) + 1;
  }
  return counts;
}"""
"""Of an image that the page shows by itself: each colour, and how many pixels have it."""


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    made = rows.everything()
    rows.decision(made, "root.tenant-1.training", victims=("root.system",), source=Decision.Source.KUBE_SCHEDULER)
    ClusterStatus.objects.update(read_at=timezone.now() + timedelta(minutes=5))
    return made


@pytest.mark.parametrize("path", [PAGE, TRAINING, f"{PAGE}?queue=root.tenant-1", f"{PAGE}?queue=root.queue-a"])
def test_it_is_sound_in_every_look(open_page: OpenPage, demo: Cluster, path: str) -> None:
    """With none, a queue, a parent and a leaf fence chosen."""
    assert faults(open_page(path)) == {}


@pytest.mark.parametrize("width", [360, 768, 1280, 1920, 2560])
def test_only_the_map_scrolls_sideways(open_page: OpenPage, demo: Cluster, width: int) -> None:
    """In its own region, which the keyboard reaches; the page never does."""
    page = open_page(TRAINING, width=width)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    region = page.get_by_role("region", name="Fence map")
    region.focus()
    page.keyboard.press("ArrowRight")
    scrolls = region.evaluate("each => each.scrollWidth > each.clientWidth")
    assert scrolls == (width < 1080)
    if scrolls:
        wait_for(lambda: page.evaluate("document.activeElement.scrollLeft > 0"), "The map, scrolled")


def test_every_text_keeps_inside_its_box(open_page: OpenPage, demo: Cluster) -> None:
    """Measured by the browser, in the fonts of this machine."""
    page = open_page(TRAINING)
    outside = page.evaluate(
        """() => [...document.querySelectorAll(".map a:has(rect)")].flatMap((link) => {
          const box = link.querySelector("rect").getBBox();
          return [...link.querySelectorAll("text")].filter((text) => {
            const own = text.getBBox();
            return own.x < box.x - 0.01 || own.x + own.width > box.x + box.width
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
    expect(page.locator(".lead")).to_contain_text("queue-b can preempt only training")
    expect(page.locator('.map a[aria-current="true"]')).to_contain_text("queue-b")


def test_without_javascript_the_form_chooses(open_page: OpenPage, demo: Cluster) -> None:
    """Select, show, clear: addresses all."""
    page = open_page(PAGE, java_script_enabled=False)
    page.get_by_role("combobox", name="Queue").select_option("root.system")
    page.get_by_label("Preemption arrows").select_option("24h")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**?queue=root.system&since=24h")
    expect(page.locator(".lead")).to_contain_text("system can preempt every other queue")
    page.get_by_role("link", name="Clear").click()
    page.wait_for_url(f"**{PAGE}")


def test_news_is_drawn_and_ones_place_is_kept(open_page: OpenPage, demo: Cluster) -> None:
    """A preemption shows within a poll; the map stays where it was scrolled to."""
    page = open_page(TRAINING, width=360)
    region = page.get_by_role("region", name="Fence map")
    region.evaluate("each => { each.scrollLeft = 200 }")
    rows.decision(demo, "root.tenant-1.training", victims=("root.tenant-1.queue-b",) * 75)
    ClusterStatus.objects.update(news=F("news") + 1)
    expect(page.locator(".map .count", has_text="77")).to_be_visible()
    assert region.evaluate("each => each.scrollLeft") == 200


def test_the_saved_file_shows_by_itself(open_page: OpenPage, demo: Cluster, tmp_path: Any) -> None:
    """Opened from the disk, with its own colours."""
    page = open_page(TRAINING)
    with page.expect_download() as started:
        page.get_by_role("link", name="Download SVG").click()
    target = tmp_path / started.value.suggested_filename
    started.value.save_as(target)
    page.goto(f"file://{target}")
    assert target.name == "demo-fences.svg"
    assert page.evaluate("getComputedStyle(document.querySelector('.fenced')).stroke") == "rgb(21, 25, 27)"


@pytest.mark.parametrize(("size", "times"), [("Original size", 1), ("2× size", 2), ("4× size", 4)])
def test_the_map_is_saved_as_png_of_a_chosen_size(
    open_page: OpenPage, demo: Cluster, tmp_path: Any, size: str, times: int
) -> None:
    """The same picture as the SVG's: its ground, its fences, its size."""
    page = open_page(TRAINING)
    page.get_by_label("PNG size").select_option(size)
    with page.expect_download() as started:
        page.get_by_role("button", name="Download PNG").click()
    target = tmp_path / started.value.suggested_filename
    started.value.save_as(target)
    assert target.name == "demo-fences.png"
    width, height = struct.unpack(">II", target.read_bytes()[16:24])
    svg = page.evaluate("fetch(document.querySelector('[data-picture]').dataset.picture).then((each) => each.text())")
    sheet = ET.fromstring(svg)
    assert (width, height) == (times * int(sheet.get("width")), times * int(sheet.get("height")))
    page.goto(f"file://{target}")
    inks = page.evaluate(INKS)
    assert {"253,253,251", "21,25,27"} < set(inks)  # paper and ink
    assert inks["21,25,27"] > 1000 * times


def test_a_picture_that_can_not_be_drawn_is_said_to_be(open_page: OpenPage, demo: Cluster, said: Console) -> None:
    """As after signing out elsewhere."""
    page = open_page(TRAINING)
    page.route("**/fences.svg*", lambda route: route.fulfill(status=200, content_type="text/html", body="sign in"))
    page.get_by_role("button", name="Download PNG").click()
    expect(page.locator("[data-picture] [role=status]")).to_contain_text("could not be created")
    expect(page.get_by_role("button", name="Download PNG")).to_be_enabled()


def test_a_part_is_drawn_alone_and_folded_by_keyboard(open_page: OpenPage, demo: Cluster) -> None:
    """Each step is an address, so that the browser's Back undoes it."""
    page = open_page(f"{PAGE}?queue=root.system", width=360)
    page.get_by_role("link", name="root.tenant-1: Show only this").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**in=root.tenant-1")
    expect(page.locator(".map .name", has_text="training")).to_be_visible()
    expect(page.locator(".map .name", has_text="queue-2")).to_have_count(0)
    page.get_by_role("link", name="root.tenant-1: Show whole tree").press("Enter")
    page.wait_for_url(lambda url: "in=" not in url)
    page.get_by_role("link", name="root.tenant-2: Collapse").press("Enter")
    page.wait_for_url("**fold=root.tenant-2")
    expect(page.locator(".map .name", has_text="queue-2")).to_have_count(0)
    page.go_back()
    expect(page.locator(".map .name", has_text="queue-2")).to_be_visible()
