"""The editor in a real browser: two people on one draft, a server away; nothing typed is lost."""

import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft
from tests.browser.conftest import Console, OpenPage
from tests.browser.editing import edited_by_rae, field, name, saved
from tests.pages.queues.drafts import page, publish_another, row

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_two_people_on_one_draft_see_each_other(open_page: OpenPage, draft: Draft) -> None:
    """Within two seconds, in rows that one isn't typing in; a line says who."""
    mine, theirs = open_page(page(draft)), open_page(page(draft))
    field(mine, "queue-a, max cpu").fill("25")
    field(theirs, "queue-b, max cpu").fill("300")
    field(theirs, "queue-b, max cpu").press("Enter")
    saved(theirs, 2)
    edited_by_rae(draft, "queue-a", "max/memory", "900Gi")
    expect(field(mine, "queue-b, max cpu")).to_have_value("300")
    expect(field(mine, "queue-a, max memory")).to_have_value("900Gi")
    expect(mine.locator("#draft-title")).to_contain_text("by rae")
    expect(field(mine, "queue-a, max cpu")).to_have_value("25")
    expect(field(mine, "queue-a, max cpu")).to_be_focused()
    mine.keyboard.type("0")
    mine.keyboard.press("Enter")
    saved(mine, 4)
    expect(field(theirs, "queue-a, max cpu")).to_have_value("250")


@pytest.mark.parametrize(("button", "want"), [("Keep mine", "300"), ("Use theirs", "400")])
def test_a_clash_is_settled_at_the_field(
    open_page: OpenPage, draft: Draft, said: Console, button: str, want: str
) -> None:
    """What the other typed is shown where one typed oneself; either may stay."""
    opened = open_page(page(draft))
    mine = field(opened, "queue-b, max cpu")
    mine.fill("300")
    edited_by_rae(draft, "queue-b", "max/cpu", "400")
    mine.press("Tab")
    expect(opened.locator(".problem")).to_contain_text("The current value is 400; you entered 300")
    expect(mine).to_have_value("300")
    opened.get_by_role("button", name=button).click()
    expect(opened.locator(".problem")).to_have_count(0)
    expect(mine).to_have_value(want)
    saved(opened, 3 if want == "300" else 2)
    assert row(draft, "queue-b").settings["max/cpu"] == want
    said.expect_refusals()


def test_who_types_on_while_it_is_being_saved_does_not_clash_with_oneself(open_page: OpenPage, draft: Draft) -> None:
    """One save after the other, each on what the one before left."""
    opened = open_page(page(draft))
    mine = field(opened, "queue-b, max cpu")
    mine.fill("300")
    mine.press("Enter")
    mine.fill("301")
    mine.press("Enter")
    saved(opened, 3)
    expect(opened.locator(".problem")).to_have_count(0)
    assert row(draft, "queue-b").settings["max/cpu"] == "301"


def test_what_is_typed_into_a_queue_that_another_deletes_stays_to_be_read(
    open_page: OpenPage, draft: Draft, said: Console
) -> None:
    """The row stays as long as something is typed in it, and says that the queue is gone."""
    opened = open_page(page(draft))
    mine = field(opened, "queue-2, max cpu")
    mine.fill("300")
    row(draft, "queue-2").delete()
    edited_by_rae(draft, "queue-1", "delay", "1m")
    expect(field(opened, "queue-1, preemption delay")).to_have_value("1m")
    expect(mine).to_have_value("300")
    mine.press("Enter")
    expect(opened.locator(".problem")).to_contain_text("deleted this queue")
    mine.press("Escape")
    edited_by_rae(draft, "queue-1", "delay", "2m")
    expect(mine).to_have_count(0)
    said.expect_refusals()


def test_nothing_typed_is_lost_while_the_server_is_away(open_page: OpenPage, draft: Draft, said: Console) -> None:
    """The field says that it is not saved, leaving asks first, and once the server is back it is saved by itself."""
    opened = open_page(page(draft))

    def away(route: Route) -> None:
        route.abort()

    opened.route("**/drafts/**", away)
    field(opened, "queue-b, max cpu").fill("300")
    field(opened, "queue-b, max cpu").press("Tab")
    expect(opened.locator(".problem")).to_contain_text("Not saved")
    expect(opened.locator(".offline")).to_be_visible()
    field(opened, "queue-b, preemption delay").fill("1m")
    asked: list[str] = []

    def stay(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    opened.on("dialog", stay)
    opened.get_by_role("link", name="History").click()
    opened.wait_for_timeout(200)
    assert asked == ["beforeunload"]
    expect(field(opened, "queue-b, max cpu")).to_have_value("300")
    opened.unroute("**/drafts/**", away)
    saved(opened, 3)
    expect(opened.locator(".offline")).to_be_hidden()
    assert (row(draft, "queue-b").settings["max/cpu"], row(draft, "queue-b").settings.get("delay", "")) == ("300", "1m")
    said.expect_refusals()


def test_who_stays_in_a_field_has_it_saved_once_the_server_is_back(
    open_page: OpenPage, draft: Draft, said: Console
) -> None:
    """As the page promises; what is typed on meanwhile is not sent before it is done."""
    opened = open_page(page(draft))

    def away(route: Route) -> None:
        route.fulfill(status=503)

    opened.route("**/drafts/**", away)
    cell = field(opened, "queue-b, max cpu")
    cell.fill("300")
    cell.press("Enter")
    expect(opened.locator(".offline")).to_be_visible()
    opened.unroute("**/drafts/**", away)
    saved(opened, 2)
    expect(cell).to_be_focused()
    assert row(draft, "queue-b").settings["max/cpu"] == "300"
    said.expect_refusals()


def test_what_is_not_looked_at_as_a_whole_yet_is_not_published(open_page: OpenPage, draft: Draft) -> None:
    """The tree stands at once; what is said of it says that it is of before, and to publish it is to look again."""
    edited_by_rae(draft, "queue-a", "max/memory", "900Gi")
    opened = open_page(page(draft))
    away = [True]  # while anything is in it, no answer comes
    opened.route("**/news/**", lambda route: None if away else route.continue_())
    opened.locator("#reason").fill("more")
    field(opened, "queue-b, max cpu").fill("300")
    with opened.expect_request("**/news/**"):
        field(opened, "queue-b, max cpu").press("Enter")
    expect(opened.locator("#grid .was", has_text="was 320")).to_be_visible()
    expect(opened.locator(".panel")).to_have_attribute("aria-busy", "true")
    away.clear()
    opened.get_by_role("button", name="Publish").click()
    saved(opened, 3)
    expect(opened.locator("#look")).to_be_visible()
    expect(opened.locator(".panel")).not_to_have_attribute("aria-busy", "true")
    assert draft.hierarchy.revisions.count() == 1
    opened.get_by_role("button", name="Publish").click()
    opened.wait_for_url("**/revisions/2/")


def test_a_draft_that_is_gone_says_so_and_keeps_what_was_typed(
    open_page: OpenPage, draft: Draft, said: Console
) -> None:
    """With the way to those that are open."""
    opened = open_page(page(draft))
    Draft.objects.all().delete()
    field(opened, "queue-b, max cpu").fill("300")
    field(opened, "queue-b, max cpu").press("Tab")
    expect(opened.get_by_text("This draft no longer exists.")).to_be_visible()
    expect(field(opened, "queue-b, max cpu")).to_have_value("300")
    said.expect_refusals()


def test_what_both_changed_is_chosen_and_published(open_page: OpenPage, draft: Draft) -> None:
    """Merge, choose, say why, publish: in force."""
    edited_by_rae(draft, "queue-a", "guaranteed/cpu", "120")
    publish_another(Cluster.objects.get(), "root.queue-a", guaranteed={"cpu": 100_000})
    opened = open_page(page(draft))
    expect(opened.get_by_role("button", name="Publish")).to_have_attribute("aria-disabled", "true")
    opened.get_by_role("button", name="Merge").click()
    opened.get_by_role("button", name=re.compile("^Keep draft value.*root.queue-a, guaranteed cpu")).click()
    expect(opened.get_by_text("Conflicts")).to_have_count(0)
    expect(opened.get_by_role("button", name="Publish")).not_to_have_attribute("aria-disabled", "true")
    opened.get_by_label("Reason (kept with the revision)").fill("agreed")
    opened.get_by_role("button", name="Publish").click()
    expect(opened.get_by_role("heading", name="Revision 3")).to_be_visible()
    expect(opened.get_by_text("Revision 3 is published.")).to_be_visible()


def test_news_leave_a_form_and_the_keyboard_where_they_are(open_page: OpenPage, draft: Draft) -> None:
    """A half-typed name stays though its queue was changed, and a button that one is on is not taken away."""
    opened = open_page(page(draft, f"?queue={row(draft, 'queue-b').pk}&act=rename"))
    opened.get_by_label("Rename queue-b to").fill("half")
    edited_by_rae(draft, "queue-b", "max/cpu", "321")
    saved(opened, 2)
    expect(opened.get_by_label("Rename queue-b to")).to_have_value("half")
    expect(opened.get_by_label("Rename queue-b to")).to_be_focused()
    opened.keyboard.press("Escape")
    expect(name(opened, "queue-b")).to_be_focused()
    expect(opened.get_by_label("Rename queue-b to")).to_have_count(0)
    cluster = Cluster.objects.get(name="demo")
    publish_another(cluster, "root.tenant-1.queue-b", max={"cpu": 330_000})
    opened.get_by_role("button", name="Merge").focus()
    edited_by_rae(draft, "training", "delay", "1m")
    saved(opened, 3)
    expect(opened.get_by_role("button", name="Merge")).to_be_focused()
    opened.keyboard.press("Enter")
    mine = opened.get_by_role("button", name="Keep draft value")
    mine.focus()
    edited_by_rae(draft, "training", "delay", "2m")
    saved(opened, 5)
    expect(mine).to_be_focused()


def test_who_signed_in_again_elsewhere_goes_on_typing(open_page: OpenPage, draft: Draft, said: Console) -> None:
    """Signing in changes the token that forms carry; the page's own is renewed."""
    opened = open_page(page(draft))
    (had,) = [one for one in opened.context.cookies() if one["name"] == "csrftoken"]
    opened.context.add_cookies([{"name": "csrftoken", "value": "n" * 32, "domain": had["domain"], "path": "/"}])
    field(opened, "queue-b, max cpu").fill("300")
    field(opened, "queue-b, max cpu").press("Enter")
    saved(opened, 2)
    expect(opened.locator(".problem")).to_have_count(0)
    said.expect_refusals()


def test_what_is_marked_stays_marked_while_an_answer_comes(open_page: OpenPage, draft: Draft) -> None:
    """Else what is typed over it would stand beside it."""
    opened = open_page(page(draft))
    mine = field(opened, "queue-b, max cpu")
    mine.fill("300")
    mine.press("Enter")
    opened.keyboard.press("Control+A")
    saved(opened, 2)
    opened.keyboard.type("301")
    expect(mine).to_have_value("301")
