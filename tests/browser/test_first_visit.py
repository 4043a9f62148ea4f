"""The first visit in a browser: the introduction and the tour, by keyboard, at every width, for everybody."""

from typing import Any

import pytest
from playwright.sync_api import expect

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from tests.browser.conftest import OpenPage
from tests.browser.sound import ALL, COLOURS, unreadable, violations, wider_than_its_window
from tests.browser.test_assistive import enlarge
from tests.pages import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    """A cluster, and ada, who was never here before."""
    rows.user()
    User.objects.update(introduction_open=True)
    return rows.everything()


@pytest.mark.parametrize("path", ["/clusters/", "/about/", "/clusters/demo/queues/?tour=2"])
def test_it_is_readable_for_everybody(open_page: OpenPage, demo: Cluster, path: str) -> None:
    """In both schemes, in the narrowest window, and with text twice as large."""
    opened = open_page(path)
    assert violations(opened, ALL) == []
    opened.emulate_media(color_scheme="dark")
    assert violations(opened, COLOURS) == []
    assert not wider_than_its_window(opened, 360)
    assert unreadable(opened) == {"cramped": [], "overlapping": []}
    enlarge(opened)
    assert not wider_than_its_window(opened, 1024)


def test_the_tour_is_taken_by_keyboard(open_page: OpenPage, demo: Cluster) -> None:
    """The introduction leads to it; each step has the focus, so that it is announced, and Tab leads to its links."""
    opened = open_page("/clusters/demo/queues/")
    opened.get_by_role("button", name="Take the tour").press("Enter")
    for number, title in enumerate(("Clusters", "Queues", "Fences", "History", "Editor"), 1):
        bar = opened.get_by_role("navigation", name=f"Step {number} of 5: {title}")
        expect(bar).to_be_focused()
        following = bar.get_by_role("link", name="Next" if number < 5 else "End tour")
        for _ in range(1 if number == 1 else 2):
            opened.keyboard.press("Tab")
        expect(following).to_be_focused()
        opened.keyboard.press("Enter")
    expect(opened).to_have_url("/clusters/demo/editor/")
    expect(opened.get_by_role("navigation", name="Step")).to_have_count(0)


def test_the_introduction_is_closed_without_a_script(open_page: OpenPage, demo: Cluster) -> None:
    """By a form, for good."""
    opened = open_page("/clusters/", java_script_enabled=False)
    opened.get_by_role("button", name="Close introduction").click()
    expect(opened.get_by_role("heading", name="Clusters")).to_be_visible()
    expect(opened.get_by_role("heading", name="What Scheduler Admin does")).to_have_count(0)
