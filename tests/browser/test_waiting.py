"""What a pod that waits has to pass, in a browser: it comes after the page, sound in every look."""

import pytest

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
