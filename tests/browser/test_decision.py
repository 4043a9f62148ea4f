"""The page of a decision in a browser: sound in every look, folds by keyboard, and what is open stays open."""

import pytest
from django.db.models import F

from scheduler_admin.clusters.models import ClusterStatus
from scheduler_admin.decisions.models import Decision
from tests.browser.sound import faults
from tests.pages import moments, rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def decisions():
    """One of each kind: carried out, refused, three that preempt nothing, and one for a group."""
    rows.user("ada")
    made = rows.cluster("demo")
    rows.status(made)
    found = moments.decide(made)
    moments.carried_out(found[0])
    return [*found, moments.refused(made), moments.decide_group(made)]


def test_it_is_sound_in_every_look(decisions, open_page):
    """With every fold open, too."""
    page = open_page("/")
    for row in decisions:
        page.goto(f"/clusters/demo/decisions/{row.pk}/")
        page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        assert faults(page) == {}


def test_what_is_open_stays_open_when_news_come_in(decisions, open_page):
    """Nobody loses the place where they read."""
    row = decisions[0]
    page = open_page(f"/clusters/demo/decisions/{row.pk}/")
    page.locator("#fold-nodes summary").focus()
    page.keyboard.press("Enter")
    assert page.get_by_text("maintenance:NoSchedule").is_visible()
    Decision.objects.filter(pk=row.pk).update(ending="capacity-taken")
    ClusterStatus.objects.update(news=F("news") + 1, decided=F("decided") + 1)
    page.wait_for_selector("text=capacity taken")
    assert page.get_by_text("maintenance:NoSchedule").is_visible()
