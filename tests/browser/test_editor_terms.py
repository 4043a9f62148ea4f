"""How a draft decides, templates, percentages and placement rules, in a real browser."""

import pytest
from playwright.sync_api import expect

from scheduler_admin.queues.models import Draft
from tests.browser.conftest import OpenPage
from tests.browser.editing import field, name, saved
from tests.browser.sound import faults
from tests.pages import rows
from tests.pages.queues.drafts import decided, page, row

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_policy_is_chosen_and_undone(open_page: OpenPage, draft: Draft) -> None:
    """At once: its own parameters stand there, and the diff tells it."""
    opened = open_page(page(draft))
    opened.get_by_label("policy", exact=True).select_option("priority")
    saved(opened, 2)
    expect(opened.locator("#draft-changes")).to_contain_text("policy fence → priority")
    expect(opened.get_by_label("last resort")).to_have_count(0)
    expect(opened.get_by_label("dialect")).to_have_value("kube-scheduler")
    opened.get_by_role("button", name="Undo").click()
    saved(opened, 3)
    expect(opened.get_by_label("policy", exact=True)).to_have_value("fence")
    expect(opened.locator("#draft-changes")).to_contain_text("No changes.")


def test_a_percentage_says_what_it_comes_to_and_follows(open_page: OpenPage, draft: Draft) -> None:
    """Also in the row below that nobody typed in."""
    opened = open_page(page(draft))
    field(opened, "tenant-1, max cpu").fill("800")
    field(opened, "tenant-1, max cpu").press("Tab")
    field(opened, "queue-b, max cpu").fill("25%")
    field(opened, "queue-b, max cpu").press("Tab")
    below = opened.locator(f"#q{row(draft, 'queue-b').pk}")
    expect(below).to_contain_text("= 200")
    field(opened, "tenant-1, max cpu").fill("400")
    field(opened, "tenant-1, max cpu").press("Tab")
    expect(below).to_contain_text("= 100")
    assert row(draft, "queue-b").settings["max/cpu"] == "25%"


def test_a_template_is_typed_in_the_unfolded_row(open_page: OpenPage, draft: Draft) -> None:
    """With its errors at the field."""
    opened = open_page(page(draft))
    name(opened, "tenant-1").dblclick()
    delay = opened.get_by_label("tenant-1, template: preemption delay", exact=True)
    delay.fill("10")
    delay.press("Tab")
    expect(opened.locator("#draft-checks")).to_contain_text("10 is not a valid duration. Did you mean 10s?")
    delay.fill("10s")
    delay.press("Tab")
    expect(opened.locator("#draft-changes")).to_contain_text("root.tenant-1: template delay set to 10s")
    assert row(draft, "tenant-1").settings["template/delay"] == "10s"


def test_rules_are_made_in_the_browser_and_tried_out(open_page: OpenPage, draft: Draft) -> None:
    """What is typed is saved by any of the buttons, and what a pod would get follows."""
    opened = open_page(page(draft, "?try_namespace=lab&try_user=ann"))
    trial = opened.locator("#draft-placement [role=status]")
    expect(trial).to_have_text("The pod would belong to no queue.")
    opened.get_by_role("button", name="Add rule", exact=True).click()
    opened.get_by_label("Queue name from").select_option("user")
    opened.get_by_label("If the queue does not exist").select_option("true")
    opened.get_by_role("button", name="Save rules").last.click()
    expect(trial).to_contain_text("root.ann, which would be created with it.")
    opened.get_by_role("button", name="Add parent rule").click()
    opened.get_by_label("Parent queue name from").select_option("tag")
    opened.get_by_role("button", name="Save rules").last.click()
    expect(opened.locator("#draft-placement .err")).to_contain_text("needs the tag name as its value")
    opened.get_by_label("Tag: namespace or namespace.parentqueue").fill("namespace")
    opened.get_by_label("If the queue does not exist").last.select_option("true")
    opened.get_by_label("Tag: namespace or namespace.parentqueue").press("Enter")
    expect(trial).to_contain_text("root.lab.ann, which would be created with it.")
    expect(opened.locator("#draft-changes")).to_contain_text("placement rule 1 added")
    opened.get_by_role("button", name="Undo").click()
    expect(opened.locator("#draft-placement .err")).to_be_visible()


def test_it_is_sound_in_every_look(open_page: OpenPage, draft: Draft) -> None:
    """With a template unfolded, rules, and something wrong."""
    rows.user("ada")
    above = '{"name": "tag"}'
    decided(draft, "placement", f'[{{"name": "user", "create": true, "parent": {above}}}, {{"name": "provided"}}]')
    decided(draft, "policy", "later")
    opened = open_page(page(draft, f"?queue={row(draft, 'tenant-1').pk}"))
    assert faults(opened) == {}
