"""What a viewer's system asks for: more contrast, its own colours, less motion, paper."""

from typing import Any

import pytest

from scheduler_admin.clusters.models import Cluster
from tests.browser.conftest import OpenPage
from tests.browser.sound import violations
from tests.pages import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TREE = "/clusters/demo/queues/"
HISTORY = "/clusters/demo/history/"
ENHANCED = {"type": "rule", "values": ["color-contrast-enhanced"]}


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    return rows.everything()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_more_contrast_is_seven_to_one(open_page: OpenPage, demo: Cluster, scheme: str) -> None:
    """WCAG's AAA for every text, where 4.5 to 1 is enough otherwise."""
    page = open_page(TREE, scheme=scheme, contrast="more")
    assert violations(page, ENHANCED) == []


def test_shapes_are_seen_in_forced_colours(open_page: OpenPage, demo: Cluster) -> None:
    """Below, at and above keep their shape beside the word, whatever colours the system sets."""
    page = open_page(TREE, forced_colors="active")
    for state in (".st.below", ".st.above", ".st.at"):
        shape = f"getComputedStyle(document.querySelector('main {state}'), '::before').backgroundColor"
        assert page.evaluate(f"{shape} === getComputedStyle(document.body).color"), state


def test_nothing_moves_where_motion_is_not_wanted(open_page: OpenPage, demo: Cluster) -> None:
    """A fold turns at once."""
    page = open_page(TREE, reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.querySelector('.fold svg')).transitionDuration") == "0s"


def test_paper_has_the_whole_table_and_no_controls(open_page: OpenPage, demo: Cluster) -> None:
    """Nothing is cut off that could be scrolled to on a screen."""
    for minutes in range(20, 26):
        rows.decision(demo, "root.tenant-1.training", minutes=minutes, victims=("root.tenant-1.queue-b",))
    page = open_page(HISTORY, width=720)
    page.emulate_media(media="print")
    assert page.locator("button:visible, nav:visible").count() == 0
    assert page.locator("main tbody tr:visible").count() == page.locator("main tbody tr").count() > 5
    cut = """() => [...document.querySelectorAll("main .scroll")]
      .filter((each) => each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight).length"""
    assert page.evaluate(cut) == 0
    assert page.pdf().startswith(b"%PDF")
