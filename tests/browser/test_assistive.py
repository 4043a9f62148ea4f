"""What people get who use a screen reader, larger text, more contrast, few colors or less motion."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft
from tests.browser.conftest import OpenPage
from tests.browser.editing import field
from tests.browser.sound import COLOURS, unreadable, violations, wider_than_its_window
from tests.pages import rows
from tests.pages.queues.drafts import edited
from tests.pages.queues.drafts import page as page_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PLACES = [
    "/clusters/",
    "/clusters/demo/queues/",
    "/clusters/demo/queues/root.tenant-1.queue-b/",
    "/clusters/demo/nodes/",
    "/clusters/demo/fences/",
    "/clusters/demo/history/",
    "/clusters/demo/editor/",
    "/clusters/demo/settings/",
    "/clusters/demo/compare/",
    "/pods/",
    "/ledger/",
    "/people/users/",
]
_MOVING = """() => [...document.querySelectorAll("*")].filter((each) => {
  const style = getComputedStyle(each);
  const isTimed = style.animationName !== "none" && style.animationTimeline === "auto";
  return isTimed || style.transitionDuration.split(", ").some((time) => parseFloat(time) > 0);
}).map((each) => each.outerHTML.slice(0, 80))"""
_UNSEEN_STATES = """() => [...document.querySelectorAll(".st")].filter((each) => each.checkVisibility())
  .filter((each) => {
    const shape = getComputedStyle(each, "::before");
    const ground = getComputedStyle(document.documentElement).backgroundColor;
    const isRing = shape.borderTopWidth !== "0px";
    return (isRing ? shape.borderTopColor : shape.backgroundColor) === ground;
  }).map((each) => each.outerHTML)"""


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    cluster = rows.everything()
    rows.decision(cluster, "root.tenant-1.training", minutes=20, victims=("root.tenant-1.queue-b",))
    return cluster


def test_a_screen_reader_gets_the_grid_as_a_tree_of_named_cells(open_page: OpenPage, draft: Draft) -> None:
    """Each row has its level, and each cell says of which queue and setting it is."""
    opened = open_page(page_of(draft))
    expect(opened.locator("#grid")).to_match_aria_snapshot("""
      - treegrid "Draft tree":
        - rowgroup:
          - row:
            - columnheader "Queue"
            - columnheader "Preemption"
            - columnheader "Guarantee cpu"
        - rowgroup:
          - row [expanded] [level=1]:
            - rowheader "root"
    """)
    row = opened.get_by_role("row").filter(has=opened.get_by_role("rowheader", name="training", exact=True))
    expect(row).to_have_attribute("aria-level", "3")
    expect(row).to_match_aria_snapshot("""
      - row:
        - rowheader "training"
        - gridcell:
          - combobox "training, preemption":
            - option "default" [selected]
        - gridcell:
          - textbox "training, guaranteed cpu"
    """)


def test_a_screen_reader_gets_where_an_inherited_amount_comes_from(open_page: OpenPage, draft: Draft) -> None:
    edited(draft, "training", "max/memory", "", by="rae")
    opened = open_page(page_of(draft))
    inheriting = field(opened, "training, max memory")
    expect(inheriting).to_have_accessible_description("5Ti, inherited from root.tenant-1")


def test_a_screen_reader_gets_what_is_wrong_with_a_cell(open_page: OpenPage, draft: Draft) -> None:
    opened = open_page(page_of(draft))
    field(opened, "queue-b, guaranteed cpu").fill("a lot")
    opened.keyboard.press("Enter")
    wrong = field(opened, "queue-b, guaranteed cpu")
    expect(wrong).to_have_attribute("aria-invalid", "true")
    expect(wrong).to_have_accessible_description("a lot is not a valid amount.")


def test_a_screen_reader_gets_the_whole_sentence_where_a_word_is_shown(open_page: OpenPage, demo: Cluster) -> None:
    """Beside the amounts there is room for one word only at this width."""
    opened = open_page("/clusters/demo/queues/")
    row = opened.get_by_role("row").filter(has=opened.get_by_role("rowheader", name="training"))
    cell = row.get_by_role("cell").first
    expect(cell.locator(".st > i")).to_be_visible()
    expect(cell).to_match_aria_snapshot("- cell /guarantee.* used .* guaranteed .* max/")


@pytest.mark.parametrize("path", PLACES)
def test_text_can_be_twice_as_large(open_page: OpenPage, demo: Cluster, path: str) -> None:
    """As the browser's own setting of text size makes it, without what a zoom does to the window."""
    opened = open_page(path)
    enlarge(opened)
    assert opened.evaluate("getComputedStyle(document.documentElement).fontSize") == "32px"
    assert [width for width in (1280, 1024) if wider_than_its_window(opened, width)] == []
    assert unreadable(opened) == {"cramped": [], "overlapping": []}


def enlarge(opened: Page) -> None:
    """Set the browser's text size to twice the usual one."""
    opened.context.new_cdp_session(opened).send("Page.setFontSizes", {"fontSizes": {"standard": 32}})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_more_contrast_is_more(open_page: OpenPage, demo: Cluster, scheme: str) -> None:
    opened = open_page("/clusters/demo/queues/", scheme=scheme)
    ink = "getComputedStyle(document.querySelector('.head p')).color"
    usual = opened.evaluate(ink)
    opened.emulate_media(contrast="more", color_scheme=scheme)  # type: ignore[arg-type]
    assert opened.evaluate(ink) != usual
    assert violations(opened, {"type": "rule", "values": ["color-contrast-enhanced"]}) == []


@pytest.mark.parametrize("path", PLACES)
def test_nothing_is_said_by_color_alone_and_nothing_moves(open_page: OpenPage, demo: Cluster, path: str) -> None:
    """With the system's few colors the shapes of states stay visible; with less motion, nothing is animated."""
    opened = open_page(path)
    opened.emulate_media(forced_colors="active", reduced_motion="reduce")
    assert opened.evaluate(_UNSEEN_STATES) == []
    assert opened.evaluate(_MOVING) == []
    assert violations(opened, COLOURS) == []
