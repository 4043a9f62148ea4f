"""Comparisons in a browser: begun by keyboard, followed to the end, readable in both schemes and widths."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from django.utils import timezone

from engine.planning.comparison import CoursePoint, SideFigures, Waits
from scheduler_admin.accounts.models import User
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.comparisons.pages import comparison_context
from scheduler_admin.core import paging
from scheduler_admin.journal.models import JournalSegment
from tests.browser.sound import faults
from tests.pages import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOUR_MS = 3_600_000


@pytest.fixture
def cluster():
    """Something is recorded of it."""
    rows.user("ada")
    made = rows.cluster("demo")
    rows.status(made)
    JournalSegment.objects.create(cluster=made, began_at=timezone.now() - timedelta(hours=2), entries=1, size=1)
    return made


def figures(preempted: int) -> Any:
    """Of an hour in which so many pods went, the last one at its end."""
    course = [
        CoursePoint(at_ms=minute * 60_000, preempted=preempted * minute // 59, waiting=3, short=1, jain=900_000)
        for minute in range(60)
    ]
    found = SideFigures(
        decisions=preempted,
        preempted=preempted,
        again=0,
        applications=1,
        work={"cpu": preempted * HOUR_MS},
        placed=9,
        waiting=3,
        waits=Waits(half_ms=0, most_ms=60_000, sum_ms=HOUR_MS),
        jain=900_000,
        below={"root.tenant-1.training": HOUR_MS},
        below_ms=HOUR_MS,
        shares={"root.tenant-1.training": 250_000, "root.tenant-2.queue-1": 400_000},
        course=tuple(course),
    )
    return msgspec.to_builtins(found)


def compared(cluster, state: str, *preempted: int) -> Comparison:
    """A comparison of an hour under as many sides, and what happened."""
    now = timezone.now()
    side = {"revision": 1, "policy": "fence", "dialect": "design", "parameters": {}, "document": ""}
    found = [figures(each) for each in preempted]
    result = {"since_ms": 0, "step_ms": 3600, "record": figures(4), "sides": found}
    return Comparison.objects.create(
        cluster=cluster,
        author=User.objects.get(),
        author_name="ada",
        created_at=now,
        since=now - timedelta(hours=1),
        until=now,
        sides=[side] * max(1, len(preempted)),
        state=state,
        result=result if preempted else None,
        done=1,
        steps=4,
    )


def test_it_is_sound_in_every_look(cluster, open_page):
    """Axe finds nothing, nothing runs over, the console is silent: form, running, done."""
    done, running = compared(cluster, "done", 3, 7, 5, 2), compared(cluster, "running")
    page = open_page("/clusters/demo/compare/")
    assert faults(page) == {}
    page.goto(f"/clusters/demo/compare/{running.pk}/")
    assert faults(page) == {}
    page.goto(f"/clusters/demo/compare/{done.pk}/?plot=waiting")
    page.wait_for_selector(".plot .scatterlayer .trace:nth-child(5)", state="attached")
    assert faults(page) == {}


def test_one_is_begun_by_keyboard_followed_and_stopped(cluster, open_page):
    """The page goes on by itself, and says what became of it."""
    page = open_page("/clusters/demo/compare/")
    page.get_by_role("button", name="Compare").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare/*/")
    Comparison.objects.update(state="running", done=1, steps=4)
    page.get_by_text("25 %").last.wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("No results were kept.").wait_for()


def test_the_figures_come_when_it_is_done(cluster, open_page):
    """Without anybody's doing; the best one is told in a word."""
    one = compared(cluster, "running")
    page = open_page(f"/clusters/demo/compare/{one.pk}/")
    page.get_by_text("25 %").last.wait_for()
    done = compared(cluster, "done", 3, 7)
    Comparison.objects.filter(pk=one.pk).update(state="done", result=done.result, sides=done.sides)
    row = page.locator("tr", has_text="Pods preempted")
    row.wait_for()
    assert [cell.split() for cell in row.locator("td").all_inner_texts()] == [["4"], ["best", "3"], ["7"]]


def test_very_many_queues_are_read_page_by_page(cluster, open_page, monkeypatch):
    """The other table stays where it is, and so does one's place."""
    monkeypatch.setattr(comparison_context, "MOST", 1)
    monkeypatch.setattr(paging, "PAGE", 1)
    page = open_page(f"/clusters/demo/compare/{compared(cluster, 'done', 3, 7).pk}/?plot=waiting")
    page.get_by_role("link", name="Next").click()
    page.wait_for_url("**/?plot=waiting&shares=2#h-shares")
    assert page.locator("section[aria-labelledby=h-shares] tbody th").all_inner_texts() == ["root.tenant-2.queue-1"]
    assert page.locator("section[aria-labelledby=h-below] tbody th").all_inner_texts() == ["root.tenant-1.training"]
    assert faults(page) == {}
