"""Comparisons by the REST API."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.comparisons import runs
from scheduler_admin.comparisons.models import Comparison
from tests.api.conftest import client_of

pytestmark = pytest.mark.django_db
ALL = "/api/v1/clusters/east/comparisons"
TIMES = {"since": "2026-01-01T12:00:00Z", "until": "2026-01-01T12:02:00Z"}


@pytest.fixture(autouse=True)
def _plain(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = False


@pytest.fixture
def ci(cluster: Cluster, admin: User) -> APIClient:
    return client_of(admin, scopes=["tree:plan"])


def begin(client: APIClient, **more: Any) -> Any:
    sides = [{"tree": "current"}, {"tree": "revision:1", "policy": "priority"}]
    return client.post(ALL, {**TIMES, "sides": sides, **more}, format="json")


def test_one_is_begun_followed_and_read(ci: APIClient) -> None:
    """The first dialect is meant where none is named."""
    made = begin(ci)
    assert made.status_code == 201
    told = made.json()
    assert (told["state"], told["created_by"], told["sides"][1]["dialect"]) == ("waiting", "ada", "kube-scheduler")
    one = f"{ALL}/{told['id']}"
    assert ci.get(one).json()["result"] is None
    runs.run(pk=told["id"])
    found = ci.get(one)
    assert found.json()["result"]["record"]["preempted_pods"] == 0
    assert [side["preempted_pods"] for side in found.json()["result"]["sides"]] == [1, 0]
    assert ci.get(one, headers={"If-None-Match": found["ETag"]}).status_code == 304
    assert [row["id"] for row in ci.get(ALL).json()["results"]] == [told["id"]]


def test_one_is_stopped(ci: APIClient) -> None:
    """Twice is once."""
    one = begin(ci).json()["id"]
    for _ in range(2):
        assert ci.post(f"{ALL}/{one}/stop").json()["state"] == "stopped"


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"sides": []}, "/sides"),
        ({"sides": [{"tree": "draft:9"}]}, "/sides"),
        ({"sides": [{"policy": "later"}]}, "/sides"),
        ({"since": "noon"}, "/since"),
        ({"until": "2030-01-01T00:00:00Z"}, "/until"),
        ({"speed": 2}, "/speed"),
    ],
)
def test_what_is_wrong_is_told_at_its_place(ci: APIClient, more: dict[str, Any], pointer: str) -> None:
    """And nothing is begun."""
    refused = begin(ci, **more)
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json()["errors"]] == [pointer]
    assert not Comparison.objects.exists()


def test_a_token_that_only_reads_begins_and_stops_nothing(ci: APIClient, admin: User) -> None:
    """It reads."""
    reader = client_of(admin)
    one = begin(ci).json()["id"]
    assert reader.get(f"{ALL}/{one}").status_code == 200
    assert begin(reader).status_code == 403
    assert reader.post(f"{ALL}/{one}/stop").status_code == 403
