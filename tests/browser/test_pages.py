"""Every page of the shell in a real browser: nothing for axe to find, no sideways scrolling, no broken policy."""

from datetime import time
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Browser

from engine.cluster.sync.copies import ClusterCopy
from engine.formats import registry
from engine.formats.registry import Format
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.safeguards.limits import add_window
from scheduler_admin.clusters.safeguards.pauses import pause
from scheduler_admin.ledger.services import book
from scheduler_admin.queues.services.hierarchies import tree_of
from scheduler_admin.sync.models import Writing
from scheduler_admin.sync.observation import keep
from scheduler_admin.sync.services import copy_of
from tests.browser.conftest import OpenPage
from tests.browser.sound import faults
from tests.deploy.test_compose import BASE
from tests.pages import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = [
    "/sign-in/",
    "/clusters/",
    "/clusters/demo/queues/",
    "/clusters/demo/queues/root.tenant-1.queue-b/",
    "/clusters/demo/history/repeats/",
    "/clusters/demo/copy/",
    "/clusters/demo/settings/",
    "/clusters/demo/priority-classes/",
    "/clusters/demo/priority-classes/batch/",
    "/ledger/",
]


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    cluster = rows.everything()
    for minutes in (20, 30):
        rows.decision(cluster, "root.tenant-1.training", minutes=minutes, victims=("root.tenant-1.queue-b",))
    book(cluster=cluster)
    pause(cluster=cluster, queue="root.tenant-1", actor=None, reason="a demonstration that must not be disturbed")
    hours = {"weekdays": ["mon", "fri"], "begins": time(22), "ends": time(6), "zone": "Europe/Berlin"}
    add_window(cluster=cluster, kind="allow", actor=None, reason="batch hours", **hours)
    copied(cluster)
    return cluster


def copied(cluster: Cluster) -> None:
    """Its own copy of the tree, which somebody changed; to write over it was asked for, and is to be confirmed."""
    assert cluster.hierarchy
    assert cluster.hierarchy.current
    text = registry.write(Format.YUNIKORN, "", tree_of(cluster.hierarchy.current)).text
    for version, said in (("uid/1", text), ("uid/2", text.replace("240", "200"))):
        seen = ClusterCopy(
            namespace="yunikorn", text=said, version=version, writer="kubectl-edit", written_at=timezone.now()
        )
        keep(copy=copy_of(cluster), seen=seen, now=timezone.now())
    clash = {"object": "ClusterQueue research", "field": ".spec.resourceGroups", "message": 'conflict with "argocd"'}
    Writing.objects.create(
        cluster=cluster,
        revision=cluster.hierarchy.current,
        onto="uid/2",
        state="needs-confirmation",
        clashes=[clash],
        by_name="ada",
        reason="as agreed",
    )


@pytest.mark.parametrize("path", PAGES)
def test_it_is_sound_in_every_look(open_page: OpenPage, demo: Cluster, path: str) -> None:
    """WCAG 2.2 AA and best practice; wide tables scroll inside themselves; what is clicked is large enough."""
    page = open_page(path)
    if "queue-b" in path:
        page.wait_for_selector(".js-plotly-plot .main-svg")
    assert faults(page) == {}


def test_the_page_of_styles_is_sound_in_every_look(chromium: Browser) -> None:
    """From its file, as whoever changes the code opens it."""
    page = chromium.new_page()
    page.goto((BASE / "docs" / "style.html").as_uri())
    assert page.locator("h2").count() > 8
    assert faults(page) == {}
    page.close()
