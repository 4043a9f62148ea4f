"""The editor in a real browser: what is wrong is told where it can be read, on a phone and without a script."""

import pytest
from playwright.sync_api import expect

from scheduler_admin.queues.models import Draft
from tests.browser.conftest import Console, OpenPage
from tests.browser.editing import edited_by_rae, field
from tests.pages.queues.drafts import page, row

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("setting", ["guaranteed/cpu", "max/nvidia.com/gpu", "delay"])
def test_on_a_phone_an_error_is_in_sight_however_the_grid_is_scrolled(
    open_page: OpenPage, draft: Draft, setting: str
) -> None:
    """The whole sentence, at the first column and at its own."""
    edited_by_rae(draft, "queue-b", setting, "a great many")
    opened = open_page(page(draft), width=360)
    error, region = opened.locator(".errrow .err"), opened.locator(".edit-region")
    for scroll in ("0", "document.querySelector('.grid-edit .bad').offsetLeft - 150"):
        opened.evaluate(f"document.querySelector('.edit-region').scrollLeft = {scroll}")
        box, frame = error.bounding_box(), region.bounding_box()
        assert box is not None
        assert frame is not None
        assert frame["x"] <= box["x"] < box["x"] + box["width"] <= frame["x"] + frame["width"], scroll
        assert box["width"] > 120


def test_what_is_too_long_is_told_and_not_cut(open_page: OpenPage, draft: Draft, said: Console) -> None:
    """It stays in its field to be shortened."""
    opened = open_page(page(draft))
    for setting, most in (("queue-b, max cpu", 100), ("queue-b, preemption delay", 100)):
        field(opened, setting).fill("1" * (most + 1))
        field(opened, setting).press("Enter")
        expect(opened.locator(".problem").first).to_contain_text(f"{most} characters")
        expect(field(opened, setting)).to_have_value("1" * (most + 1))
        field(opened, setting).press("Escape")
    assert row(draft, "queue-b").settings["max/cpu"] == "320"
    said.expect_refusals()


def test_without_a_script_the_page_says_how_it_is_used(open_page: OpenPage, draft: Draft) -> None:
    """Fields can't be typed in before a queue is chosen; the forecast is asked for, not being computed."""
    opened = open_page(page(draft), java_script_enabled=False)
    hint = opened.locator("noscript .hint")  # by its place: texts in it are not looked for
    expect(hint).to_be_visible()
    assert hint.text_content() == "Select a queue name to change its settings."
    expect(opened.get_by_text("Computing the forecast…")).to_be_hidden()
    expect(opened.get_by_role("link", name="Show forecast")).to_be_visible()
