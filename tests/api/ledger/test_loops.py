"""Loops of preemptions are told by REST: to whom a member is, of others no more than the site tells."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import Site
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.clusters.models import Cluster
from tests.api import builders
from tests.api.builders import BLUE, RED, blue_pod, red_pod
from tests.api.conftest import client_of
from tests.api.following import by_now
from tests.ledger.loops import member, turning

pytestmark = pytest.mark.django_db
VICTIMS = "/api/v1/clusters/prod/repeat-victims"
C, D = map(member, "cd")


@pytest.fixture
def carl(db: None) -> APIClient:
    """Of a tenant that sees the cluster, and has no pods in any loop."""
    return client_of(builders.user("carl", create_tenant(name="e", namespaces=["e-ns"], subtrees=["root.red"])))


def looped(client: APIClient) -> list[Any]:
    """The loops that are streamed."""
    return [one.body for one in by_now(client) if one.kind == "preemption-loop"]


def listed(client: APIClient) -> list[Any]:
    """Those that are listed."""
    found: list[Any] = client.get(VICTIMS).json()["loops"]
    return found


def as_listed(told: Any) -> Any:
    """A loop that is streamed, in the words of the list."""
    members = [
        {
            "queue": one["queue"],
            "namespace": one["namespace"],
            "application": one["application"],
            "preemptions": one["preemptions"],
            "last_decision_id": one["last_decision_id"],
        }
        for one in told["members"]
    ]
    return {"detected_at": "2026-01-05T12:00:00Z", "cycle": told["cycle"], "members": members}


def test_who_sees_everything_reads_it_whole(olga: APIClient, cluster: Cluster) -> None:
    """In the stream, and in the list, which says the same."""
    turning(cluster, red_pod(), blue_pod())
    (told,) = looped(olga)
    assert told["cycle"] == f"{BLUE} → {RED} → {BLUE}"
    blue, red = told["members"]
    assert {**red, "last_decision_id": None} == {
        "queue": RED,
        "namespace": "red",
        "application": "etl",
        "preemptions": 2,
        "last_decision_id": None,
    }
    assert olga.get(f"/api/v1/decisions/{red['last_decision_id']}").json()["pending_pod"]["queue"] == BLUE
    assert (blue["namespace"], blue["application"]) == ("canary-ns", "canary-app")
    (row,) = listed(olga)
    assert row == as_listed(told)


def test_a_member_learns_the_queue_of_the_other_side_and_no_name(
    alice: APIClient, bob: APIClient, carl: APIClient, cluster: Cluster
) -> None:
    """Who is in no part of it learns nothing."""
    turning(cluster, red_pod(), blue_pod())
    for who in (alice, bob):
        (told,) = looped(who)
        blue, red = told["members"]
        assert (red["application"], red["preemptions"]) == ("etl", 2)
        assert {**blue, "last_decision_id": 0} == {
            "queue": BLUE,
            "namespace": None,
            "application": None,
            "preemptions": 2,
            "last_decision_id": 0,
        }
        assert who.get(f"/api/v1/decisions/{blue['last_decision_id']}").status_code == 200
        assert listed(who) == [as_listed(told)]
        assert "canary" not in str((told, listed(who)))
    assert looped(carl) == listed(carl) == []


def test_what_the_site_does_not_tell_is_left_out(alice: APIClient, cluster: Cluster) -> None:
    """There is somebody, who is not named."""
    Site.objects.create(preemptor=Site.Preemptor.NONE)
    turning(cluster, red_pod(), blue_pod())
    (told,) = looped(alice)
    assert told["cycle"] == f"… → {RED} → …"
    assert BLUE not in str((told, listed(alice)))


def test_strangers_further_round_are_not_told(alice: APIClient, cluster: Cluster) -> None:
    """Of a loop of four one learns who took from one's own and who gave way to it, not who they took from."""
    turning(cluster, red_pod(), blue_pod(), C, D)
    (told,) = looped(alice)
    assert told["cycle"] == f"{BLUE} → … → root.d → {RED} → {BLUE}"
    blue, hidden, gave, _own = told["members"]
    assert hidden == {
        "queue": None,
        "namespace": None,
        "application": None,
        "preemptions": None,
        "last_decision_id": None,
    }
    assert (blue["preemptions"], blue["last_decision_id"], gave["preemptions"]) == (None, None, 2)
    assert alice.get(f"/api/v1/decisions/{gave['last_decision_id']}").status_code == 200
