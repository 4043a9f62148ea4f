"""The pods that decisions are about, by REST: found as on My pods."""

from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster
from tests.api.builders import NOW, blue_pod, cluster, decision, red_pod
from tests.api.rest.test_openapi import check
from tests.api.sending import errors

PODS = "/api/v1/pods"


def names(client: APIClient, **query: Any) -> list[str]:
    """Of all pages."""
    found, url = [], PODS
    while url:
        page = client.get(url, query if url is PODS else None).json()
        found += [row["name"] for row in page["results"]]
        url = page["next"]
    return found


@pytest.fixture
def decided(cluster: Cluster) -> Cluster:
    """Blue's ask took a pod of red, then one of red's asked in vain."""
    decision(cluster, ask=blue_pod("canary-ask"), victims=(red_pod("etl-1"), blue_pod("canary-pod")))
    decision(cluster, ask=red_pod("train-1"), first_seen=NOW - timedelta(minutes=1))
    return cluster


def test_a_tenant_finds_its_own_pods_newest_first(alice: APIClient, decided: Cluster) -> None:
    """As victims and as asks, and no word of others'."""
    response = alice.get(PODS)
    check(response, "/api/v1/pods", "get")
    told = [(row["name"], row["pending"], row["cluster"], row["queue"]) for row in response.json()["results"]]
    assert told == [("train-1", True, "prod", "root.red.batch"), ("etl-1", False, "prod", "root.red.batch")]
    assert all(row["label"] and row["reason_label"] for row in response.json()["results"])
    assert "canary" not in response.content.decode()


def test_pods_are_searched(olga: APIClient, decided: Cluster) -> None:
    """By name, owner, namespace; by what became of them; all that is given must hold."""
    assert set(names(olga)) == {"train-1", "etl-1", "canary-ask", "canary-pod"}
    assert names(olga, q="etl-") == ["etl-1"]
    assert names(olga, q="red/tr") == ["train-1"]
    assert names(olga, show="pending", namespace="red") == ["train-1"]
    assert names(olga, show="preempted", namespace="red") == ["etl-1"]
    assert names(olga, q="nothing") == []


def test_pages_are_followed(olga: APIClient, decided: Cluster) -> None:
    """In all clusters; each once, though another decision comes in between."""
    everything = names(olga)
    first = olga.get(PODS, {"limit": 2}).json()
    decision(cluster("other"), ask=red_pod("late"), first_seen=NOW)
    second = olga.get(first["next"]).json()
    assert [row["name"] for page in (first, second) for row in page["results"]] == everything
    assert names(olga)[0] == "late"


@pytest.mark.parametrize("query", [{"show": "all"}, {"cursor": "2026_x_y"}, {"namespace": "No"}, {"limit": "0"}])
def test_what_can_not_be_is_an_error_at_its_parameter(olga: APIClient, query: dict[str, str], db: None) -> None:
    """It is never ignored."""
    assert errors(olga.get(PODS, query)) == [{"parameter": next(iter(query))}]
