"""Priority classes by REST."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rest_framework.test import APIClient

from engine.model.objects import ClassQuota, ClassRule
from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from tests.api import builders
from tests.api.conftest import client_of
from tests.cluster.doubles import Simulated, simulate
from tests.priority_classes.builders import edit, put, reach, shown, there

CLASSES = "/api/v1/clusters/prod/priority-classes"
BATCH = f"{CLASSES}/batch"
KEEP = "yunikorn.apache.org/allow-preemption"


@pytest.fixture
def theirs() -> Iterator[Simulated]:
    with simulate() as simulated:
        yield simulated


@pytest.fixture(autouse=True)
def prod(cluster: Cluster, theirs: Simulated, tmp_path: Path) -> Cluster:
    put(theirs, "batch", 100, labels={"a": "1"}, annotations={"note": "x"}, preemptionPolicy="Never")
    reach(cluster, theirs, tmp_path)
    return cluster


@pytest.fixture
def admin(cluster: Cluster) -> APIClient:
    return client_of(builders.user("ida", role=User.Role.ADMIN), scopes=["cluster:classes"])


def post(client: APIClient, query: str = "reason=calm", **body: Any) -> Any:
    return client.post(f"{CLASSES}?{query}", body, format="json")


def patch(client: APIClient, match: str, query: str = "reason=calm", **body: Any) -> Any:
    headers = {"If-Match": match} if match else {}
    return client.patch(f"{BATCH}?{query}", body, format="json", headers=headers)


def delete(client: APIClient, match: str, query: str = "reason=calm") -> Any:
    return client.delete(f"{BATCH}?{query}", headers={"If-Match": match} if match else {})


def pointers(response: Any) -> list[str | None]:
    """Where the errors of a problem are."""
    return [error.get("pointer") for error in response.json()["errors"]]


def test_all_are_listed_with_who_has_them(admin: APIClient, prod: Cluster) -> None:
    place = {"namespace": "red", "queue": "root.red.batch", "running_pods": 3, "pending_pods": 1}
    use = {"running_pods": 3, "pending_pods": 1, "places": [place], "omitted_places": 0}
    stored_place = {"namespace": "red", "queue": "root.red.batch", "running": 3, "waiting": 1}
    stored = {"running": 3, "waiting": 1, "places": [stored_place], "more": 0}
    quota = ClassQuota(namespace="red", name="q", rules=(ClassRule("In", ("batch",)),), hard={"pods": "5"})
    ClusterStatus.objects.update(
        class_use={"batch": stored, "old": stored}, class_quotas=[msgspec.to_builtins(quota)], rivals=["batch"]
    )
    found = admin.get(CLASSES).json()
    assert [one["name"] for one in found["results"]] == ["system-node-critical", "system-cluster-critical", "batch"]
    batch = found["results"][-1]
    assert (batch["value"], batch["preemption_policy"], batch["kube_scheduler_preempts"]) == (100, "Never", True)
    assert (batch["labels"], batch["annotations"], batch["usage"]) == ({"a": "1"}, {"note": "x"}, use)
    assert (batch["allow_preemption"], batch["may_preempt"], batch["global_default"]) == (True, False, False)
    assert found["deleted_classes"] == {"old": use}
    assert found["resource_quotas"] == [
        {
            "namespace": "red",
            "name": "q",
            "rules": [{"operator": "In", "priority_classes": ["batch"]}],
            "scopes": [],
            "hard": {"pods": "5"},
            "used": {},
        }
    ]
    one = admin.get(BATCH)
    assert one.json() == batch
    assert one["ETag"]


def test_what_is_not_there_is_not_found(admin: APIClient, prod: Cluster) -> None:
    """A class, or all of them where the cluster was not read yet."""
    assert admin.get(f"{CLASSES}/none").status_code == 404
    ClusterStatus.objects.update(classes=None)
    assert admin.get(CLASSES).status_code == 404


def test_one_is_made(admin: APIClient, prod: Cluster, theirs: Simulated) -> None:
    """With what it leaves out as it usually is; audited with the token."""
    made = post(admin, name="high", value=1000, allow_preemption=False, labels={"b": "2"})
    assert made.status_code == 201, made.json()
    assert made["ETag"] == admin.get(f"{CLASSES}/high")["ETag"]
    assert made.json()["annotations"] == {KEEP: "false"}
    found = there(theirs, "high")
    assert found is not None
    assert (found.value, found.labels, found.never_preempts, found.opted_out) == (1000, {"b": "2"}, False, True)
    event = AuditEvent.objects.get(verb="class.create")
    assert (event.actor_name, event.reason, "token" in event.details) == ("ida", "calm", True)


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, ["/name", "/value"]),
        ({"name": "High", "value": 2**31}, ["/name", "/value"]),
        ({"name": "system-high", "value": 1}, ["/name"]),
        ({"name": "batch", "value": 1}, ["/name"]),
        ({"name": "high", "value": "much"}, ["/value"]),
        ({"name": "high", "value": 10**40}, ["/value"]),
        ({"name": "high", "value": 1, "preemption_policy": "Sometimes"}, ["/preemption_policy"]),
        ({"name": "high", "value": 1, "labels": {"-": "x"}}, ["/labels"]),
        ({"name": "high", "value": 1, "labels": ["x"]}, ["/labels"]),
        ({"name": "high", "value": 1, "annotations": {"a": None}}, ["/annotations/a"]),
        ({"name": "high", "value": 1, "description": "\0"}, ["/description"]),
        ({"name": "high", "value": 1, "color": "red"}, ["/color"]),
    ],
)
def test_what_can_not_be_is_refused_with_its_place(
    admin: APIClient, prod: Cluster, body: dict[str, Any], where: list[str]
) -> None:
    """422, and nothing is made."""
    answer = post(admin, **body)
    assert answer.status_code == 422
    assert pointers(answer) == where
    assert shown(prod) == ["batch"]


def test_a_change_merges_labels_and_annotations(admin: APIClient, theirs: Simulated) -> None:
    """Null takes one away; the switches are annotations."""
    tag = admin.get(BATCH)["ETag"]
    body = {"labels": {"a": None, "b": "2"}, "annotations": {"more": "y"}, "may_preempt": True, "description": "new"}
    changed = patch(admin, tag, **body)
    assert changed.status_code == 200, changed.json()
    assert changed["ETag"] not in ("", tag)
    found = there(theirs, "batch")
    assert found is not None
    assert (found.labels, found.description, found.may_preempt) == ({"b": "2"}, "new", True)
    assert found.annotations == {"note": "x", "more": "y", "scheduler-admin.io/may-preempt": "true"}
    by_hand = patch(admin, changed["ETag"], annotations={KEEP: "false"})
    assert by_hand.json()["allow_preemption"] is False


@pytest.mark.parametrize("member", ["name", "value", "preemption_policy"])
def test_what_is_fixed_for_life_is_no_member_of_a_change(admin: APIClient, member: str) -> None:
    assert pointers(patch(admin, "*", **{member: 5})) == [f"/{member}"]


def test_nobody_overwrites_what_they_have_not_read(admin: APIClient, theirs: Simulated) -> None:
    """428 without a condition, 412 with the tag of now: also where nobody here knew yet."""
    tag = admin.get(BATCH)["ETag"]
    for write in (patch, delete):
        assert write(admin, "").status_code == 428
        assert write(admin, '"old"').status_code == 412
    edit(theirs, "batch", description="theirs")
    late = patch(admin, tag, description="ours")
    assert late.status_code == 412
    assert late["ETag"] == admin.get(BATCH)["ETag"] != tag
    assert admin.get(BATCH).json()["description"] == "theirs"
    assert not AuditEvent.objects.filter(verb__startswith="class.").exists()


def test_one_is_deleted(admin: APIClient, prod: Cluster, theirs: Simulated) -> None:
    assert delete(admin, admin.get(BATCH)["ETag"]).status_code == 204
    assert (there(theirs, "batch"), shown(prod)) == (None, [])
    assert admin.get(BATCH).status_code == 404


def test_one_that_was_deleted_meanwhile_is_overtaken(admin: APIClient, theirs: Simulated) -> None:
    tag = admin.get(BATCH)["ETag"]
    theirs.call(theirs.store.delete, "priorityclasses.scheduling.k8s.io", None, "batch")
    assert delete(admin, tag).status_code == 412
    assert admin.get(BATCH).status_code == 404


def test_the_default_is_somebody_elses_already(admin: APIClient) -> None:
    assert post(admin, name="usual", value=5, global_default=True).status_code == 201
    refused = patch(admin, admin.get(BATCH)["ETag"], global_default=True)
    assert (refused.status_code, pointers(refused)) == (422, ["/global_default"])
    assert "usual is already the default" in refused.json()["errors"][0]["detail"]


def test_a_write_says_why(admin: APIClient) -> None:
    assert post(admin, query="", name="high", value=1).status_code == 400
    blank = post(admin, query="reason=%20", name="high", value=1)
    assert blank.status_code == 400


@pytest.mark.parametrize("scope", ["read", "tree:write", "cluster:operate", "cluster:connect"])
def test_a_token_for_something_else_writes_none(prod: Cluster, scope: str) -> None:
    """It is told what it takes."""
    client = client_of(builders.user("ann", role=User.Role.ADMIN), scopes=[scope])
    refused = post(client, name="high", value=1)
    assert refused.status_code == 403
    assert 'scope="cluster:classes"' in refused["WWW-Authenticate"]


def test_an_operator_writes_none(prod: Cluster) -> None:
    client = client_of(builders.user("olaf", role=User.Role.OPERATOR), scopes=["cluster:classes"])
    assert post(client, name="high", value=1).status_code == 403
    assert delete(client, "*").status_code == 403


def test_what_the_cluster_says_is_a_problem(admin: APIClient, theirs: Simulated) -> None:
    put(theirs, "high")
    refused = post(admin, name="high", value=1)
    assert refused.status_code == 422
    assert "already exists" in refused.json()["errors"][0]["detail"]
