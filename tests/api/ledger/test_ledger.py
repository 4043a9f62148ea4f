"""The ledger by REST."""

from datetime import timedelta

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import Site, Tenant
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.ledger.services import book
from tests.api.builders import NOW, blue_pod, decision, red_pod

URL = "/api/v1/ledger"


@pytest.fixture
def booked(cluster: Cluster) -> Cluster:
    """Red lost a pod to a stranger, who lost one to red; each of two cores, for half an hour."""
    for ask, victim in ((blue_pod("canary-ask"), red_pod()), (red_pod("red-ask"), blue_pod())):
        row = decision(cluster, ask=ask, victims=(victim,), first_seen=NOW)
        row.victims.update(evicted_at=NOW, started_at=NOW - timedelta(minutes=30), state="exited")
    book(cluster=cluster)
    return cluster


def test_a_month_is_told_line_by_line(olga: APIClient, booked: Cluster) -> None:
    """Who lost and who gained, exactly."""
    body = olga.get(URL).json()
    assert body["month"] == "2026-01"
    assert len(body["results"]) == 2
    assert body["results"][1] == {
        "cluster": "prod",
        "source": "engine",
        "victim": {"namespace": "red", "queue": "root.red.batch", "redacted": False},
        "preemptor": {"namespace": "canary-ns", "queue": red_or_blue(body), "redacted": False},
        "evicted_pods": 1,
        "pods_with_unknown_work": 0,
        "requests": {"cpu": "2"},
        "lost_work": {"cpu": "3600"},
    }


def red_or_blue(body: dict[str, list[dict[str, dict[str, str]]]]) -> str:
    """The stranger's queue, as the other line has it."""
    return body["results"][0]["victim"]["queue"]


@pytest.mark.parametrize(
    ("told", "queue", "namespace"), [("none", False, False), ("queue", True, False), ("name", True, True)]
)
def test_of_the_other_side_is_told_what_the_site_chooses(
    alice: APIClient, booked: Cluster, told: str, *, queue: bool, namespace: bool
) -> None:
    """Who gained by one's own pods; who lost for one's ask is told by queue at most."""
    Site.objects.update_or_create(defaults={"preemptor": told})
    took = next(one for one in alice.get(URL).json()["results"] if one["victim"]["namespace"] == "red")
    assert (bool(took["preemptor"]["queue"]), bool(took["preemptor"]["namespace"])) == (queue, namespace)
    assert took["preemptor"]["redacted"] is not namespace
    gave = next(one for one in alice.get(URL).json()["results"] if one["preemptor"]["namespace"] == "red")
    assert (bool(gave["victim"]["queue"]), gave["victim"]["namespace"], gave["victim"]["redacted"]) == (queue, "", True)


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ({"month": "2026-01"}, 2),
        ({"month": "2025-12"}, 0),
        ({"cluster": "prod"}, 2),
        ({"queue": "root.red"}, 2),
        ({"queue": "root.green"}, 0),
        ({"tenant": "blues"}, 2),
    ],
)
def test_filters(olga: APIClient, booked: Cluster, query: dict[str, str], lines: int) -> None:
    """All that are given must hold."""
    Tenant.objects.create(name="blues", namespaces=["canary-ns"])
    assert len(olga.get(URL, query).json()["results"]) == lines


@pytest.mark.parametrize(
    "query",
    [
        {"month": "2026-13"},
        {"month": "January"},
        {"month": "0000-01"},
        {"cluster": "nowhere"},
        {"tenant": "nobody's"},
        {"queue": "."},
        {"colour": "red"},
    ],
)
def test_a_value_that_can_not_be_right_is_an_error(olga: APIClient, booked: Cluster, query: dict[str, str]) -> None:
    """At the parameter."""
    response = olga.get(URL, query)
    assert response.status_code == 400
    assert next(iter(query)) in response.content.decode()


def test_a_tenant_does_not_ask_by_tenants(alice: APIClient, booked: Cluster) -> None:
    """One that there is, is as unknown to them as one that there is not."""
    Tenant.objects.create(name="blues", namespaces=["canary-ns"])
    there, not_there = (alice.get(URL, {"tenant": name}) for name in ("blues", "nobody's"))
    assert there.status_code == not_there.status_code == 400
    assert there.json() == not_there.json()
