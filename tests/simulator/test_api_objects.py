"""Reading and writing objects with the official client."""

from datetime import UTC, datetime
from typing import Any

import pytest
import urllib3
from kubernetes import client
from simulated_api import Running, body, make_running, pod, serve

from engine.simulator.store import Store


def test_pod_lives_through_create_read_replace_and_delete(core: client.CoreV1Api) -> None:
    """A pod can be created, read, listed, relabelled and deleted, and is not found afterwards."""
    created = core.create_namespaced_pod("default", pod("a"))
    assert created.metadata.uid
    created.metadata.labels["tier"] = "front"
    replaced = core.replace_namespaced_pod("a", "default", created)
    assert int(replaced.metadata.resource_version) > int(created.metadata.resource_version)
    assert core.read_namespaced_pod("a", "default").metadata.labels == {"app": "web", "tier": "front"}
    assert [item.metadata.name for item in core.list_pod_for_all_namespaces().items] == ["a"]
    core.delete_namespaced_pod("a", "default")
    with pytest.raises(client.ApiException) as refused:
        core.read_namespaced_pod("a", "default")
    assert (refused.value.status, body(refused.value)["message"]) == (404, 'pods "a" not found')


def test_stale_version_conflicts(core: client.CoreV1Api) -> None:
    """Replacing an object by a version that was overtaken answers 409 in the API's words and changes nothing."""
    stale = core.create_namespaced_pod("default", pod("a"))
    core.patch_namespaced_pod("a", "default", {"metadata": {"labels": {"app": "new"}}})
    with pytest.raises(client.ApiException) as refused:
        core.replace_namespaced_pod("a", "default", stale)
    assert body(refused.value)["reason"] == "Conflict"
    assert body(refused.value)["message"] == (
        'Operation cannot be fulfilled on pods "a": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    assert core.read_namespaced_pod("a", "default").metadata.labels == {"app": "new"}


def test_second_object_of_a_name_already_exists(core: client.CoreV1Api) -> None:
    """Creating an object twice answers 409 AlreadyExists."""
    core.create_namespaced_pod("default", pod("a"))
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod("default", pod("a"))
    assert (body(refused.value)["reason"], body(refused.value)["message"]) == (
        "AlreadyExists",
        'pods "a" already exists',
    )


def test_missing_namespace_is_not_found(core: client.CoreV1Api) -> None:
    """An object can't be created in a namespace that does not exist."""
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod("nowhere", pod("a"))
    assert body(refused.value)["message"] == 'namespaces "nowhere" not found'


def test_bad_name_is_invalid(core: client.CoreV1Api) -> None:
    """A name that is no DNS name answers 422 and names the field."""
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod("default", pod("Not_A_Name"))
    assert refused.value.status == 422
    assert body(refused.value)["details"]["causes"][0]["field"] == "metadata.name"


def test_generated_names_differ_and_are_reproducible(core: client.CoreV1Api, server: Running) -> None:
    """generateName gives each object a name of its own, the same ones again from the same seed."""
    manifest = pod("")
    manifest["metadata"] = {"generateName": "a-"}
    names = [core.create_namespaced_pod("default", manifest).metadata.name for _ in range(3)]
    assert len(set(names)) == 3
    again = Store(server.store.now, seed=1)
    assert [again.create("pods", manifest)["metadata"]["name"] for _ in range(3)] == names


def test_dry_run_writes_nothing(core: client.CoreV1Api, server: Running) -> None:
    """Every verb with dryRun=All answers as if it had been done, and leaves the store at its version."""
    core.create_namespaced_pod("default", pod("a"))
    version = server.store.resource_version
    assert core.create_namespaced_pod("default", pod("b"), dry_run="All").metadata.uid
    patched = core.patch_namespaced_pod("a", "default", {"metadata": {"labels": {"x": "y"}}}, dry_run="All")
    assert patched.metadata.labels["x"] == "y"
    core.delete_namespaced_pod("a", "default", dry_run="All")
    assert server.store.resource_version == version
    assert all(record.dry_run for record in server.writes()[1:])


def test_no_change_keeps_the_version(core: client.CoreV1Api, server: Running) -> None:
    """A patch that changes nothing gives no new resource version."""
    before = core.create_namespaced_pod("default", pod("a"))
    after = core.patch_namespaced_pod("a", "default", {"metadata": {"labels": {"app": "web"}}})
    assert after.metadata.resource_version == before.metadata.resource_version


def test_generation_counts_specifications_only(server: Running) -> None:
    """metadata.generation moves when the specification changes, not with labels or status."""
    apps = client.AppsV1Api(server.api())
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod("x")["spec"]}
    manifest = {
        "metadata": {"name": "r"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    assert apps.create_namespaced_replica_set("default", manifest).metadata.generation == 1
    apps.patch_namespaced_replica_set("r", "default", {"metadata": {"labels": {"x": "y"}}})
    apps.patch_namespaced_replica_set_status("r", "default", {"status": {"replicas": 7}})
    found = apps.patch_namespaced_replica_set_scale("r", "default", {"spec": {"replicas": 3}})
    assert (found.spec.replicas, found.status.replicas) == (3, 7)
    assert apps.read_namespaced_replica_set("r", "default").metadata.generation == 2


def test_status_and_specification_are_written_apart(core: client.CoreV1Api) -> None:
    """The status subresource changes only the status, the resource itself everything but that."""
    core.create_namespaced_pod("default", pod("a"))
    core.patch_namespaced_pod_status("a", "default", {"status": {"phase": "Running"}, "spec": {"priority": 9}})
    core.patch_namespaced_pod("a", "default", {"status": {"phase": "Failed"}})
    found = core.read_namespaced_pod("a", "default")
    assert (found.status.phase, found.spec.priority) == ("Running", 0)


def test_graceful_deletion_waits_for_the_kubelet(core: client.CoreV1Api, server: Running) -> None:
    """A running pod stays with a deletion timestamp for its grace period; only a deletion without grace ends it."""
    core.create_namespaced_pod("default", pod("a"))
    server.call(server.store.mutate, "pods", "default", "a", make_running)
    core.delete_namespaced_pod("a", "default", grace_period_seconds=7)
    found = core.read_namespaced_pod("a", "default")
    assert found.metadata.deletion_timestamp
    assert found.metadata.deletion_grace_period_seconds == 7
    core.delete_namespaced_pod("a", "default", grace_period_seconds=0)
    assert core.list_namespaced_pod("default").items == []


def test_deletion_keeps_to_its_preconditions(core: client.CoreV1Api) -> None:
    """A deletion that means another object of the same name answers 409 and deletes nothing."""
    core.create_namespaced_pod("default", pod("a"))
    options = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid="another"))
    with pytest.raises(client.ApiException) as refused:
        core.delete_namespaced_pod("a", "default", body=options)
    assert refused.value.status == 409
    assert "the UID in the precondition (another) does not match" in body(refused.value)["message"]
    assert core.read_namespaced_pod("a", "default")


def test_finalizer_holds_an_object(core: client.CoreV1Api) -> None:
    """An object with a finalizer is only marked; it goes when the finalizer does."""
    core.create_namespaced_config_map("default", {"metadata": {"name": "c", "finalizers": ["example.com/hold"]}})
    core.delete_namespaced_config_map("c", "default")
    assert core.read_namespaced_config_map("c", "default").metadata.deletion_timestamp
    core.patch_namespaced_config_map("c", "default", [{"op": "remove", "path": "/metadata/finalizers/0"}])
    assert core.list_namespaced_config_map("default").items == []


def test_collection_deletes_what_the_selector_means(core: client.CoreV1Api) -> None:
    """Deleting a collection takes what its selector matches and leaves the rest."""
    for name, label in (("a", "x"), ("b", "y"), ("c", "x")):
        core.create_namespaced_config_map("default", {"metadata": {"name": name, "labels": {"l": label}}})
    core.delete_collection_namespaced_config_map("default", label_selector="l=x")
    assert [item.metadata.name for item in core.list_namespaced_config_map("default").items] == ["b"]


@pytest.mark.parametrize(
    ("policy", "left"), [("Background", []), ("Foreground", []), ("Orphan", ["child"]), (None, [])]
)
def test_dependents_follow_their_owner(core: client.CoreV1Api, policy: str | None, left: list[str]) -> None:
    """Deleting an owner deletes what it owns, unless it is told to orphan it."""
    owner = core.create_namespaced_config_map("default", {"metadata": {"name": "owner"}})
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": owner.metadata.uid,
        "blockOwnerDeletion": True,
    }
    child = {"metadata": {"name": "child", "ownerReferences": [reference]}}
    core.create_namespaced_config_map("default", child)
    core.delete_namespaced_config_map("owner", "default", **({"propagation_policy": policy} if policy else {}))
    found = core.list_namespaced_config_map("default").items
    assert [item.metadata.name for item in found] == left
    assert all(not item.metadata.owner_references for item in found)


def test_namespace_takes_its_contents_along(core: client.CoreV1Api, server: Running) -> None:
    """Deleting a namespace deletes what is in it; while a pod is still stopping, nothing new may come in."""
    core.create_namespace({"metadata": {"name": "n"}})
    core.create_namespaced_pod("n", pod("a"))
    core.create_namespaced_config_map("n", {"metadata": {"name": "c"}})
    server.call(server.store.mutate, "pods", "n", "a", make_running)
    core.delete_namespace("n")
    assert core.read_namespace("n").status.phase == "Terminating"
    assert core.list_namespaced_config_map("n").items == []
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_config_map("n", {"metadata": {"name": "late"}})
    assert "because it is being terminated" in body(refused.value)["message"]
    core.delete_namespaced_pod("a", "n", grace_period_seconds=0)
    with pytest.raises(client.ApiException, match="404"):
        core.read_namespace("n")


def test_events_have_two_faces(server: Running, core: client.CoreV1Api) -> None:
    """An event written as events.k8s.io/v1 is read as v1 with the old names of its fields, and the other way round."""
    manifest = {
        "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "name": "a", "namespace": "default"},
        "note": "hello",
        "reason": "Testing",
        "type": "Normal",
        "action": "Test",
        "reportingController": "example.com/test",
        "reportingInstance": "test-1",
        "eventTime": "2026-01-01T00:00:00.000000Z",
    }
    client.EventsV1Api(server.api()).create_namespaced_event("default", manifest)
    found = core.list_namespaced_event("default", field_selector="involvedObject.name=a,involvedObject.kind=Pod").items
    assert [(item.message, item.involved_object.name) for item in found] == [("hello", "a")]
    assert client.EventsV1Api(server.api()).read_namespaced_event("e", "default").note == "hello"


def test_token_is_required_when_there_is_one() -> None:
    """A server with a token refuses requests without it, answers those with it, and is healthy to all."""
    with serve(Store(lambda: datetime.now(UTC)), token="secret-token") as running:
        assert client.CoreV1Api(running.api()).list_namespace().items
        running.token = "wrong"
        with pytest.raises(client.ApiException) as refused:
            client.CoreV1Api(running.api()).list_namespace()
        assert (refused.value.status, body(refused.value)["reason"]) == (401, "Unauthorized")
        assert client.VersionApi(running.api()).get_code().git_version.startswith("v1.36")


@pytest.mark.parametrize(
    ("method", "path", "content", "code"),
    [
        ("GET", "/apis/nothing.example/v1/things", None, 404),
        ("GET", "/api/v1/namespaces/default/pods/a/nothing", None, 404),
        ("PUT", "/api/v1/namespaces/default/pods", "application/json", 405),
        ("POST", "/api/v1/pods", "application/json", 405),
        ("POST", "/api/v1/namespaces/default/pods", "text/html", 415),
        ("PATCH", "/api/v1/namespaces/default", "application/json", 415),
        ("GET", "/api/v1/pods?labelSelector=a%20in%20(", None, 400),
    ],
)
def test_refusals_are_status_objects(server: Running, method: str, path: str, content: str | None, code: int) -> None:
    """What the server does not serve is refused with the API's code and a Status object."""
    headers = {"Content-Type": content} if content else {}
    answer: Any = urllib3.PoolManager().request(method, server.address + path, headers=headers, body=b"{}")
    assert (answer.status, answer.json()["kind"], answer.json()["code"]) == (code, "Status", code)


@pytest.mark.parametrize(
    ("manifest", "code"),
    [
        (b"[]", 400),
        (b"{", 400),
        (b'{"metadata": 3}', 400),
        (b'{"metadata": {"name": "a", "labels": ["x"]}}', 400),
        (b'{"metadata": {"name": "a", "ownerReferences": [{"uid": "x"}]}}', 400),
        (b'{"kind": "Pod", "metadata": {"name": "a"}}', 400),
        (b'{"apiVersion": "v2", "metadata": {"name": "a"}}', 400),
        (b'{"metadata": {"name": "a", "namespace": "other"}}', 400),
        (b'{"metadata": {}}', 422),
        (b"metadata:\n  name: a\n", 400),
    ],
)
def test_malformed_objects_are_refused(server: Running, manifest: bytes, code: int) -> None:
    """A body that is no object of the kind is refused with a Status and nothing is written."""
    version = server.store.resource_version
    path = "/api/v1/namespaces/default/configmaps"
    headers = {"Content-Type": "application/json"}
    answer: Any = urllib3.PoolManager().request("POST", server.address + path, headers=headers, body=manifest)
    assert (answer.status, answer.json()["code"]) == (code, code)
    assert server.store.resource_version == version


def test_yaml_bodies_are_read(server: Running) -> None:
    """A manifest in YAML is as good as one in JSON."""
    path = "/api/v1/namespaces/default/configmaps"
    headers = {"Content-Type": "application/yaml"}
    manifest = b"metadata:\n  name: a\ndata: {x: 'yes'}\n"
    answer: Any = urllib3.PoolManager().request("POST", server.address + path, headers=headers, body=manifest)
    assert (answer.status, answer.json()["data"]) == (201, {"x": "yes"})


def test_audit_tells_who_asked_for_what(server: Running, core: client.CoreV1Api) -> None:
    """Every request is recorded once with its verb, resource, place, code and user agent."""
    core.create_namespaced_pod("default", pod("a"))
    with pytest.raises(client.ApiException):
        core.read_namespaced_pod_status("b", "default")
    found = [
        (record.verb, record.resource, record.subresource, record.namespace, record.name, record.code)
        for record in server.audit
    ]
    assert found == [("create", "pods", "", "default", "", 201), ("get", "pods", "status", "default", "b", 404)]
    assert all("python" in record.user_agent for record in server.audit)
