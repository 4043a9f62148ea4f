"""Settings, pauses and windows by REST."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.clusters.models import Cluster, Pause, Window
from tests.api import builders
from tests.api.conftest import client_of

SETTINGS = "/api/v1/clusters/prod/settings"
WINDOW: dict[str, Any] = {
    "cluster": "prod",
    "queue": "root.red",
    "kind": "allow",
    "weekdays": ["sat", "sun"],
    "begins": "22:00",
    "ends": "06:00",
    "zone": "Europe/Berlin",
    "reason": "batch hours",
}


@pytest.fixture
def admin(cluster: Cluster) -> APIClient:
    return client_of(builders.user("ida", role=User.Role.ADMIN), scopes=["cluster:operate"])


@pytest.fixture
def operator(cluster: Cluster) -> APIClient:
    return client_of(builders.user("otto", role=User.Role.OPERATOR), scopes=["cluster:operate"])


def patch(client: APIClient, match: str = "*", query: str = "reason=calm", **body: Any) -> Any:
    """Change settings."""
    headers = {"If-Match": match} if match else {}
    return client.patch(f"{SETTINGS}?{query}", body, format="json", headers=headers)


def pointers(response: Any) -> list[str | None]:
    """Where the errors of a problem are."""
    return [error.get("pointer") for error in response.json()["errors"]]


def test_what_is_given_is_changed_and_the_rest_stays(admin: APIClient, cluster: Cluster) -> None:
    """With a reason, audited with the token that did it."""
    tag = admin.get(SETTINGS)["ETag"]
    changed = patch(admin, tag, evictions_per_minute=5, protected_namespaces=["billing"])
    assert changed.status_code == 200
    assert changed.json()["evictions_per_minute"] == 5
    assert changed.json()["protected_namespaces"] == ["billing", "kube-system"]
    assert changed.json()["evictions_per_node"] == 20
    assert changed["ETag"] == admin.get(SETTINGS)["ETag"] != tag
    event = AuditEvent.objects.get(verb="cluster.limits")
    assert (event.actor_name, event.reason, event.details["evictions_per_minute"]) == ("ida", "calm", [30, 5])
    assert "token" in event.details


def test_nobody_overwrites_what_they_have_not_read(admin: APIClient, cluster: Cluster) -> None:
    """412 with the tag of now, 428 without a condition; nothing is changed."""
    tag = admin.get(SETTINGS)["ETag"]
    Cluster.objects.update(evictions_per_node=3)
    late = patch(admin, tag, evictions_per_minute=5)
    assert late.status_code == 412
    assert late["ETag"] == admin.get(SETTINGS)["ETag"]
    assert patch(admin, "", evictions_per_minute=5).status_code == 428
    assert Cluster.objects.get().evictions_per_minute == 30


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"evictions_per_minute": -1}, ["/evictions_per_minute"]),
        ({"evictions_per_minute": 10**30}, ["/evictions_per_minute"]),
        ({"evictions_per_minute": None, "room_kept_by": "x"}, ["/evictions_per_minute", "/room_kept_by"]),
        ({"protected_namespaces": "kube-system"}, ["/protected_namespaces"]),
        ({"protected_namespaces": ["a/b"]}, ["/protected_namespaces"]),
        ({"evictions_per_hour": 1}, ["/evictions_per_hour"]),
        ({"mode": "panic"}, ["/mode"]),
    ],
)
def test_what_can_not_be_is_told_at_its_place(
    admin: APIClient, cluster: Cluster, body: dict[str, Any], where: list[str]
) -> None:
    """All of it at once, and nothing is changed."""
    answer = patch(admin, **body)
    assert answer.status_code == 422
    assert pointers(answer) == where
    assert not AuditEvent.objects.filter(verb="cluster.limits").exists()


def test_a_change_that_fails_in_part_changes_nothing(admin: APIClient, cluster: Cluster) -> None:
    """Limits and mode go together: enforce is refused beside a rival, so the limit stays as well."""
    cluster.status.rivals = ["hot"]
    cluster.status.save()
    assert patch(admin, mode="enforce", evictions_per_minute=5).status_code == 422
    assert Cluster.objects.get().evictions_per_minute == 30
    done = patch(admin, query="reason=go&override=prod", mode="enforce", evictions_per_minute=5)
    assert (done.json()["mode"], done.json()["evictions_per_minute"]) == ("enforce", 5)


def test_operators_set_modes_and_no_limits(operator: APIClient, cluster: Cluster) -> None:
    """As on the page."""
    assert patch(operator, mode="advise").status_code == 200
    assert patch(operator, evictions_per_minute=5).status_code == 403


@pytest.mark.parametrize("scopes", [["read"], ["tree:write"], ["cluster:connect"]])
def test_a_token_for_other_things_changes_nothing_here(cluster: Cluster, scopes: list[str]) -> None:
    """CI that publishes trees does not stop clusters."""
    client = client_of(builders.user("ci", role=User.Role.ADMIN), scopes=scopes)
    assert client.get(SETTINGS).status_code == 200
    assert patch(client, evictions_per_minute=5).status_code == 403
    for path in ("pauses", "windows"):
        assert client.post(f"/api/v1/{path}", {}, format="json").status_code == 403


def test_a_pause_is_put_in_listed_and_taken_back(operator: APIClient, cluster: Cluster) -> None:
    """Of a queue, of the cluster, of all."""
    for place in ({"cluster": "prod", "queue": "root.red"}, {"cluster": "prod"}, {"cluster": None}):
        made = operator.post("/api/v1/pauses", {**place, "reason": "incident"}, format="json")
        assert made.status_code == 201
        assert made.json()["by"] == "otto"
    listed = operator.get("/api/v1/pauses").json()["results"]
    assert [(one["cluster"], one["queue"]) for one in listed] == [("prod", "root.red"), ("prod", ""), (None, "")]
    assert [one["interlock"] for one in operator.get("/api/v1/clusters/prod").json()["holds"]] == [
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


def test_a_window_is_put_in_listed_and_taken_back(admin: APIClient, operator: APIClient, cluster: Cluster) -> None:
    """By admins; operators read it."""
    assert operator.post("/api/v1/windows", WINDOW, format="json").status_code == 403
    made = admin.post("/api/v1/windows", WINDOW, format="json")
    assert made.status_code == 201
    (listed,) = operator.get("/api/v1/windows").json()["results"]
    assert listed == made.json()
    assert {name: listed[name] for name in WINDOW} == WINDOW | {"begins": "22:00:00", "ends": "06:00:00"}
    assert admin.delete(f"/api/v1/windows/{listed['id']}").status_code == 400
    assert admin.delete(f"/api/v1/windows/{listed['id']}?reason=over").status_code == 204
    assert not Window.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"zone": "Mars"}, "/zone"),
        ({"weekdays": []}, "/weekdays"),
        ({"weekdays": ["Monday"]}, "/weekdays/0"),
        ({"begins": "25:00"}, "/begins"),
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


def test_only_a_service_can_be_named_as_yunikorns(admin: APIClient, cluster: Cluster) -> None:
    """It becomes a part of the address that the cluster's own credentials are sent to."""
    wrong = patch(admin, yunikorn_service="yunikorn/yunikorn-service:9080/../../secrets")
    assert (wrong.status_code, pointers(wrong)) == (422, ["/yunikorn_service"])
    assert patch(admin, yunikorn_service="yunikorn/yunikorn-service:9080").status_code == 200
    cluster.refresh_from_db()
    assert cluster.yunikorn_service == "yunikorn/yunikorn-service:9080"
