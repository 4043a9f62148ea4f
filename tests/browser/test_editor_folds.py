"""The editor in a real browser: the tree is folded and unfolded, as in every treegrid, and queues are dragged."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from scheduler_admin.clusters.models import ClusterStatus
from scheduler_admin.queues.models import Draft, DraftQueue
from tests.browser.conftest import OpenPage
from tests.browser.editing import edited_by_rae, field, name, saved
from tests.pages.queues.drafts import page, row

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def line(opened: Page, draft: Draft, queue: str) -> Locator:
    """The row of a queue."""
    return opened.locator(f"#q{row(draft, queue).pk} > tr").first


def test_subtrees_are_folded_from_the_keyboard(open_page: OpenPage, draft: Draft) -> None:
    """Left folds and goes up, Right unfolds and goes on, Home and End lead to the ends, * unfolds all."""
    opened = open_page(page(draft))
    name(opened, "queue-b").focus()
    opened.keyboard.press("ArrowLeft")
    expect(name(opened, "tenant-1")).to_be_focused()
    opened.keyboard.press("ArrowLeft")
    expect(line(opened, draft, "tenant-1")).to_have_attribute("aria-expanded", "false")
    expect(name(opened, "queue-b")).to_be_hidden()
    expect(opened).to_have_url(re.compile(f"folded={row(draft, 'tenant-1').pk}"))
    opened.keyboard.press("ArrowDown")
    expect(name(opened, "tenant-2")).to_be_focused()
    opened.keyboard.press("Home")
    expect(name(opened, "root")).to_be_focused()
    opened.keyboard.press("End")
    expect(name(opened, "queue-2")).to_be_focused()
    opened.keyboard.press("Home")
    opened.keyboard.press("ArrowLeft")
    expect(name(opened, "tenant-1")).to_be_hidden()
    opened.keyboard.press("*")
    expect(name(opened, "queue-b")).to_be_visible()
    expect(opened).not_to_have_url(re.compile("folded"))
    opened.keyboard.press("ArrowRight")
    expect(field(opened, "root, preemption")).to_be_focused()


def test_news_do_not_unfold_and_errors_are_counted(open_page: OpenPage, draft: Draft) -> None:
    """Also after loading the page anew; what leads into a folded subtree unfolds it."""
    opened = open_page(page(draft))
    line(opened, draft, "tenant-1").locator("a.fold").click()
    expect(name(opened, "queue-b")).to_be_hidden()
    edited_by_rae(draft, "queue-b", "max/memory", "128Gb")
    saved(opened, 2)
    expect(line(opened, draft, "tenant-1")).to_contain_text("1 error below")
    expect(name(opened, "queue-b")).to_be_hidden()
    opened.reload()
    expect(name(opened, "queue-b")).to_be_hidden()
    expect(line(opened, draft, "tenant-1").get_by_text("1 error below")).to_be_visible()
    opened.locator("#draft-checks").get_by_role("link", name="queue-b, max memory").click()
    expect(field(opened, "queue-b, max memory")).to_be_visible()
    expect(line(opened, draft, "tenant-1").get_by_text("1 error below")).to_be_hidden()


def test_rows_say_where_they_stand(open_page: OpenPage, draft: Draft) -> None:
    """Level, place and number of siblings, also after an act; an added queue is shown in a folded one."""
    opened = open_page(page(draft))
    queue = line(opened, draft, "queue-2")
    assert [queue.get_attribute(f"aria-{each}") for each in ("level", "posinset", "setsize")] == ["3", "2", "2"]
    name(opened, "tenant-2").press("ArrowLeft")
    name(opened, "tenant-2").press("a")
    opened.get_by_label("Name of the new queue below tenant-2").fill("queue-3")
    opened.keyboard.press("Enter")
    expect(name(opened, "queue-3")).to_be_focused()
    assert [queue.get_attribute(f"aria-{each}") for each in ("level", "posinset", "setsize")] == ["3", "2", "3"]


def test_in_a_long_tree_every_queue_is_reached(open_page: OpenPage, draft: Draft) -> None:
    """However far from what is in sight: by keys, by what is wrong there, after it was added, folded or moved."""
    parent = row(draft, "tenant-2")
    DraftQueue.objects.bulk_create(DraftQueue(draft=draft, parent=parent, name=f"leaf-{n}") for n in range(80))
    edited_by_rae(draft, "leaf-79", "max/cpu", "a lot")
    opened = open_page(page(draft))
    name(opened, "tenant-2").press("End")
    expect(name(opened, "leaf-79")).to_be_focused()
    expect(name(opened, "leaf-79")).to_be_in_viewport()
    field(opened, "leaf-79, max memory").focus()
    for _ in range(40):
        opened.keyboard.press("ArrowUp")
    expect(field(opened, "leaf-39, max memory")).to_be_focused()
    name(opened, "leaf-39").press("Home")
    expect(name(opened, "root")).to_be_in_viewport()
    opened.locator("#draft-checks").get_by_role("link", name="leaf-79, max cpu").click()
    expect(field(opened, "leaf-79, max cpu")).to_be_in_viewport()
    name(opened, "tenant-2").press("a")
    opened.get_by_label("Name of the new queue below tenant-2").fill("last")
    opened.keyboard.press("Enter")
    expect(name(opened, "last")).to_be_focused()
    expect(name(opened, "last")).to_be_in_viewport()
    name(opened, "tenant-2").press("ArrowLeft")
    expect(name(opened, "last")).to_be_hidden()
    expect(opened.locator("#grid tbody").last).to_have_id(f"q{row(draft, 'last').pk}")
    assert opened.evaluate("document.querySelector('.edit-region').scrollHeight") < 900


def test_without_a_script_folding_is_a_link(open_page: OpenPage, draft: Draft) -> None:
    """And stays in the links to other states of the page."""
    opened = open_page(page(draft), java_script_enabled=False)
    line(opened, draft, "tenant-1").locator("a.fold").click()
    expect(name(opened, "queue-b")).to_be_hidden()
    name(opened, "queue-1").click()
    expect(name(opened, "queue-b")).to_be_hidden()
    line(opened, draft, "tenant-1").locator("a.fold").click()
    expect(name(opened, "queue-b")).to_be_visible()


def test_a_queue_is_dragged_below_another(open_page: OpenPage, draft: Draft) -> None:
    """The target is marked and told; undo brings it back."""
    opened = open_page(page(draft))
    name(opened, "queue-b").hover()
    opened.mouse.down()
    name(opened, "queue-1").hover()
    name(opened, "queue-1").hover()
    expect(opened.locator("#drag-said")).to_have_text("Moves queue-b below queue-1.")
    expect(opened.locator(f"#q{row(draft, 'queue-1').pk}")).to_have_attribute("data-drop", "will")
    opened.mouse.up()
    saved(opened, 2)
    expect(opened.locator("#drag-said")).to_be_empty()
    assert row(draft, "queue-b").parent == row(draft, "queue-1")
    opened.keyboard.press("Control+z")
    saved(opened, 3)
    assert row(draft, "queue-b").parent == row(draft, "tenant-1")


def test_a_leaf_that_runs_pods_warns_before_a_queue_is_put_below_it(open_page: OpenPage, draft: Draft) -> None:
    """While it is dragged, and where a queue is added: the pods would have no queue."""
    status = ClusterStatus.objects.get()
    status.queues["root.tenant-2.queue-1"]["used"]["pods"] = 12
    status.save()
    opened = open_page(page(draft))
    name(opened, "queue-b").hover()
    opened.mouse.down()
    for _ in range(2):
        name(opened, "queue-1").hover()
    expect(opened.locator("#drag-said")).to_contain_text("Pods run in queue-1 (12), and lose their queue then.")
    for _ in range(2):
        name(opened, "tenant-2").hover()
    expect(opened.locator("#drag-said")).to_have_text("Moves queue-b below tenant-2.")
    opened.mouse.up()
    saved(opened, 2)
    name(opened, "queue-1").focus()
    opened.keyboard.press("a")
    expect(opened.locator(".act .err")).to_contain_text("12 pods run in queue-1. They lose their queue")


def test_what_can_not_be_dropped_is_refused_in_sight(open_page: OpenPage, draft: Draft) -> None:
    """Below itself, where it is, the root; Escape cancels."""
    opened = open_page(page(draft))
    for dragged, onto, says in (
        ("tenant-1", "queue-b", "can’t be moved below itself"),
        ("queue-b", "tenant-1", "queue-b is already below tenant-1"),
    ):
        name(opened, dragged).hover()
        opened.mouse.down()
        for _ in range(2):
            name(opened, onto).hover()
        expect(opened.locator("#drag-said")).to_contain_text(says)
        opened.mouse.up()
        expect(opened.locator("#drag-said")).to_be_empty()
    name(opened, "queue-b").hover()
    opened.mouse.down()
    for _ in range(2):
        name(opened, "tenant-2").hover()
    opened.keyboard.press("Escape")
    opened.mouse.up()
    expect(opened.locator("[data-drop]")).to_have_count(0)
    draft.refresh_from_db()
    assert draft.version == 1
    expect(opened.locator("#draft-changes")).to_contain_text(re.compile("0 queues changed"))


def test_an_empty_cell_says_what_holds_all_the_same(open_page: OpenPage, draft: Draft) -> None:
    """At once when it is typed above, gone when it is taken away, and only where nothing is said."""
    opened = open_page(page(draft))
    below = field(opened, "queue-b, preemption delay")
    choice = field(opened, "queue-b, preemption")
    field(opened, "tenant-1, preemption").select_option("disabled")
    saved(opened, 2)
    expect(choice).to_have_attribute("title", "disabled, inherited from root.tenant-1")
    expect(choice.locator("option").first).to_have_text("↑ disabled")
    expect(choice).to_have_value("")
    field(opened, "tenant-1, preemption").select_option("")
    saved(opened, 3)
    expect(choice).to_have_attribute("title", "")
    expect(choice.locator("option").first).to_have_text("default")
    expect(below).to_have_attribute("placeholder", "–")
