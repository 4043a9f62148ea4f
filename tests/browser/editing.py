"""The editor's page in few words."""

from playwright.sync_api import Locator, Page, expect

from scheduler_admin.queues.models import Draft
from tests.pages.queues.drafts import edited


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
