"""Windows by REST."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster, Window
from tests.api.clusters.conftest import pointers

WINDOW: dict[str, Any] = {
    "cluster": "prod",
    "queue": "root.red",
    "kind": "allow",
    "weekdays": ["sat", "sun"],
    "start_time": "22:00",
    "end_time": "06:00",
    "time_zone": "Europe/Berlin",
    "reason": "batch hours",
}


def test_a_window_is_put_in_listed_and_taken_back(admin: APIClient, operator: APIClient, cluster: Cluster) -> None:
    """By admins; operators read it."""
    assert operator.post("/api/v1/windows", WINDOW, format="json").status_code == 403
    made = admin.post("/api/v1/windows", WINDOW, format="json")
    assert made.status_code == 201
    (listed,) = operator.get("/api/v1/windows").json()["results"]
    assert listed == made.json()
    assert {name: listed[name] for name in WINDOW} == WINDOW | {"start_time": "22:00:00", "end_time": "06:00:00"}
    assert admin.delete(f"/api/v1/windows/{listed['id']}").status_code == 400
    assert admin.delete(f"/api/v1/windows/{listed['id']}?reason=over").status_code == 204
    assert not Window.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"time_zone": "Mars"}, "/time_zone"),
        ({"weekdays": []}, "/weekdays"),
        ({"weekdays": ["Monday"]}, "/weekdays/0"),
        ({"start_time": "25:00"}, "/start_time"),
        ({"first_day": "2026-02-02", "last_day": "2026-02-01"}, "/last_day"),
        ({"queue": "root.nowhere"}, "/queue"),
    ],
)
def test_a_window_that_could_not_be_is_refused(
    admin: APIClient, cluster: Cluster, wrong: dict[str, Any], where: str
) -> None:
    """At its place."""
    answer = admin.post("/api/v1/windows", {**WINDOW, **wrong}, format="json")
    assert (answer.status_code, pointers(answer)) == (422, [where])
    assert not Window.objects.exists()
