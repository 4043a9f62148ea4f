"""The editor in a real browser: typing, acting by mouse and keyboard, two people on one draft, a server away."""

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Route, expect

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.drafting import publish_draft
from scheduler_admin.queues.models import Draft
from tests.browser.conftest import OpenPage
from tests.browser.test_pages import RULES
from tests.web import rows
from tests.web.drafts import edited, page, publish_another, row, started

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def draft(live_server: Any) -> Draft:
    """Rae's, of the fence example."""
    demo = rows.everything()
    rows.user("rae", User.Role.ADMIN)
    return started(demo, by="rae")


def field(opened: Page, label: str) -> Locator:
    """The field of the grid with this label."""
    return opened.get_by_label(label, exact=True)


def name(opened: Page, queue: str) -> Locator:
    """A queue's name in the grid."""
    return opened.locator("#grid a.name").get_by_text(queue, exact=True)


def saved(opened: Page, version: int) -> None:
    """Wait until the page shows this version of the draft."""
    expect(opened.locator("[name=version]").first).to_have_value(str(version))


def edited_by_rae(draft: Draft, queue: str, setting: str, text: str) -> None:
    """Somebody else types."""
    edited(draft, queue, setting, text, by="rae")


def test_a_mistyped_amount_is_put_right_by_its_suggestion(open_page: OpenPage, draft: Draft) -> None:
    """4Tb says what may have been meant; a click puts it in, and the draft may be published."""
    opened = open_page(page(draft))
    field(opened, "queue-b, max memory").fill("4Tb")
    field(opened, "queue-b, max memory").press("Tab")
    error = opened.locator(".errrow .err")
    expect(error).to_contain_text("4Tb is not an amount. Did you mean 4Ti or 4T?")
    described = field(opened, "queue-b, max memory").get_attribute("aria-describedby")
    assert error.get_attribute("id") == described
    expect(opened.get_by_role("button", name="Publish")).to_have_attribute("aria-disabled", "true")
    opened.get_by_role("button", name="4Ti").click()
    saved(opened, 3)
    expect(error).to_have_count(0)
    expect(field(opened, "queue-b, max memory")).to_have_value("4Ti")
    assert row(draft, "queue-b").max["memory"] == "4Ti"


def test_what_is_typed_is_saved_on_leaving_and_undone_by_escape(open_page: OpenPage, draft: Draft) -> None:
    """Enter saves and stays; Escape puts back what was there; what it was stands beside."""
    opened = open_page(page(draft))
    delay = field(opened, "queue-b, delay")
    delay.fill("soon")
    delay.press("Escape")
    expect(delay).to_have_value("")
    delay.fill("1m")
    delay.press("Enter")
    saved(opened, 2)
    expect(delay).to_be_focused()
    expect(opened.locator("#draft-changes")).to_contain_text("root.tenant-1.queue-b delay set to 1m")
    field(opened, "queue-b, preemption").select_option("disabled")
    saved(opened, 3)
    assert (row(draft, "queue-b").delay, row(draft, "queue-b").preemption_policy) == ("1m", "disabled")


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
    expect(opened.get_by_label("A column for another resource")).to_be_focused()


def test_queues_are_added_renamed_moved_and_deleted_from_the_keyboard(open_page: OpenPage, draft: Draft) -> None:
    """a, F2, m and Del on a queue's name; Enter confirms, Escape does not."""
    opened = open_page(page(draft))
    name(opened, "tenant-2").focus()
    opened.keyboard.press("a")
    expect(opened.get_by_label("Add a queue below tenant-2, called")).to_be_focused()
    opened.keyboard.press("Escape")
    expect(name(opened, "tenant-2")).to_be_focused()
    opened.keyboard.press("a")
    expect(opened.get_by_label("Add a queue below tenant-2, called")).to_be_focused()
    opened.keyboard.type("adhoc")
    opened.keyboard.press("Enter")
    expect(name(opened, "adhoc")).to_be_focused()
    opened.keyboard.press("F2")
    expect(opened.get_by_label("Rename adhoc to")).to_be_focused()
    opened.keyboard.type("lab")
    opened.keyboard.press("Enter")
    expect(name(opened, "lab")).to_be_focused()
    opened.keyboard.press("m")
    expect(opened.get_by_label("Move lab with all below it under")).to_be_focused()
    opened.get_by_label("Move lab with all below it under").select_option(label="root.tenant-1")
    opened.keyboard.press("Tab")
    opened.keyboard.press("Enter")
    expect(name(opened, "lab")).to_be_focused()
    assert row(draft, "lab").parent == row(draft, "tenant-1")
    opened.keyboard.press("Delete")
    expect(opened.get_by_text("Deletes lab.")).to_be_visible()
    opened.get_by_role("button", name="Delete", exact=True).press("Enter")
    expect(name(opened, "tenant-1")).to_be_focused()
    assert not draft.queues.filter(name="lab").exists()
    assert "act=" not in opened.url


def test_the_same_by_mouse(open_page: OpenPage, draft: Draft, said: list[str]) -> None:
    """The buttons act on the row that one is in; what is not allowed is said in the form."""
    opened = open_page(page(draft))
    field(opened, "tenant-2, delay").click()
    opened.get_by_role("button", name="Add below").click()
    opened.get_by_label("Add a queue below tenant-2, called").fill("queue 3")
    opened.get_by_role("button", name="Add", exact=True).click()
    expect(opened.locator(".act .err")).to_contain_text("can't name a queue")
    opened.get_by_label("Add a queue below tenant-2, called").fill("queue-3")
    opened.get_by_role("button", name="Add", exact=True).click()
    expect(name(opened, "queue-3")).to_be_visible()
    name(opened, "queue-3").click()
    opened.get_by_label("pods without a controller").first.select_option("true")
    saved(opened, 3)
    assert row(draft, "queue-3").evict_uncontrolled
    opened.reload()
    expect(opened.get_by_label("pods without a controller").first).to_have_value("true")
    said.clear()  # the browser itself notes the refusal


def test_ones_own_acts_are_undone_and_redone(open_page: OpenPage, draft: Draft, said: list[str]) -> None:
    """One after the other, by keyboard or button; what somebody else changed since is not."""
    opened = open_page(page(draft))
    name(opened, "tenant-2").press("a")
    opened.get_by_label("Add a queue below tenant-2, called").fill("adhoc")
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
    field(opened, "queue-b, delay").fill("1m")
    field(opened, "queue-b, delay").press("Enter")
    saved(opened, 8)
    edited_by_rae(draft, "queue-b", "delay", "2m")
    opened.keyboard.press("Control+z")
    expect(opened.locator("#undo-problem")).to_contain_text("it says 2m")
    assert row(draft, "queue-b").delay == "2m"
    said.clear()  # the browser itself notes the refusal


def test_two_people_on_one_draft_see_each_other(open_page: OpenPage, draft: Draft) -> None:
    """Within two seconds, in rows that one isn't typing in; a line says who."""
    mine, theirs = open_page(page(draft)), open_page(page(draft))
    field(mine, "queue-a, max cpu").fill("25")
    field(theirs, "queue-b, max cpu").fill("300")
    field(theirs, "queue-b, max cpu").press("Enter")
    saved(theirs, 2)
    edited_by_rae(draft, "queue-a", "max/memory", "900Gi")
    expect(field(mine, "queue-b, max cpu")).to_have_value("300", timeout=5000)
    expect(field(mine, "queue-a, max memory")).to_have_value("900Gi")
    expect(mine.locator("#draft-title")).to_contain_text("by rae")
    expect(field(mine, "queue-a, max cpu")).to_have_value("25")
    expect(field(mine, "queue-a, max cpu")).to_be_focused()
    mine.keyboard.type("0")
    mine.keyboard.press("Enter")
    saved(mine, 4)
    expect(field(theirs, "queue-a, max cpu")).to_have_value("250", timeout=5000)


@pytest.mark.parametrize(("button", "want"), [("Keep mine", "300"), ("Take theirs", "400")])
def test_a_clash_is_settled_at_the_field(
    open_page: OpenPage, draft: Draft, said: list[str], button: str, want: str
) -> None:
    """What the other typed is shown where one typed oneself; either may stay."""
    opened = open_page(page(draft))
    mine = field(opened, "queue-b, max cpu")
    mine.fill("300")
    edited_by_rae(draft, "queue-b", "max/cpu", "400")
    mine.press("Tab")
    expect(opened.locator(".problem")).to_contain_text("it says 400, you typed 300")
    expect(mine).to_have_value("300")
    opened.get_by_role("button", name=button).click()
    expect(opened.locator(".problem")).to_have_count(0)
    expect(mine).to_have_value(want)
    saved(opened, 3 if want == "300" else 2)
    assert row(draft, "queue-b").max["cpu"] == want
    said[:] = [each for each in said if "409" not in each]  # the browser itself notes the refusal


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
    assert row(draft, "queue-b").max["cpu"] == "301"


def test_what_is_typed_into_a_queue_that_another_deletes_stays_to_be_read(
    open_page: OpenPage, draft: Draft, said: list[str]
) -> None:
    """The row stays as long as something is typed in it, and says that the queue is gone."""
    opened = open_page(page(draft))
    mine = field(opened, "queue-2, max cpu")
    mine.fill("300")
    row(draft, "queue-2").delete()
    edited_by_rae(draft, "queue-1", "delay", "1m")
    expect(field(opened, "queue-1, delay")).to_have_value("1m", timeout=5000)
    expect(mine).to_have_value("300")
    mine.press("Enter")
    expect(opened.locator(".problem")).to_contain_text("deleted this queue")
    mine.press("Escape")
    edited_by_rae(draft, "queue-1", "delay", "2m")
    expect(mine).to_have_count(0, timeout=5000)
    said.clear()  # the browser itself notes the refusal


def test_nothing_typed_is_lost_while_the_server_is_away(open_page: OpenPage, draft: Draft, said: list[str]) -> None:
    """The field says that it is not saved, leaving asks first, and once the server is back it is saved by itself."""
    opened = open_page(page(draft))

    def away(route: Route) -> None:
        route.abort()

    opened.route("**/drafts/**", away)
    field(opened, "queue-b, max cpu").fill("300")
    field(opened, "queue-b, max cpu").press("Tab")
    expect(opened.locator(".problem")).to_contain_text("Not saved")
    expect(opened.locator(".offline")).to_be_visible()
    field(opened, "queue-b, delay").fill("1m")
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
    assert (row(draft, "queue-b").max["cpu"], row(draft, "queue-b").delay) == ("300", "1m")
    said.clear()  # the browser itself notes each request that failed


def test_a_draft_that_is_gone_says_so_and_keeps_what_was_typed(
    open_page: OpenPage, draft: Draft, said: list[str]
) -> None:
    """With the way to those that are open."""
    opened = open_page(page(draft))
    Draft.objects.all().delete()
    field(opened, "queue-b, max cpu").fill("300")
    field(opened, "queue-b, max cpu").press("Tab")
    expect(opened.get_by_text("This draft is no longer there.")).to_be_visible()
    expect(field(opened, "queue-b, max cpu")).to_have_value("300")
    said.clear()


def test_what_both_changed_is_chosen_and_published(open_page: OpenPage, draft: Draft) -> None:
    """Merge, choose, say why, publish: in force."""
    edited_by_rae(draft, "queue-a", "guaranteed/cpu", "120")
    publish_another(Cluster.objects.get(), "root.queue-a", guaranteed={"cpu": 100_000})
    opened = open_page(page(draft))
    expect(opened.get_by_role("button", name="Publish")).to_have_attribute("aria-disabled", "true")
    opened.get_by_role("button", name="Merge").click()
    opened.get_by_role("button", name=re.compile("^Keep this draft’s.*root.queue-a, guaranteed cpu")).click()
    expect(opened.get_by_text("Both changed")).to_have_count(0)
    expect(opened.get_by_role("button", name="Publish")).not_to_have_attribute("aria-disabled", "true")
    opened.get_by_label("Reason, kept with the revision").fill("agreed")
    opened.get_by_role("button", name="Publish").click()
    expect(opened.get_by_role("heading", name="Revision 3")).to_be_visible()
    expect(opened.get_by_text("Revision 3 is in force.")).to_be_visible()


def test_without_a_script_a_row_is_a_form(open_page: OpenPage, draft: Draft) -> None:
    """Its name unfolds it; everything else is links and buttons."""
    opened = open_page(page(draft), java_script_enabled=False)
    name(opened, "queue-b").click()
    field(opened, "queue-b, max cpu").fill("300")
    opened.get_by_role("button", name="Save").click()
    expect(opened.locator("#draft-changes")).to_contain_text("max cpu 320 → 300")
    name(opened, "queue-b").click()
    opened.get_by_role("button", name="Rename").click()
    opened.get_by_label("Rename queue-b to").fill("search")
    opened.locator(".act").get_by_role("button", name="Rename").click()
    expect(name(opened, "search")).to_be_visible()


ADDRESSES = ["", "?queue={queue}", "?queue={queue}&act=delete"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing(open_page: OpenPage, draft: Draft, width: int, scheme: str) -> None:
    """With errors, changes and news in it; unfolded; the lists; a revision with the way back."""
    edited_by_rae(draft, "queue-b", "max/memory", "128Gb")
    edited_by_rae(draft, "queue-a", "guaranteed/cpu", "120")
    publish_another(Cluster.objects.get(), "root.queue-a", guaranteed={"cpu": 100_000})
    queue = row(draft, "queue-b").pk
    opened = open_page("/clusters/demo/editor/", width=width, scheme=scheme)
    drafts = [page(draft, query.format(queue=queue)) for query in ADDRESSES]
    for address in (*drafts, "/clusters/demo/revisions/", "/clusters/demo/revisions/1/", "/clusters/demo/editor/"):
        opened.goto(address)
        opened.wait_for_load_state("networkidle")
        found = Axe().run(opened, options=RULES).response["violations"]
        assert [(address, each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []


@pytest.mark.parametrize("width", [360, 768, 1280, 2560])
def test_nothing_overflows_sideways(open_page: OpenPage, draft: Draft, width: int) -> None:
    """The grid scrolls in its own region, its first column staying in sight."""
    edited_by_rae(draft, "queue-b", "max/memory", "128Gb")
    opened = open_page(page(draft, f"?queue={row(draft, 'queue-b').pk}"), width=width)
    for address in (opened.url, "/clusters/demo/revisions/1/", "/clusters/demo/editor/"):
        opened.goto(address)
        assert opened.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), address


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
    mine = opened.get_by_role("button", name="Keep this draft’s")
    mine.focus()
    edited_by_rae(draft, "training", "delay", "2m")
    saved(opened, 5)
    expect(mine).to_be_focused()


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
    publish_draft(draft=draft, version=2, reason="long", actor=rae)
    for address in ("revisions/2/", f"fences/?queue=root.tenant-1.{long.name}"):
        opened.goto(f"/clusters/demo/{address}")
        assert max(opened.evaluate(widths)) < opened.evaluate(room), address


def test_what_is_redone_in_a_queue_that_was_added_anew(open_page: OpenPage, draft: Draft) -> None:
    """It is the same queue to whoever undid adding it."""
    opened = open_page(page(draft))
    name(opened, "tenant-2").press("a")
    opened.get_by_label("Add a queue below tenant-2, called").fill("adhoc")
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


def test_who_signed_in_again_elsewhere_goes_on_typing(open_page: OpenPage, draft: Draft, said: list[str]) -> None:
    """Signing in changes the token that forms carry; the page's own is renewed."""
    opened = open_page(page(draft))
    (had,) = [one for one in opened.context.cookies() if one["name"] == "csrftoken"]
    opened.context.add_cookies([{"name": "csrftoken", "value": "n" * 32, "domain": had["domain"], "path": "/"}])
    field(opened, "queue-b, max cpu").fill("300")
    field(opened, "queue-b, max cpu").press("Enter")
    saved(opened, 2)
    expect(opened.locator(".problem")).to_have_count(0)
    said[:] = [each for each in said if "403" not in each]  # the browser itself notes the refusal
