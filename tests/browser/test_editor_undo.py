"""The editor in a real browser: what is undone and redone, and what a draft that is gone says."""

import pytest
from playwright.sync_api import expect

from scheduler_admin.queues.models import Draft
from tests.browser.conftest import Console, OpenPage
from tests.browser.editing import field, name, saved
from tests.pages.queues.drafts import page, row

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_every_act_is_undone_by_keyboard_and_button(open_page: OpenPage, draft: Draft) -> None:
    """A subtree that was deleted is back with all that was typed in it, also after the page was loaded anew."""
    opened = open_page(page(draft))
    undo, redo = (opened.get_by_role("button", name=each) for each in ("Undo", "Redo"))
    expect(undo).to_have_attribute("aria-disabled", "true")
    field(opened, "queue-b, preemption delay").fill("1m")
    field(opened, "queue-b, preemption delay").press("Enter")
    saved(opened, 2)
    name(opened, "tenant-1").press("Delete")
    expect(opened.get_by_text("Deletes tenant-1")).to_be_visible()
    opened.get_by_role("button", name="Delete", exact=True).press("Enter")
    expect(name(opened, "queue-b")).to_have_count(0)
    opened.reload()
    opened.keyboard.press("Control+z")
    expect(field(opened, "queue-b, preemption delay")).to_have_value("1m")
    expect(name(opened, "tenant-1")).to_be_focused()
    undo.click()
    expect(field(opened, "queue-b, preemption delay")).to_have_value("")
    expect(opened.locator("#draft-changes")).to_contain_text("0 queues changed")
    expect(undo).to_be_focused()
    expect(undo).to_have_attribute("aria-disabled", "true")
    for version in (6, 7):
        redo.click()
        saved(opened, version)
    expect(name(opened, "queue-b")).to_have_count(0)


def test_a_copy_and_a_move_are_undone(open_page: OpenPage, draft: Draft) -> None:
    """c on a queue's name; its namespaces stay where they are, which is said."""
    opened = open_page(page(draft))
    name(opened, "queue-b").press("c")
    expect(opened.get_by_text("Namespaces and former paths are not copied")).to_be_visible()
    opened.get_by_role("button", name="Copy", exact=True).press("Enter")
    expect(name(opened, "queue-b-copy")).to_be_focused()
    expect(field(opened, "queue-b-copy, max cpu")).to_have_value("320")
    opened.keyboard.press("c")
    opened.get_by_label("Copy queue-b-copy and all queues below it to").select_option(label="root.tenant-2")
    opened.get_by_role("button", name="Copy", exact=True).click()
    saved(opened, 3)
    assert row(draft, "queue-1").parent == draft.queues.filter(name="queue-b-copy").latest("pk").parent
    for version in (4, 5):
        opened.keyboard.press("Control+z")
        saved(opened, version)
    expect(name(opened, "queue-b-copy")).to_have_count(0)


def test_without_a_script_undo_is_a_button_too(open_page: OpenPage, draft: Draft) -> None:
    """And redo, and copying."""
    opened = open_page(page(draft), java_script_enabled=False)
    name(opened, "queue-b").click()
    opened.get_by_role("button", name="Copy").click()
    opened.locator(".act").get_by_role("button", name="Copy").click()
    expect(name(opened, "queue-b-copy")).to_be_visible()
    opened.get_by_role("button", name="Undo").click()
    expect(name(opened, "queue-b-copy")).to_have_count(0)
    opened.get_by_role("button", name="Redo").click()
    expect(name(opened, "queue-b-copy")).to_be_visible()


def test_del_and_enter_delete_nothing(open_page: OpenPage, draft: Draft) -> None:
    """The second key cancels."""
    opened = open_page(page(draft))
    name(opened, "tenant-2").press("Delete")
    expect(opened.get_by_role("link", name="Cancel")).to_be_focused()
    opened.keyboard.press("Enter")
    expect(name(opened, "tenant-2")).to_be_focused()
    assert draft.queues.filter(name="tenant-2").exists()


def test_an_undo_in_a_queue_that_another_deleted_says_so(open_page: OpenPage, draft: Draft, said: Console) -> None:
    """At the toolbar, as for every undo that is refused; that the whole draft is gone is said once for all."""
    opened = open_page(page(draft))
    for version, setting in enumerate(("queue-1, preemption delay", "queue-2, preemption delay"), start=2):
        field(opened, setting).fill("1m")
        field(opened, setting).press("Enter")
        saved(opened, version)
    row(draft, "queue-2").delete()
    with opened.expect_response(lambda one: one.url.endswith("/news/") and one.request.method == "POST"):
        opened.get_by_role("button", name="Undo").click()
    expect(opened.locator("#undo-problem")).to_contain_text("deleted this queue")
    Draft.objects.all().delete()
    opened.get_by_role("button", name="Undo").click()
    expect(opened.get_by_text("This draft no longer exists.")).to_be_visible()
    said.expect_refusals()


def test_a_draft_that_is_gone_is_not_asked_for_again(open_page: OpenPage, draft: Draft, said: Console) -> None:
    """A page left open says it once, however long."""
    opened = open_page(page(draft), isolated=True)  # its clock is that of the whole context
    opened.clock.install()
    opened.reload()
    Draft.objects.all().delete()
    opened.clock.run_for(3000)
    expect(opened.get_by_text("This draft no longer exists.")).to_be_visible()
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.clock.run_for(10_000)
    opened.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    opened.evaluate("fetch('/static/app.css')")  # after all that would have been asked for
    assert [url for url in asked if "/drafts/" in url] == []
    said.expect_refusals()
