"""Several cells of the editor at once: filled, emptied, copied and pasted as in a spreadsheet."""

import pytest
from playwright.sync_api import Page, expect

from scheduler_admin.queues.models import Draft
from tests.browser.conftest import Console, OpenPage
from tests.browser.editing import edited_by_rae, field, name, saved
from tests.browser.sound import faults
from tests.pages.queues.drafts import page, row

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASTE = """(field, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""
COPY = """(field) => {
  const clipboardData = new DataTransfer();
  field.dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true }));
  return clipboardData.getData("text/plain");
}"""


def settings(draft: Draft, queue: str, *names: str) -> list[str]:
    """What a queue says of these settings."""
    stored = row(draft, queue).settings
    return [stored.get(one, "") for one in names]


def selected(opened: Page) -> int:
    """How many cells are marked as selected."""
    return opened.locator("#grid td[aria-selected=true]").count()


def test_a_range_is_filled_down_and_undone_as_one_act(open_page: OpenPage, draft: Draft) -> None:
    """By the keyboard alone: Shift and arrows select, Ctrl+D fills, Ctrl+Z takes all of it back."""
    opened = open_page(page(draft))
    field(opened, "queue-b, max cpu").focus()
    opened.keyboard.press("Shift+ArrowDown")
    opened.keyboard.press("Shift+ArrowRight")
    assert selected(opened) == 4
    expect(opened.locator("#range")).to_contain_text("Selected cells: 4.")
    opened.keyboard.press("Control+d")
    saved(opened, 2)
    assert settings(draft, "training", "max/cpu", "max/memory") == settings(draft, "queue-b", "max/cpu", "max/memory")
    assert selected(opened) == 4
    opened.keyboard.press("Escape")
    assert selected(opened) == 0
    opened.keyboard.press("Control+z")
    saved(opened, 3)
    expect(opened.locator("#draft-changes")).to_contain_text("No changes")


def test_a_range_is_filled_with_what_is_typed_and_emptied(open_page: OpenPage, draft: Draft) -> None:
    """Shift and a click select; Ctrl+Enter puts the field's text into all, Delete empties them; buttons do the same."""
    opened = open_page(page(draft))
    field(opened, "queue-b, preemption delay").click()
    field(opened, "training, preemption delay").click(modifiers=["Shift"])
    opened.keyboard.type("45s")
    opened.keyboard.press("Control+Enter")
    saved(opened, 2)
    assert settings(draft, "queue-b", "delay") == settings(draft, "training", "delay") == ["45s"]
    opened.get_by_role("button", name="Clear").click()
    saved(opened, 3)
    assert settings(draft, "queue-b", "delay") == settings(draft, "training", "delay") == [""]


def test_what_is_copied_from_a_spreadsheet_is_pasted_from_the_cell_on(open_page: OpenPage, draft: Draft) -> None:
    """Rows and columns, choices by their words; what finds no cell is told; a long number widens its columns."""
    opened = open_page(page(draft))
    first = field(opened, "queue-1, preemption")
    first.focus()
    first.evaluate(PASTE, "disabled\t1099511627776\t64Gi\ndefault\t12\t32Gi\nfence\t1\t1Gi\n")
    saved(opened, 2)
    assert settings(draft, "queue-1", "preemption_policy", "guaranteed/cpu", "guaranteed/memory") == [
        "disabled",
        "1099511627776",
        "64Gi",
    ]
    assert settings(draft, "queue-2", "preemption_policy", "guaranteed/cpu") == ["", "12"]
    expect(opened.locator("#undo-problem")).to_have_text("Pasted values that found no field: 3.")
    long = field(opened, "queue-1, guaranteed cpu")
    assert long.evaluate("(field) => field.scrollWidth <= field.clientWidth")
    field(opened, "queue-1, guaranteed cpu").focus()
    opened.keyboard.press("Shift+ArrowDown")
    assert long.evaluate(COPY) == "1099511627776\n12"


def test_nothing_is_pasted_where_somebody_changed_a_cell_meanwhile(
    open_page: OpenPage, draft: Draft, said: Console
) -> None:
    """All of it or none; who changed what is told, and what is there now is shown."""
    opened = open_page(page(draft))
    edited_by_rae(draft, "queue-2", "guaranteed/cpu", "77")
    first = field(opened, "queue-1, guaranteed cpu")
    first.focus()
    first.evaluate(PASTE, "11\n12")
    expect(opened.locator("#undo-problem")).to_contain_text("rae changed queue-2, guaranteed cpu in the meantime.")
    expect(field(opened, "queue-2, guaranteed cpu")).to_have_value("77")
    assert settings(draft, "queue-1", "guaranteed/cpu") != ["11"]
    said.expect_refusals()


def test_a_click_selects_a_row_and_enter_or_a_second_click_opens_it(open_page: OpenPage, draft: Draft) -> None:
    """The row that one is in is marked; the buttons above act on it."""
    opened = open_page(page(draft))
    name(opened, "training").click()
    expect(name(opened, "training")).to_be_focused()
    expect(opened.locator("#grid tr[aria-current=true]")).to_contain_text("training")
    expect(opened.locator("#grid .more")).to_have_count(0)
    name(opened, "training").press("Enter")
    expect(opened.locator("#grid .more")).to_have_count(1)
    opened.keyboard.press("Escape")
    expect(opened.locator("#grid .more")).to_have_count(0)
    name(opened, "queue-b").dblclick()
    expect(opened.locator("#grid .more")).to_have_count(1)


@pytest.mark.parametrize("width", [1280, 1440, 1920, 2560])
def test_three_resources_fit_beside_each_other(open_page: OpenPage, draft: Draft, width: int) -> None:
    """All columns in sight, no number cut; the bar that publishes is in sight, too."""
    opened = open_page(page(draft), width=width)
    assert opened.evaluate(
        "document.querySelector('#grid').scrollWidth <= document.querySelector('.edit-region').clientWidth"
    )
    cut = "[...document.querySelectorAll('#grid input')].filter((one) => one.scrollWidth > one.clientWidth).length"
    assert opened.evaluate(cut) == 0
    expect(opened.get_by_role("link", name="Publish as revision")).to_be_in_viewport()


def test_a_cut_edge_fades(open_page: OpenPage, draft: Draft) -> None:
    """On a phone the grid scrolls: its far edge shows that there is more, until one is there."""
    opened = open_page(page(draft), width=360)
    region = opened.locator(".edit-region")
    expect(region).to_have_css("--cut-end", "28px")
    region.evaluate("(region) => { region.scrollLeft = 9999; }")
    expect(region).to_have_css("--cut-end", "0px")


def test_the_first_thing_typed_starts_a_draft_and_is_kept(open_page: OpenPage, draft: Draft) -> None:
    """The page stays: what is typed next, what is unfolded and undone are of the new draft, also after a reload."""
    opened = open_page("/clusters/demo/editor/")
    field(opened, "queue-b, max cpu").fill("300")
    field(opened, "queue-b, max cpu").press("Tab")
    field(opened, "queue-b, max memory").fill("3Ti")
    field(opened, "queue-b, max memory").press("Enter")
    saved(opened, 3)
    made = Draft.objects.exclude(pk=draft.pk).get()
    opened.wait_for_url(f"**{page(made)}")
    assert settings(made, "queue-b", "max/cpu", "max/memory") == ["300", "3Ti"]
    expect(opened.get_by_role("heading", name="Changes by ada")).to_be_visible()
    name(opened, "tenant-2").press("a")
    opened.get_by_label("Name of the new queue below tenant-2").fill("adhoc")
    opened.keyboard.press("Enter")
    expect(name(opened, "adhoc")).to_be_focused()
    opened.keyboard.press("Control+z")
    expect(name(opened, "adhoc")).to_have_count(0)
    assert faults(opened) == {}
    opened.reload()
    expect(field(opened, "queue-b, max cpu")).to_have_value("300")


def test_without_a_script_the_first_change_starts_a_draft_too(open_page: OpenPage, draft: Draft) -> None:
    """The row is a form."""
    opened = open_page("/clusters/demo/editor/", java_script_enabled=False)
    name(opened, "queue-b").click()
    field(opened, "queue-b, max cpu").fill("300")
    opened.get_by_role("button", name="Save", exact=True).click()
    expect(opened.get_by_role("heading", name="Changes by ada")).to_be_visible()
    expect(opened.locator("#draft-changes")).to_contain_text("max cpu 320 → 300")
