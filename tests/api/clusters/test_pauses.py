"""Pauses by REST."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster, Pause
from tests.api.clusters.conftest import pointers


def test_a_pause_is_put_in_listed_and_taken_back(operator: APIClient, cluster: Cluster) -> None:
    """Of a queue, of the cluster, of all."""
    for place in ({"cluster": "prod", "queue": "root.red"}, {"cluster": "prod"}, {"cluster": None}):
        made = operator.post("/api/v1/pauses", {**place, "reason": "incident"}, format="json")
        assert made.status_code == 201
        assert made.json()["created_by"] == "otto"
    listed = operator.get("/api/v1/pauses").json()["results"]
    assert [(one["cluster"], one["queue"]) for one in listed] == [("prod", "root.red"), ("prod", ""), (None, "")]
    assert [one["safeguard"] for one in operator.get("/api/v1/clusters/prod").json()["active_safeguards"]] == [
        "queue-paused",
        "paused",
        "paused",
    ]
    for one in listed:
        assert operator.delete(f"/api/v1/pauses/{one['id']}?reason=over").status_code == 204
    assert not Pause.objects.exists()


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"cluster": "nowhere", "reason": "x"}, ["/cluster"]),
        ({"cluster": "prod", "queue": "root.nowhere", "reason": "x"}, ["/queue"]),
        ({"cluster": "prod", "reason": ""}, ["/reason"]),
        ({"cluster": "prod", "reason": "x", "until": "2001-01-01T00:00:00Z"}, ["/until"]),
        ({"reason": "x"}, ["/cluster"]),
        ([], [""]),
    ],
)
def test_a_pause_that_could_not_be_is_refused(
    operator: APIClient, cluster: Cluster, body: Any, where: list[str]
) -> None:
    """All clusters are only ever meant by saying null."""
    answer = operator.post("/api/v1/pauses", body, format="json")
    assert (answer.status_code, pointers(answer)) == (422, where)
    assert not Pause.objects.exists()
