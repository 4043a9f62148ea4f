"""What the checks of every page find, on pages that have it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.sound import unreadable

pytestmark = pytest.mark.browser
LONG = "Queues below their guarantee preempt queues above theirs, but never across a fence."


@pytest.fixture
def blank(chromium: Browser) -> Iterator[Page]:
    """An empty page."""
    page = chromium.new_page()
    yield page
    page.close()


@pytest.mark.parametrize(("width", "found"), [(30, 1), (300, 0)])
def test_a_text_in_a_column_of_a_few_letters_is_found(blank: Page, width: int, found: int) -> None:
    """Words break in it; in a wider one they don't."""
    blank.set_content(f'<main><p style="width: {width}px; overflow-wrap: anywhere">{LONG}</p></main>')
    assert len(unreadable(blank)["cramped"]) == found


@pytest.mark.parametrize(("column", "found"), [("40px", 1), ("max-content", 0)])
def test_texts_on_each_other_are_found(blank: Page, column: str, found: int) -> None:
    """What does not fit into its cell and must not wrap runs into the next one."""
    cells = '<span style="white-space: nowrap">32Gi below guarantee</span><b>96Gi</b>'
    blank.set_content(f'<main><div style="display: grid; grid-template-columns: {column} 60px">{cells}</div></main>')
    assert len(unreadable(blank)["overlapping"]) == found


def test_what_is_scrolled_away_lies_on_nothing(blank: Page) -> None:
    """It reaches below its box, where nobody sees it."""
    rows = "<p>row</p>" * 30
    scrolled = f'<div style="overflow: auto; height: 40px">{rows}</div>'
    sections = f"<section>{scrolled}</section><section>below</section>"
    blank.set_content(f'<main><div style="display: grid">{sections}</div></main>')
    assert unreadable(blank)["overlapping"] == []
