"""The top bar of a cluster's pages: its mode, what is wrong with it, and how to pause and resume it."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from engine.model.decision import Interlock
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.safeguards import pauses
from scheduler_admin.clusters.safeguards.holds import Hold, store_holds

pytestmark = pytest.mark.django_db
PAGE = "/clusters/demo/queues/"
NODES = "/clusters/demo/nodes/"
LOST = {"running": 2, "waiting": 1, "used": {"cpu": 3_000}, "namespaces": [["lab", 3]]}


def top_bar(client: Client, page: str = PAGE) -> str:
    """The text of the top bar and of the panel that it opens."""
    html = client.get(page).content.decode()
    return " ".join(re.sub("<[^>]+>", " ", html[html.index('id="pulse"') : html.index('class="defs"')]).split())


def status(**changes: Any) -> None:
    """Change what the last pass left; a timedelta is so long ago."""
    now = timezone.now()
    ClusterStatus.objects.update(**{k: now - v if isinstance(v, timedelta) else v for k, v in changes.items()})


@pytest.mark.parametrize(
    ("changes", "want"),
    [
        ({"read_at": timedelta(seconds=30)}, "no recent data"),
        ({"error": "connection refused"}, "the cluster can’t be read"),
        ({"read_at": None}, "not read yet"),
        ({"odd_count": 3}, "3 objects can’t be read"),
        ({"unplaced": LOST}, "3 pods without a queue"),
        ({"missing": {"Lease": "forbidden"}}, "The Lease can’t be acquired (forbidden)"),
    ],
)
def test_what_is_wrong_stands_on_every_page(ada: Client, demo: Cluster, changes: dict[str, Any], want: str) -> None:
    """In words, wherever one looks; several problems are counted, and named in the panel."""
    assert want not in top_bar(ada)
    status(**changes)
    assert want in top_bar(ada)
    assert want in top_bar(ada, NODES)
    status(**{"odd_count": 3, "unplaced": LOST} | changes)
    assert re.search(r"\d problems", top_bar(ada))
    assert want in top_bar(ada)


def test_what_keeps_the_engine_from_acting_is_wrong_and_a_pause_is_not(ada: Client, demo: Cluster) -> None:
    """Somebody paused on purpose; nobody lost the lease on purpose."""
    now = timezone.now()
    store_holds(cluster=demo, holds=[Hold(interlock=Interlock.NO_LEASE)], now=now)
    assert "No Lease" in top_bar(ada)
    store_holds(cluster=demo, holds=[], now=now)
    pauses.pause(cluster=demo, actor=None, reason="look")
    html = ada.get(PAGE).content.decode()
    assert 'id="pulse-trouble"' not in html
    assert "paused" in top_bar(ada)


def test_a_tenant_reads_how_old_the_data_is_and_no_more(tess: Client, demo: Cluster) -> None:
    """What cannot be read may be somebody else's."""
    status(odd_count=3, unplaced=LOST, missing={"Lease": "forbidden"})
    assert "can’t" not in top_bar(tess)
    assert "without" not in top_bar(tess)
    status(read_at=timedelta(seconds=30))
    assert "no recent data" in top_bar(tess)


def test_an_operator_pauses_and_resumes_on_any_page(otto: Client, demo: Cluster) -> None:
    """The form is in the panel; the banner of a pause has the button that ends it, also of one of a queue."""
    settings = "/clusters/demo/settings/"
    assert "Pause demo" in top_bar(otto, NODES)
    answer = otto.post(settings, {"act": "pause", "length": "30", "reason": "look", "next": NODES}, follow=True)
    assert answer.redirect_chain == [(NODES, 302)]
    otto.post(settings, {"act": "pause", "where": "root.system", "reason": "look", "next": NODES})
    html = otto.get(PAGE).content.decode()
    banners = re.findall(r'<div class="notice warning".*?</div>', html, re.DOTALL)
    assert [re.findall(r'name="where" value="([^"]*)"', one) for one in banners] == [[""], ["root.system"]]


@pytest.mark.parametrize("elsewhere", ["https://example.com/", "//example.com/", "javascript:alert(1)", ""])
def test_a_form_leads_back_to_this_site_only(otto: Client, demo: Cluster, elsewhere: str) -> None:
    """Whatever it says."""
    answer = otto.post("/clusters/demo/settings/", {"act": "resume", "next": elsewhere})
    assert answer["Location"] == "/clusters/demo/settings/"


def test_the_panel_follows_what_happens(otto: Client, demo: Cluster) -> None:
    """A page's own refresh brings it, so that a panel that is open does not offer to pause what is paused."""
    pauses.pause(cluster=demo, actor=None, reason="look")
    fragment = otto.get(PAGE, headers={"HX-Request": "true"}).content.decode()
    assert re.search('id="cluster-now" data-paused hx-swap-oob="true"', fragment)
