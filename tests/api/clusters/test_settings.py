"""Settings of a cluster by REST."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.clusters.models import Cluster
from tests.api import builders
from tests.api.clusters.conftest import pointers
from tests.api.conftest import client_of

SETTINGS = "/api/v1/clusters/prod/settings"


def patch(client: APIClient, match: str = "*", query: str = "reason=calm", **body: Any) -> Any:
    """Change settings."""
    headers = {"If-Match": match} if match else {}
    return client.patch(f"{SETTINGS}?{query}", body, format="json", headers=headers)


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
        ({"evictions_per_minute": None, "reservation_method": "x"}, ["/evictions_per_minute", "/reservation_method"]),
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


def test_what_kube_scheduler_schedules_can_be_set(admin: APIClient, cluster: Cluster) -> None:
    """For a cluster that does not show it."""
    assert patch(admin, group_scheduling="on").json()["group_scheduling"] == "on"
    wrong = patch(admin, group_scheduling="sometimes")
    assert (wrong.status_code, pointers(wrong)) == (422, ["/group_scheduling"])


def test_only_a_service_can_be_named_as_yunikorns(admin: APIClient, cluster: Cluster) -> None:
    """It becomes a part of the address that the cluster's own credentials are sent to."""
    wrong = patch(admin, yunikorn_service="yunikorn/yunikorn-service:9080/../../secrets")
    assert (wrong.status_code, pointers(wrong)) == (422, ["/yunikorn_service"])
    assert patch(admin, yunikorn_service="yunikorn/yunikorn-service:9080").status_code == 200
    cluster.refresh_from_db()
    assert cluster.yunikorn_service == "yunikorn/yunikorn-service:9080"
