"""The import page in a browser: from what is pasted to a draft, for everybody's eyes and windows."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.sound import faults
from tests.pages import rows
from tests.pages.queues.test_import import KUEUE, PAGE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WRONG = KUEUE.replace("nominalQuota: 9", "nominalQuota: 9Gb")


def test_what_is_pasted_becomes_a_draft(open_page: OpenPage) -> None:
    """After a slip, which is mended where it was pasted."""
    rows.everything()
    page = open_page(PAGE)
    page.get_by_role("textbox", name="Paste the document").fill(WRONG)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("9Gb is not a valid amount.")).to_be_visible()
    page.get_by_role("textbox", name="Paste the document").fill(KUEUE)
    page.get_by_role("button", name="Preview again").click()
    page.get_by_label("Draft name").fill("From Kueue")
    page.get_by_role("button", name="Create draft").click()
    page.wait_for_url("**/drafts/**")
    expect(page.get_by_role("heading", name="From Kueue")).to_be_visible()


def test_it_is_sound_in_every_look(open_page: OpenPage) -> None:
    """Empty, with errors, and with a preview."""
    rows.everything()
    page = open_page(PAGE)
    for text in ("", WRONG, KUEUE):
        if text:
            page.get_by_role("textbox", name="Paste the document").fill(text)
            page.get_by_role("button", name="Preview").click()
            page.wait_for_load_state("networkidle")
        assert faults(page) == {}, text


def test_an_export_is_sound_in_every_look(open_page: OpenPage) -> None:
    """With what each format can't say."""
    rows.everything()
    assert faults(open_page("/clusters/demo/revisions/1/export/")) == {}
