"""The editor in a real browser: what has a way back, what has none, and what was never there to be asked for again."""

import re

import pytest
from playwright.sync_api import expect

from scheduler_admin.queues.models import Draft
from tests.browser.conftest import OpenPage
from tests.browser.editing import field, name, saved
from tests.web.drafts import page, row

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_nothing_before_a_delete_is_undone(open_page: OpenPage, draft: Draft) -> None:
    """Undo would quietly take back another act than the last: it says so instead; what comes after is undone again."""
    opened = open_page(page(draft))
    undo = opened.get_by_role("button", name="Undo")
    field(opened, "queue-b, delay").fill("1m")
    field(opened, "queue-b, delay").press("Enter")
    saved(opened, 2)
    name(opened, "queue-2").press("Delete")
    expect(opened.get_by_text("Deletes queue-2.")).to_contain_text("This can't be undone.")
    expect(opened.get_by_role("link", name="Cancel")).to_be_focused()
    opened.get_by_role("button", name="Delete", exact=True).press("Enter")
    expect(name(opened, "queue-2")).to_have_count(0)
    expect(undo).to_have_attribute("aria-disabled", "true")
    expect(undo).to_have_attribute("title", re.compile("^Deleting, merging and choosing can’t be undone"))
    opened.keyboard.press("Control+z")
    expect(opened.locator("#undo-problem")).to_contain_text("can’t be undone")
    field(opened, "queue-b, delay").fill("2m")
    field(opened, "queue-b, delay").press("Enter")
    saved(opened, 4)
    expect(opened.locator("#undo-problem")).to_be_empty()
    opened.keyboard.press("Control+z")
    expect(field(opened, "queue-b, delay")).to_have_value("1m")
    opened.keyboard.press("Control+z")
    expect(opened.locator("#undo-problem")).to_contain_text("can’t be undone")
    assert row(draft, "queue-b").delay == "1m"


def test_del_and_enter_delete_nothing(open_page: OpenPage, draft: Draft) -> None:
    """The second key cancels."""
    opened = open_page(page(draft))
    name(opened, "tenant-2").press("Delete")
    expect(opened.get_by_role("link", name="Cancel")).to_be_focused()
    opened.keyboard.press("Enter")
    expect(name(opened, "tenant-2")).to_be_focused()
    assert draft.queues.filter(name="tenant-2").exists()


def test_an_undo_in_a_queue_that_another_deleted_says_so(open_page: OpenPage, draft: Draft, said: list[str]) -> None:
    """At the toolbar, as for every undo that is refused; that the whole draft is gone is said once for all."""
    opened = open_page(page(draft))
    for version, setting in enumerate(("queue-1, delay", "queue-2, delay"), start=2):
        field(opened, setting).fill("1m")
        field(opened, setting).press("Enter")
        saved(opened, version)
    row(draft, "queue-2").delete()
    opened.get_by_role("button", name="Undo").click()
    expect(opened.locator("#undo-problem")).to_contain_text("deleted this queue")
    Draft.objects.all().delete()
    opened.get_by_role("button", name="Undo").click()
    expect(opened.get_by_text("This draft is no longer there.")).to_be_visible()
    said.clear()  # the browser itself notes the refusals


def test_a_draft_that_is_gone_is_not_asked_for_again(open_page: OpenPage, draft: Draft, said: list[str]) -> None:
    """A page left open says it once, however long."""
    opened = open_page(page(draft))
    opened.clock.install()
    opened.reload()
    Draft.objects.all().delete()
    opened.clock.run_for(3000)
    expect(opened.get_by_text("This draft is no longer there.")).to_be_visible()
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.clock.run_for(10_000)
    opened.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    opened.evaluate("fetch('/static/app.css')")  # after all that would have been asked for
    assert [url for url in asked if "/drafts/" in url] == []
    said.clear()  # the browser itself notes the one
