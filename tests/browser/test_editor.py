"""The editor in a real browser: typing, acting by mouse and keyboard, undoing, at every width, without a script."""

import re

import pytest
from playwright.sync_api import expect

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.drafts.edits import publish_draft
from scheduler_admin.queues.models import Draft
from tests.browser.conftest import Console, OpenPage
from tests.browser.editing import edited_by_rae, field, name, saved
from tests.browser.sound import faults
from tests.pages.queues.drafts import page, publish_another, row, started

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_mistyped_amount_is_put_right_by_its_suggestion(open_page: OpenPage, draft: Draft) -> None:
    """4Tb says what may have been meant; a click puts it in, and the draft may be published."""
    opened = open_page(page(draft))
    field(opened, "queue-b, max memory").fill("4Tb")
    field(opened, "queue-b, max memory").press("Tab")
    error = opened.locator(".errrow .err")
    expect(error).to_contain_text("4Tb is not a valid amount. Did you mean 4Ti or 4T?")
    described = field(opened, "queue-b, max memory").get_attribute("aria-describedby")
    assert error.get_attribute("id") == described
    expect(opened.get_by_role("button", name="Publish")).to_have_attribute("aria-disabled", "true")
    opened.get_by_role("button", name="4Ti").click()
    saved(opened, 3)
    expect(error).to_have_count(0)
    expect(field(opened, "queue-b, max memory")).to_have_value("4Ti")
    assert row(draft, "queue-b").settings["max/memory"] == "4Ti"


def test_what_is_typed_is_saved_on_leaving_and_undone_by_escape(open_page: OpenPage, draft: Draft) -> None:
    """Enter saves and stays; Escape puts back what was there; what it was stands beside."""
    opened = open_page(page(draft))
    delay = field(opened, "queue-b, preemption delay")
    delay.fill("soon")
    delay.press("Escape")
    expect(delay).to_have_value("")
    delay.fill("1m")
    delay.press("Enter")
    saved(opened, 2)
    expect(delay).to_be_focused()
    expect(opened.locator("#draft-changes")).to_contain_text("root.tenant-1.queue-b: delay set to 1m")
    field(opened, "queue-b, preemption").select_option("disabled")
    saved(opened, 3)
    assert (
        row(draft, "queue-b").settings.get("delay", ""),
        row(draft, "queue-b").settings.get("preemption_policy", ""),
    ) == ("1m", "disabled")


def test_arrows_go_from_cell_to_cell_and_tab_leaves_the_grid(open_page: OpenPage, draft: Draft) -> None:
    """One row is in the tab order, however many there are."""
    opened = open_page(page(draft))
    field(opened, "queue-b, max cpu").focus()
    opened.keyboard.press("ArrowDown")
    expect(field(opened, "training, max cpu")).to_be_focused()
    opened.keyboard.press("ArrowRight")
    opened.keyboard.press("ArrowRight")
    expect(field(opened, "training, max memory")).to_be_focused()
    opened.keyboard.press("ArrowUp")
    expect(field(opened, "queue-b, max memory")).to_be_focused()
    for _ in range(3):
        opened.keyboard.press("Tab")
    expect(opened.get_by_label("Add a column for another resource")).to_be_focused()


def test_queues_are_added_renamed_moved_and_deleted_from_the_keyboard(open_page: OpenPage, draft: Draft) -> None:
    """a, F2, m and Del on a queue's name; Enter confirms, Escape does not."""
    opened = open_page(page(draft))
    name(opened, "tenant-2").focus()
    opened.keyboard.press("a")
    expect(opened.get_by_label("Name of the new queue below tenant-2")).to_be_focused()
    opened.keyboard.press("Escape")
    expect(name(opened, "tenant-2")).to_be_focused()
    opened.keyboard.press("a")
    expect(opened.get_by_label("Name of the new queue below tenant-2")).to_be_focused()
    opened.keyboard.type("adhoc")
    opened.keyboard.press("Enter")
    expect(name(opened, "adhoc")).to_be_focused()
    opened.keyboard.press("F2")
    expect(opened.get_by_label("Rename adhoc to")).to_be_focused()
    opened.keyboard.type("lab")
    opened.keyboard.press("Enter")
    expect(name(opened, "lab")).to_be_focused()
    opened.keyboard.press("m")
    expect(opened.get_by_label("Move lab and all queues below it to")).to_be_focused()
    opened.get_by_label("Move lab and all queues below it to").select_option(label="root.tenant-1")
    opened.keyboard.press("Tab")
    opened.keyboard.press("Enter")
    expect(name(opened, "lab")).to_be_focused()
    assert row(draft, "lab").parent == row(draft, "tenant-1")
    opened.keyboard.press("Delete")
    expect(opened.get_by_text("Deletes lab.")).to_be_visible()
    expect(opened.get_by_role("link", name="Cancel")).to_be_focused()
    opened.get_by_role("button", name="Delete", exact=True).press("Enter")
    expect(name(opened, "tenant-1")).to_be_focused()
    assert not draft.queues.filter(name="lab").exists()
    expect(opened).not_to_have_url(re.compile("act="))


def test_the_same_by_mouse(open_page: OpenPage, draft: Draft, said: Console) -> None:
    """The buttons act on the row that one is in; what is not allowed is said in the form."""
    opened = open_page(page(draft))
    field(opened, "tenant-2, preemption delay").click()
    opened.get_by_role("button", name="Add child queue").click()
    opened.get_by_label("Name of the new queue below tenant-2").fill("queue 3")
    opened.get_by_role("button", name="Add", exact=True).click()
    expect(opened.locator(".act .err")).to_contain_text("is not a valid queue name")
    opened.get_by_label("Name of the new queue below tenant-2").fill("queue-3")
    opened.get_by_role("button", name="Add", exact=True).click()
    expect(name(opened, "queue-3")).to_be_visible()
    name(opened, "queue-3").dblclick()
    opened.get_by_label("pods without a controller").first.select_option("true")
    saved(opened, 3)
    assert row(draft, "queue-3").settings.get("evict_uncontrolled")
    opened.reload()
    expect(opened.get_by_label("pods without a controller").first).to_have_value("true")
    said.expect_refusals()


def test_ones_own_acts_are_undone_and_redone(open_page: OpenPage, draft: Draft, said: Console) -> None:
    """One after the other, by keyboard or button; what somebody else changed since is not."""
    opened = open_page(page(draft))
    name(opened, "tenant-2").press("a")
    opened.get_by_label("Name of the new queue below tenant-2").fill("adhoc")
    opened.keyboard.press("Enter")
    expect(name(opened, "adhoc")).to_be_focused()
    field(opened, "adhoc, max cpu").fill("4")
    field(opened, "adhoc, max cpu").press("Enter")
    saved(opened, 3)
    opened.keyboard.press("Control+z")
    expect(field(opened, "adhoc, max cpu")).to_have_value("")
    expect(field(opened, "adhoc, max cpu")).to_be_focused()
    opened.keyboard.press("Control+y")
    expect(field(opened, "adhoc, max cpu")).to_have_value("4")
    opened.get_by_role("button", name="Undo").click()
    expect(field(opened, "adhoc, max cpu")).to_have_value("")
    opened.get_by_role("button", name="Undo").click()
    expect(name(opened, "adhoc")).to_have_count(0)
    expect(opened.get_by_role("button", name="Undo")).to_have_attribute("aria-disabled", "true")
    field(opened, "queue-b, preemption delay").fill("1m")
    field(opened, "queue-b, preemption delay").press("Enter")
    saved(opened, 8)
    edited_by_rae(draft, "queue-b", "delay", "2m")
    opened.keyboard.press("Control+z")
    expect(opened.locator("#undo-problem")).to_contain_text("The current value 2m was kept")
    assert row(draft, "queue-b").settings.get("delay", "") == "2m"
    said.expect_refusals()


def test_without_a_script_a_row_is_a_form(open_page: OpenPage, draft: Draft) -> None:
    """Its name unfolds it; everything else is links and buttons."""
    opened = open_page(page(draft), java_script_enabled=False)
    name(opened, "queue-b").click()
    field(opened, "queue-b, max cpu").fill("300")
    opened.get_by_role("button", name="Save", exact=True).click()
    expect(opened.locator("#draft-changes")).to_contain_text("max cpu 320 → 300")
    name(opened, "queue-b").click()
    opened.get_by_role("button", name="Rename").click()
    opened.get_by_label("Rename queue-b to").fill("search")
    opened.locator(".act").get_by_role("button", name="Rename").click()
    expect(name(opened, "search")).to_be_visible()


ADDRESSES = ["", "?queue={queue}", "?queue={queue}&act=delete"]


def test_it_is_sound_in_every_look(open_page: OpenPage, draft: Draft) -> None:
    """With errors, changes and news in it; unfolded; the lists; a revision with the way back."""
    edited_by_rae(draft, "queue-b", "max/memory", "128Gb")
    edited_by_rae(draft, "queue-a", "guaranteed/cpu", "120")
    publish_another(Cluster.objects.get(), "root.queue-a", guaranteed={"cpu": 100_000})
    queue = row(draft, "queue-b").pk
    opened = open_page("/clusters/demo/editor/")
    drafts = [page(draft, query.format(queue=queue)) for query in ADDRESSES]
    for address in (*drafts, "/clusters/demo/revisions/", "/clusters/demo/revisions/1/", "/clusters/demo/editor/"):
        opened.goto(address)
        opened.wait_for_load_state("networkidle")
        assert faults(opened) == {}, address


def test_long_names_leave_room_for_what_they_name(open_page: OpenPage, draft: Draft) -> None:
    """The first column stays in sight, so it must not fill a phone's screen: of a draft, a revision, a map's table."""
    long = row(draft, "queue-b")
    long.name = "q" * 64
    long.save()
    edited_by_rae(draft, long.name, "delay", "1m")
    opened = open_page(page(draft), width=360)
    rae = User.objects.get(username="rae")
    widths = "[...document.querySelectorAll('.stick tbody th')].map((one) => one.getBoundingClientRect().width)"
    room = "document.querySelector('.stick').clientWidth - 90"
    assert max(opened.evaluate(widths)) < opened.evaluate(room)
    opened.goto("about:blank")  # the draft's page would go on asking about it
    publish_draft(draft=draft, version=2, reason="long", actor=rae)
    for address in ("revisions/2/", f"fences/?queue=root.tenant-1.{long.name}"):
        opened.goto(f"/clusters/demo/{address}")
        assert max(opened.evaluate(widths)) < opened.evaluate(room), address


def test_the_reason_to_publish_survives_a_reload(open_page: OpenPage, draft: Draft) -> None:
    """Also where the session ended before it was sent; another draft has its own."""
    opened = open_page(page(draft))
    opened.locator("#reason").fill("more room for vision")
    opened.reload()
    expect(opened.locator("#reason")).to_have_value("more room for vision")
    opened.goto(page(started(Cluster.objects.get(), "Another")))
    expect(opened.locator("#reason")).to_have_value("")


def test_what_is_redone_in_a_queue_that_was_added_anew(open_page: OpenPage, draft: Draft) -> None:
    """It is the same queue to whoever undid adding it."""
    opened = open_page(page(draft))
    name(opened, "tenant-2").press("a")
    opened.get_by_label("Name of the new queue below tenant-2").fill("adhoc")
    opened.keyboard.press("Enter")
    field(opened, "adhoc, max cpu").fill("4")
    field(opened, "adhoc, max cpu").press("Enter")
    saved(opened, 3)
    for version in (4, 5):
        opened.get_by_role("button", name="Undo").click()
        saved(opened, version)
    for version in (6, 7):
        opened.get_by_role("button", name="Redo").click()
        saved(opened, version)
    expect(field(opened, "adhoc, max cpu")).to_have_value("4")
    expect(opened.locator("#undo-problem")).to_be_empty()
