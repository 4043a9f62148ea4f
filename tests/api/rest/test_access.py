"""What a tenant is told, exactly. That nobody is told more than they may see, whatever they ask: tests/grid."""

import pytest
from django.conf import settings
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from tests.api.builders import BLUE, RED, blue_pod, decision, red_pod

PROD = "/api/v1/clusters/prod"


@pytest.fixture
def shared(cluster: Cluster) -> Decision:
    """Blue's ask takes one pod of red and one of its own: Alice sees the decision, but only her part of it."""
    return decision(cluster, ask=blue_pod("canary-ask"), victims=(red_pod(), blue_pod()), pk=1)


def test_teammates_are_told_the_same(alice: APIClient, bob: APIClient, shared: Decision) -> None:
    """What one sees is the tenant's, not one's own."""
    for url in (f"{PROD}/queues", f"{PROD}/decisions", "/api/v1/decisions/1"):
        own, mates = alice.get(url), bob.get(url)
        assert own.status_code == 200
        assert own.content == mates.content


def test_a_victims_owner_learns_the_queue_and_no_more(alice: APIClient, shared: Decision) -> None:
    """Of another tenant's ask only the queue is told; of the victims, one's own."""
    body = alice.get("/api/v1/decisions/1").json()
    told = {name: value for name, value in body["pending_pod"].items() if value is not None}
    assert told == {"redacted": True, "queue": BLUE}
    assert [victim["name"] for victim in body["victims"]] == ["red-pod"]
    assert [(step["pod"], step["message"]) for step in body["steps"]] == [("red/red-pod", "")]
    assert body["safety_checks"] == [{"name": "fits", "passed": True, "calculations": None}]
    assert (body["document"], body["reason_detail"]) == (None, None)
    assert body["sentence"] == body["victims"][0]["sentence"]
    assert "red-pod" in body["sentence"]
    assert "canary" not in str(body)


def test_an_asks_owner_learns_all_of_the_ask(alice: APIClient, cluster: Cluster) -> None:
    """A tenant's own ask is told in full, another tenant's victims are not."""
    decision(cluster, ask=red_pod(), victims=(blue_pod(),), pk=1)
    body = alice.get("/api/v1/decisions/1").json()
    assert (body["pending_pod"]["name"], body["pending_pod"]["redacted"]) == ("red-pod", False)
    assert body["reason_detail"] == "red-pod detail"
    assert body["victims"] == []
    assert body["sentence"].endswith("to make room for red-pod.")
    assert body["url"] == f"{settings.SITE_URL}/clusters/prod/decisions/1/"
    assert "canary" not in str(body)


def test_a_tenants_own_filters_find(alice: APIClient, shared: Decision) -> None:
    """By the names of one's own one finds what is there."""
    for query in ("namespace=red", "application=etl", "queue=root.red"):
        assert len(alice.get(f"{PROD}/decisions?{query}").json()["results"]) == 1, query


def test_tenants_see_their_own_queues(alice: APIClient, shared: Decision) -> None:
    """A tenant's tree holds the tenant's subtree and nothing beside or above it."""
    paths = [row["path"] for row in alice.get(f"{PROD}/queues").json()["results"]]
    assert paths == ["root.red", RED]
