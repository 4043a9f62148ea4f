"""The page of all clusters: is everything all right, and the brake."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.clusters.models import Cluster, ClusterStatus, Pause
from scheduler_admin.clusters.safeguards import pauses
from tests.pages import rows

pytestmark = pytest.mark.django_db
PAGE = "/clusters/"
SETTINGS = "/clusters/demo/settings/"
QUEUES = "/clusters/demo/queues/"


def test_a_row_says_how_a_cluster_is(ada: Client, demo: Cluster) -> None:
    """Mode, pass, usage of capacity, asks, preemptions and refusals."""
    html = ada.get(PAGE).content.decode()
    for shown in (
        "Enforce",
        "took 41 ms",
        "16 nodes",
        "5 pods preempted in 24 hours",
        "1216",
        '<span class="st stop">1',
    ):
        assert shown in html


def test_without_clusters_it_says_how_to_connect_one(ada: Client) -> None:
    """The empty state names the command."""
    assert "manage.py connect" in ada.get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("changes", "want"),
    [
        ({"read_at": timedelta(seconds=30)}, "no recent data"),
        ({"error": "connection refused"}, "connection refused"),
        ({"read_at": None}, "none yet"),
    ],
)
def test_a_cluster_that_is_not_heard_of_is_told(ada: Client, demo: Cluster, changes: dict[str, Any], want: str) -> None:
    """Stale, failing and never read are words on its row."""
    given = {k: timezone.now() - v if isinstance(v, timedelta) else v for k, v in changes.items()}
    ClusterStatus.objects.update(**given)
    assert want in ada.get(PAGE).content.decode()


def test_an_operator_pauses_and_comes_back(otto: Client, demo: Cluster) -> None:
    """The reason is shown to others and kept in the audit log; the page that it was sent from is shown again."""
    answer = otto.post(SETTINGS, {"act": "pause", "reason": "storage migration", "next": PAGE}, follow=True)
    assert answer.redirect_chain == [(PAGE, 302)]
    assert Pause.objects.filter(cluster=demo).exists()
    assert "storage migration" in answer.content.decode()
    event = AuditEvent.objects.get(verb="cluster.pause")
    assert (event.actor_name, event.target, event.reason) == ("otto", "demo", "storage migration")
    otto.post(SETTINGS, {"act": "resume", "next": PAGE})
    assert not Pause.objects.exists()


def test_an_auditor_may_look_and_not_pause(audrey: Client, demo: Cluster) -> None:
    """The buttons are not there, and the address refuses."""
    pauses.pause(cluster=demo, actor=None, reason="look")
    html = audrey.get(PAGE).content.decode() + audrey.get(QUEUES).content.decode()
    assert "look" in html
    assert not re.search('value="(pause|resume)"', html)
    assert audrey.post(SETTINGS, {"act": "pause", "reason": "x"}).status_code == 403


def test_with_several_clusters_every_pass_is_news(ada: Client, demo: Cluster) -> None:
    """The page says when each had its last one; a single one's moves on by a header."""
    refresh = {"HX-Request": "true"}

    def again_after_a_pass() -> int:
        tag = ada.get(PAGE, headers=refresh)["ETag"]
        ClusterStatus.objects.filter(cluster=demo).update(pass_at=timezone.now())
        return ada.get(PAGE, headers=refresh | {"If-None-Match": tag}).status_code

    assert again_after_a_pass() == 304
    rows.status(rows.cluster("east"))
    assert again_after_a_pass() == 200
