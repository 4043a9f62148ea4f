"""What a pod that waits has to pass, in a browser: it comes after the page, sound in every look."""

import re

import pytest
from django.db.models import F
from playwright.sync_api import expect

from scheduler_admin.clusters.models import ClusterStatus
from tests.browser.sound import faults
from tests.pages import rows
from tests.pending.test_reasons import SHAPE, run, watched
from tests.worker.conftest import add_cluster

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("who", ["tess", "ada"])
def test_it_is_sound_in_every_look(open_page, who):
    """For the pod's tenant, and for those who see everything: with tiers that it passes and some that stop it."""
    add_cluster(SHAPE, mode="advise")
    run(watched(cpu=4))
    rows.tenant_user("tess", "root.ours", ("ours",)) if who == "tess" else rows.user("ada")
    page = open_page("/pods/east/ours/want/", who=who)
    page.wait_for_selector("#waiting .tiers")
    assert faults(page) == {}
    assert "fails" in page.locator("#waiting").inner_text()


def test_what_a_tenant_can_do_says_by_how_much_and_keeps_it(open_page):
    """The amounts come with the checks, to where the page says what can be done; its own refresh leaves them there."""
    add_cluster(SHAPE, mode="advise")
    run(watched(cpu=4))
    rows.tenant_user("tess", "root.ours", ("ours",))
    page = open_page("/pods/east/ours/want/", who="tess")
    less = page.locator("#do-less")
    expect(less).to_have_text(re.compile("request"))
    expect(less).not_to_contain_text("The checks below")
    said = less.inner_text()
    page.evaluate("() => { document.querySelector('h1').textContent = 'old'; }")
    ClusterStatus.objects.update(news=F("news") + 1)
    expect(page.locator("h1")).not_to_have_text("old")
    assert less.inner_text() == said
