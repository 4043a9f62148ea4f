"""Lists say in a sentence what the pages say: of decisions, of victims, of pending pods."""

from typing import Any

import pytest

from scheduler_admin.clusters.models import Cluster
from tests.api.builders import blue_pod, decision, red_pod


@pytest.fixture
def told(cluster: Cluster) -> None:
    """A decision for another tenant's pod, which takes one of each; and one that takes nothing."""
    decision(cluster, ask=blue_pod("canary-ask"), victims=(red_pod(), blue_pod("canary-2")))
    decision(cluster, ask=red_pod("waits"))


@pytest.mark.parametrize("who", ["olga", "alice"])
def test_a_list_says_of_each_decision_what_its_own_address_says(
    told: None, request: pytest.FixtureRequest, who: str
) -> None:
    """As much of it as the reader may know, with the page that has more."""
    client = request.getfixturevalue(who)
    rows = client.get("/api/v1/clusters/prod/decisions").json()["results"]
    whole = [client.get(f"/api/v1/decisions/{row['id']}").json() for row in rows]
    assert [row["sentence"] for row in rows] == [one["sentence"] for one in whole]
    assert all(row["sentence"] and row["url"] for row in rows)
    assert len(rows) == 2
    assert who == "olga" or "canary" not in str(rows)


@pytest.mark.parametrize("who", ["olga", "alice"])
def test_a_list_says_of_each_victim_why_it_went(told: None, request: pytest.FixtureRequest, who: str) -> None:
    """In the words of its decision."""
    client = request.getfixturevalue(who)
    rows: list[dict[str, Any]] = client.get("/api/v1/victims").json()["results"]
    assert red_pod().name in [row["name"] for row in rows]
    for row in rows:
        of_decision = client.get(f"/api/v1/decisions/{row['decision_id']}").json()["victims"]
        assert row["sentence"] in [victim["sentence"] for victim in of_decision if victim["uid"] == row["uid"]]
        assert row["url"].startswith("http")
    assert who == "olga" or "canary" not in str(rows)
