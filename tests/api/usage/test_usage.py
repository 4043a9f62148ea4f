"""Usage over time."""

from datetime import timedelta

import pytest
from rest_framework.test import APIClient

from engine.model.quantities import DOMINANT
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.usage.models import Usage, UsageSample
from scheduler_admin.usage.runs import Amount, Now, pack, run_of
from tests.api.builders import BLUE, NOW, RED, usage

URL = "/api/v1/clusters/prod/usage"


def test_usage_is_one_series_over_its_hours(olga: APIClient, cluster: Cluster) -> None:
    """Samples of adjoining hours come as one series, since inclusive, until exclusive, with the limits of then."""
    usage(cluster, RED, hour=NOW - timedelta(hours=2), cpu=[1000, 1500, 2000])
    usage(cluster, RED, hour=NOW - timedelta(hours=1), cpu=[2500, 3000])
    query = {"queue": RED, "resource": "cpu", "since": "2026-01-05T10:10:00Z", "until": "2026-01-05T11:10:00Z"}
    body = olga.get(URL, query).json()
    assert [sample["used"] for sample in body["samples"]] == ["1500m", "2", "2500m"]
    assert body["samples"][0] == {
        "started_at": "2026-01-05T10:10:00Z",
        "used": "1500m",
        "peak_used": "1500m",
        "guaranteed": "4",
        "max": None,
        "deserved": None,
        "pending_pods": 0,
    }
    assert (body["since"], body["until"], body["step_seconds"]) == (query["since"], query["until"], 10)


def test_without_times_it_is_the_last_hour(olga: APIClient, cluster: Cluster) -> None:
    """since and until default to the hour before now."""
    usage(cluster, RED, hour=NOW - timedelta(hours=1), cpu=[1000])
    body = olga.get(URL, {"queue": RED, "resource": "cpu"}).json()
    assert (body["since"], body["until"]) == ("2026-01-05T11:00:00Z", "2026-01-05T12:00:00Z")
    assert len(body["samples"]) == 1


def test_a_long_time_is_told_by_means_and_the_highest(olga: APIClient, cluster: Cluster) -> None:
    """Six hours in steps of half a minute, of which each says what it is; no peak is lost."""
    usage(cluster, RED, hour=NOW - timedelta(hours=1), cpu=[1000], every_s=10)
    said = [
        (int(NOW.timestamp()) - 3000 + 10 * n, Now(n, {"cpu": Amount(amount)})) for n, amount in enumerate([0, 9, 3])
    ]
    block = {"start": NOW - timedelta(minutes=50), "document": pack(run_of(said))}
    Usage.objects.create(cluster=cluster, queue=RED, step=10, **block)
    query = {"queue": RED, "resource": "cpu", "since": "2026-01-05T06:00:00Z", "until": "2026-01-05T12:00:00Z"}
    body = olga.get(URL, query).json()
    assert body["step_seconds"] == 30
    last = body["samples"][-1]
    assert (last["started_at"], last["used"], last["peak_used"], last["pending_pods"]) == (
        "2026-01-05T11:10:00Z",
        "4m",
        "9m",
        2,
    )


def test_the_dominant_share_is_a_part_of_one(olga: APIClient, cluster: Cluster) -> None:
    """Told like a resource, exactly to the millionth."""
    UsageSample.objects.create(
        cluster=cluster,
        at=NOW - timedelta(minutes=1),
        document=pack({RED: Now(0, {DOMINANT: Amount(250_000, 400_000)})}),
    )
    (sample,) = olga.get(URL, {"queue": RED, "resource": "dominant-share"}).json()["samples"]
    assert (sample["used"], sample["guaranteed"], sample["max"]) == ("0.250000", "0.400000", None)


def test_a_resource_that_was_never_sampled_is_a_gap(olga: APIClient, cluster: Cluster) -> None:
    """What nobody measured has no samples rather than zeros."""
    usage(cluster, RED, hour=NOW - timedelta(hours=1), cpu=[1000])
    assert olga.get(URL, {"queue": RED, "resource": "memory"}).json()["samples"] == []


@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        ({}, ["queue", "resource"]),
        ({"queue": RED}, ["resource"]),
        ({"queue": "root.none", "resource": "cpu"}, ["queue"]),
        ({"queue": RED, "resource": "cpu", "since": "2023-01-01T00:00:00Z"}, ["since"]),
        (
            {"queue": RED, "resource": "cpu", "until": "2026-01-01T00:00:00Z", "since": "2026-01-02T00:00:00Z"},
            ["until"],
        ),
    ],
)
def test_wrong_parameters_are_named(
    olga: APIClient, cluster: Cluster, query: dict[str, str], parameters: list[str]
) -> None:
    """A queue and a resource are needed, and a range that is not too long."""
    response = olga.get(URL, query)
    assert response.status_code == 400
    assert [error["parameter"] for error in response.json()["errors"]] == parameters


def test_another_tenants_usage_is_as_if_it_were_not(alice: APIClient, cluster: Cluster) -> None:
    """A tenant that asks for another's queue learns no more than for one that doesn't exist."""
    usage(cluster, BLUE, hour=NOW - timedelta(hours=1), cpu=[1000])
    theirs = alice.get(URL, {"queue": BLUE, "resource": "cpu"})
    nobodys = alice.get(URL, {"queue": "root.none", "resource": "cpu"})
    assert (theirs.status_code, theirs.json()) == (400, nobodys.json())
