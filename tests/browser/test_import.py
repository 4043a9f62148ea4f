"""The import page in a browser: from what is pasted to a draft, for everybody's eyes and windows."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.test_pages import RULES
from tests.web import rows
from tests.web.test_import import KUEUE, PAGE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WRONG = KUEUE.replace("nominalQuota: 9", "nominalQuota: 9Gb")


def test_what_is_pasted_becomes_a_draft(open_page: OpenPage) -> None:
    """After a slip, which is mended where it was pasted."""
    rows.everything()
    page = open_page(PAGE)
    page.get_by_role("textbox", name="Pasted").fill(WRONG)
    page.get_by_role("button", name="Look at it").click()
    expect(page.get_by_text("9Gb is not an amount.")).to_be_visible()
    page.get_by_role("textbox", name="Pasted").fill(KUEUE)
    page.get_by_role("button", name="Look again").click()
    page.get_by_label("What the draft is about").fill("From Kueue")
    page.get_by_role("button", name="Make a draft of it").click()
    page.wait_for_url("**/drafts/**")
    expect(page.get_by_role("heading", name="From Kueue")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_and_nothing_overflows(open_page: OpenPage, width: int, scheme: str) -> None:
    """Empty, with errors, and with a preview."""
    rows.everything()
    page = open_page(PAGE, width=width, scheme=scheme)
    for text in ("", WRONG, KUEUE):
        if text:
            page.get_by_role("textbox", name="Pasted").fill(text)
            page.get_by_role("button", name="Look").click()
            page.wait_for_load_state("networkidle")
        found = Axe().run(page, options=RULES).response["violations"]
        assert [(text[:9], each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), text


@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_in_the_export(open_page: OpenPage, width: int) -> None:
    """With what each format can't say."""
    rows.everything()
    page = open_page("/clusters/demo/revisions/1/export/", width=width)
    found = Axe().run(page, options=RULES).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
