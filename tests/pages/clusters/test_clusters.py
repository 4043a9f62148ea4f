"""The page of all clusters: is everything all right, and the brake."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.clusters.models import Cluster, ClusterStatus, Pause
from tests.pages import rows

pytestmark = pytest.mark.django_db
PAGE = "/clusters/"


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


def test_an_operator_pauses_with_a_reason(otto: Client, demo: Cluster) -> None:
    """The reason is shown to others and kept in the audit log."""
    answer = otto.post("/clusters/demo/pause/", {"act": "pause", "reason": "storage migration"}, follow=True)
    assert Pause.objects.filter(cluster=demo).exists()
    assert "storage migration" in answer.content.decode()
    event = AuditEvent.objects.get(verb="cluster.pause")
    assert (event.actor_name, event.target, event.reason) == ("otto", "demo", "storage migration")


def test_a_pause_without_a_reason_is_refused(otto: Client, demo: Cluster) -> None:
    """Others would not know why nothing happens."""
    answer = otto.post("/clusters/demo/pause/", {"act": "pause", "reason": "  "}, follow=True)
    assert not Pause.objects.exists()
    assert "is not paused" in answer.content.decode()


def test_a_reason_has_an_end(otto: Client, demo: Cluster) -> None:
    """It stands in a row of a table; a longer one is refused with its length, and nothing is paused."""
    answer = otto.post("/clusters/demo/pause/", {"act": "pause", "reason": "x" * 301}, follow=True)
    assert not Pause.objects.exists()
    assert "at most 300 characters (it has 301)" in answer.content.decode()


def test_resuming_lets_it_go_on(otto: Client, demo: Cluster) -> None:
    """Resuming twice writes one event."""
    otto.post("/clusters/demo/pause/", {"act": "pause", "reason": "look"})
    for _ in range(2):
        otto.post("/clusters/demo/pause/", {"act": "resume"})
    assert not Pause.objects.exists()
    assert AuditEvent.objects.filter(verb="cluster.resume").count() == 1


def test_an_auditor_may_look_and_not_pause(audrey: Client, demo: Cluster) -> None:
    """The button is not there, and the address refuses."""
    assert "pause-demo" not in audrey.get(PAGE).content.decode()
    assert audrey.post("/clusters/demo/pause/", {"act": "pause", "reason": "x"}).status_code == 403


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
