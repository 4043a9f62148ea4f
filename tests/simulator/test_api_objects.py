"""Reading and writing objects with the official client."""

import json
from datetime import UTC, datetime
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from kubernetes import client
from simulated_api import body, pod, serve

from simulator.storage.store import Store
from tests.controlplane.anycluster import AnyCluster, path_of
from tests.waiting import wait_for


def test_pod_lives_through_create_read_replace_and_delete(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A pod can be created, read, listed, relabelled and deleted, and is not found afterwards."""
    created = core.create_namespaced_pod(cluster.namespace, pod("a"))
    assert created.metadata.uid
    created.metadata.labels["tier"] = "front"
    replaced = core.replace_namespaced_pod("a", cluster.namespace, created)
    assert int(replaced.metadata.resource_version) > int(created.metadata.resource_version)
    assert core.read_namespaced_pod("a", cluster.namespace).metadata.labels == {"app": "web", "tier": "front"}
    assert [item.metadata.name for item in core.list_pod_for_all_namespaces().items] == ["a"]
    core.delete_namespaced_pod("a", cluster.namespace)
    with pytest.raises(client.ApiException) as refused:
        core.read_namespaced_pod("a", cluster.namespace)
    assert (refused.value.status, body(refused.value)["message"]) == (404, 'pods "a" not found')


def test_stale_version_conflicts(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """Replacing an object by a version that was overtaken answers 409 in the API's words and changes nothing."""
    stale = core.create_namespaced_pod(cluster.namespace, pod("a"))
    core.patch_namespaced_pod("a", cluster.namespace, {"metadata": {"labels": {"app": "new"}}})
    with pytest.raises(client.ApiException) as refused:
        core.replace_namespaced_pod("a", cluster.namespace, stale)
    assert body(refused.value)["reason"] == "Conflict"
    assert body(refused.value)["message"] == (
        'Operation cannot be fulfilled on pods "a": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    assert core.read_namespaced_pod("a", cluster.namespace).metadata.labels == {"app": "new"}


def test_second_object_of_a_name_already_exists(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """Creating an object twice answers 409 AlreadyExists."""
    core.create_namespaced_pod(cluster.namespace, pod("a"))
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod(cluster.namespace, pod("a"))
    assert (body(refused.value)["reason"], body(refused.value)["message"]) == (
        "AlreadyExists",
        'pods "a" already exists',
    )


def test_missing_namespace_is_not_found(core: client.CoreV1Api) -> None:
    """An object can't be created in a namespace that does not exist."""
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod("nowhere", pod("a"))
    assert body(refused.value)["message"] == 'namespaces "nowhere" not found'


def test_bad_name_is_invalid(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A name that is no DNS name answers 422 and names the field."""
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_pod(cluster.namespace, pod("Not_A_Name"))
    assert refused.value.status == 422
    assert body(refused.value)["details"]["causes"][0]["field"] == "metadata.name"


def test_generated_names_differ(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """generateName gives each object a name of its own."""
    manifest = {**pod(""), "metadata": {"generateName": "a-"}}
    names = {core.create_namespaced_pod(cluster.namespace, manifest).metadata.name for _ in range(3)}
    assert len(names) == 3
    assert all(name.startswith("a-") for name in names)


def test_generated_names_are_reproducible() -> None:
    """Where chance decides in the simulator, the same seed decides the same."""
    manifest = {**pod(""), "metadata": {"generateName": "a-"}}
    stores = [Store(lambda: datetime.now(UTC), seed=1) for _ in range(2)]
    first, second = ([store.create("pods", manifest)["metadata"]["name"] for _ in range(3)] for store in stores)
    assert first == second


def test_dry_run_writes_nothing(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """Every verb with dryRun=All answers as if it had been done, and leaves the store at its version."""
    core.create_namespaced_pod(cluster.namespace, pod("a"))
    before = cluster.list("pods")
    assert core.create_namespaced_pod(cluster.namespace, pod("b"), dry_run="All").metadata.uid
    patched = core.patch_namespaced_pod("a", cluster.namespace, {"metadata": {"labels": {"x": "y"}}}, dry_run="All")
    assert patched.metadata.labels["x"] == "y"
    core.delete_namespaced_pod("a", cluster.namespace, dry_run="All")
    assert cluster.list("pods") == before
    asked = [record.dry_run for record in cluster.audit if record.verb != "list"]
    assert asked == [False, True, True, True]


def test_no_change_keeps_the_version(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A patch that changes nothing gives no new resource version."""
    before = core.create_namespaced_pod(cluster.namespace, pod("a"))
    after = core.patch_namespaced_pod("a", cluster.namespace, {"metadata": {"labels": {"app": "web"}}})
    assert after.metadata.resource_version == before.metadata.resource_version


def test_generation_counts_specifications_only(cluster: AnyCluster) -> None:
    """metadata.generation moves when the specification changes, not with labels or status."""
    apps = client.AppsV1Api(cluster.api())
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod("x")["spec"]}
    manifest = {
        "metadata": {"name": "r"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    assert apps.create_namespaced_replica_set(cluster.namespace, manifest).metadata.generation == 1
    apps.patch_namespaced_replica_set("r", cluster.namespace, {"metadata": {"labels": {"x": "y"}}})
    apps.patch_namespaced_replica_set_status("r", cluster.namespace, {"status": {"observedGeneration": 1}})
    found = apps.patch_namespaced_replica_set_scale("r", cluster.namespace, {"spec": {"replicas": 3}})
    assert found.spec.replicas == 3
    assert apps.read_namespaced_replica_set("r", cluster.namespace).metadata.generation == 2


def test_status_and_specification_are_written_apart(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """The status subresource changes only the status, the resource itself everything but that."""
    core.create_namespaced_pod(cluster.namespace, pod("a"))
    core.patch_namespaced_pod_status("a", cluster.namespace, {"status": {"phase": "Running"}, "spec": {"priority": 9}})
    core.patch_namespaced_pod("a", cluster.namespace, {"status": {"phase": "Failed"}})
    found = core.read_namespaced_pod("a", cluster.namespace)
    assert (found.status.phase, found.spec.priority) == ("Running", 0)


def test_graceful_deletion_waits_for_the_kubelet(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A running pod stays with a deletion timestamp for its grace period; only a deletion without grace ends it."""
    core.create_namespaced_pod(cluster.namespace, pod("a", nodeName="n1"))
    cluster.running("a")
    core.delete_namespaced_pod("a", cluster.namespace, grace_period_seconds=7)
    found = core.read_namespaced_pod("a", cluster.namespace)
    assert found.metadata.deletion_timestamp
    assert found.metadata.deletion_grace_period_seconds == 7
    core.delete_namespaced_pod("a", cluster.namespace, grace_period_seconds=0)
    assert core.list_namespaced_pod(cluster.namespace).items == []


def test_deletion_keeps_to_its_preconditions(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A deletion that means another object of the same name answers 409 and deletes nothing."""
    core.create_namespaced_pod(cluster.namespace, pod("a"))
    options = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid="another"))
    with pytest.raises(client.ApiException) as refused:
        core.delete_namespaced_pod("a", cluster.namespace, body=options)
    assert refused.value.status == 409
    assert "the UID in the precondition (another) does not match" in body(refused.value)["message"]
    assert core.read_namespaced_pod("a", cluster.namespace)


def test_finalizer_holds_an_object(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """An object with a finalizer is only marked; it goes when the finalizer does."""
    core.create_namespaced_config_map(
        cluster.namespace, {"metadata": {"name": "c", "finalizers": ["example.com/hold"]}}
    )
    core.delete_namespaced_config_map("c", cluster.namespace)
    assert core.read_namespaced_config_map("c", cluster.namespace).metadata.deletion_timestamp
    core.patch_namespaced_config_map("c", cluster.namespace, [{"op": "remove", "path": "/metadata/finalizers/0"}])
    assert core.list_namespaced_config_map(cluster.namespace).items == []


def test_collection_deletes_what_the_selector_means(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """Deleting a collection takes what its selector matches and leaves the rest."""
    for name, label in (("a", "x"), ("b", "y"), ("c", "x")):
        core.create_namespaced_config_map(cluster.namespace, {"metadata": {"name": name, "labels": {"l": label}}})
    core.delete_collection_namespaced_config_map(cluster.namespace, label_selector="l=x")
    assert [item.metadata.name for item in core.list_namespaced_config_map(cluster.namespace).items] == ["b"]


@pytest.mark.parametrize(
    ("policy", "left"), [("Background", []), ("Foreground", []), ("Orphan", ["child"]), (None, [])]
)
def test_dependents_follow_their_owner(
    core: client.CoreV1Api, policy: str | None, left: list[str], cluster: AnyCluster
) -> None:
    """Deleting an owner deletes what it owns, unless it is told to orphan it."""
    owner = core.create_namespaced_config_map(cluster.namespace, {"metadata": {"name": "owner"}})
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": owner.metadata.uid,
        "blockOwnerDeletion": True,
    }
    child = {"metadata": {"name": "child", "ownerReferences": [reference]}}
    core.create_namespaced_config_map(cluster.namespace, child)
    core.delete_namespaced_config_map("owner", cluster.namespace, **({"propagation_policy": policy} if policy else {}))

    def there() -> list[tuple[str, bool]]:
        found = core.list_namespaced_config_map(cluster.namespace).items
        return [(one.metadata.name, bool(one.metadata.owner_references)) for one in found]

    wait_for(lambda: there() == [(name, False) for name in left], f"only {left} is left, without an owner")


def test_namespace_takes_its_contents_along(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """Deleting a namespace deletes its pods, and when they have gone the rest; nothing new may come in."""
    core.create_namespaced_pod(cluster.namespace, pod("a", nodeName="n1"))
    core.create_namespaced_config_map(cluster.namespace, {"metadata": {"name": "c"}})
    cluster.running("a")
    core.delete_namespace(cluster.namespace)
    assert core.read_namespace(cluster.namespace).status.phase == "Terminating"
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_config_map(cluster.namespace, {"metadata": {"name": "late"}})
    assert "because it is being terminated" in body(refused.value)["message"]
    wait_for(lambda: core.read_namespaced_pod("a", cluster.namespace).metadata.deletion_timestamp, "the pod stops")
    assert core.read_namespaced_config_map("c", cluster.namespace)
    core.delete_namespaced_pod("a", cluster.namespace, grace_period_seconds=0)
    wait_for(lambda: cluster.find("namespaces", cluster.namespace) is None, "the namespace is gone")


def test_events_have_two_faces(cluster: AnyCluster, core: client.CoreV1Api) -> None:
    """An event written as events.k8s.io/v1 is read as v1 with the old names of its fields, and the other way round."""
    manifest = {
        "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "name": "a", "namespace": cluster.namespace},
        "note": "hello",
        "reason": "Testing",
        "type": "Normal",
        "action": "Test",
        "reportingController": "example.com/test",
        "reportingInstance": "test-1",
        "eventTime": "2026-01-01T00:00:00.000000Z",
    }
    cluster.create("events.events.k8s.io", manifest)
    found = core.list_namespaced_event(
        cluster.namespace, field_selector="involvedObject.name=a,involvedObject.kind=Pod"
    ).items
    assert [(item.message, item.involved_object.name) for item in found] == [("hello", "a")]
    assert client.EventsV1Api(cluster.api()).read_namespaced_event("e", cluster.namespace).note == "hello"


def test_token_is_required_when_there_is_one() -> None:
    """A server with a token refuses requests without it, answers those with it, and is healthy to all."""
    with serve(Store(lambda: datetime.now(UTC)), token="secret-token") as running:
        assert client.CoreV1Api(running.api()).list_namespace().items
        running.token = "wrong"
        with pytest.raises(client.ApiException) as refused:
            client.CoreV1Api(running.api()).list_namespace()
        assert (refused.value.status, body(refused.value)["reason"]) == (401, "Unauthorized")
        assert client.VersionApi(running.api()).get_code().git_version.startswith("v1.36")


@pytest.mark.parametrize("header", ["Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/namespaces"),
        ("POST", "/api/v1/namespaces/default/pods/a/eviction"),
        ("DELETE", "/api/v1/nodes"),
        ("PATCH", "/api/v1/namespaces/default"),
    ],
)
def test_a_page_makes_no_browser_change_anything(method: str, path: str, header: str) -> None:
    """Any page that somebody reads can send these to their own machine; without a token they are refused."""
    headers = {header: "https://evil.example"}
    with serve(Store(lambda: datetime.now(UTC))) as running:
        with pytest.raises(HTTPError) as refused:
            urlopen(Request(running.address + path, method=method, headers=headers))
        assert refused.value.code == 403
        assert "a browser may change nothing here" in json.load(refused.value)["message"]
        assert urlopen(Request(f"{running.address}/api/v1/nodes", headers=headers)).status == 200


@pytest.mark.parametrize(
    ("method", "path", "content", "code"),
    [
        ("GET", "/api/v1/namespaces/default/pods/a/nothing", None, 404),
        ("GET", "/api/v1/things", None, 404),
        ("GET", "/api/v9", None, 404),
        ("GET", "/apis/apps/v1/things", None, 404),
        ("PUT", "/api/v1/namespaces/default/pods", "application/json", 405),
        ("POST", "/api/v1/pods", "application/json", 405),
        ("POST", "/api/v1/namespaces/default/pods", "text/html", 415),
        ("PATCH", "/api/v1/namespaces/default", "application/json", 415),
        ("GET", "/api/v1/pods?labelSelector=a%20in%20(", None, 400),
    ],
)
def test_refusals_are_status_objects(
    cluster: AnyCluster, method: str, path: str, content: str | None, code: int
) -> None:
    """What the server does not serve is refused with the API's code and a Status object."""
    body = b"{}" if content else None
    answered, status = cluster.raw(method, path, body, content or "application/json")
    assert (answered, status["kind"], status["code"]) == (code, "Status", code)


@pytest.mark.parametrize("path", ["/apis/nothing.example/v1/things", "/apis/nothing.example", "/nothing"])
def test_what_is_in_no_group_has_no_status(cluster: AnyCluster, path: str) -> None:
    """Clients have to make sense of a line of text."""
    assert cluster.raw("GET", path, None, "") == (404, b"404 page not found\n")


@pytest.mark.parametrize(
    ("manifest", "code"),
    [
        (b"[]", 400),
        (b"{", 400),
        (b'{"metadata": 3}', 400),
        (b'{"metadata": {"name": "a", "labels": ["x"]}}', 400),
        (b'{"metadata": {"name": "a", "ownerReferences": [{"uid": "x"}]}}', 422),
        (b'{"kind": "Pod", "metadata": {"name": "a"}}', 400),
        (b'{"apiVersion": "v2", "metadata": {"name": "a"}}', 400),
        (b'{"metadata": {"name": "a", "namespace": "other"}}', 400),
        (b'{"metadata": {}}', 422),
        (b"metadata:\n  name: a\n", 400),
    ],
)
def test_malformed_objects_are_refused(cluster: AnyCluster, manifest: bytes, code: int) -> None:
    """A body that is no object of the kind is refused with a Status and nothing is written."""
    answered, status = cluster.raw("POST", path_of("configmaps", cluster.namespace), manifest, "application/json")
    assert (answered, status["code"]) == (code, code)
    assert cluster.list("configmaps") == []


def test_yaml_bodies_are_read(cluster: AnyCluster) -> None:
    """A manifest in YAML is as good as one in JSON."""
    manifest = b"metadata:\n  name: a\ndata: {x: 'yes'}\n"
    code, made = cluster.raw("POST", path_of("configmaps", cluster.namespace), manifest, "application/yaml")
    assert (code, made["data"]) == (201, {"x": "yes"})


def test_audit_tells_who_asked_for_what(cluster: AnyCluster, core: client.CoreV1Api) -> None:
    """Every request is recorded once with its verb, resource, place, code and user agent."""
    core.create_namespaced_pod(cluster.namespace, pod("a"))
    with pytest.raises(client.ApiException):
        core.read_namespaced_pod_status("b", cluster.namespace)
    found = [
        (record.verb, record.resource, record.subresource, record.namespace, record.name, record.code)
        for record in cluster.audit
    ]
    assert found == [
        ("create", "pods", "", cluster.namespace, "a", 201),
        ("get", "pods", "status", cluster.namespace, "b", 404),
    ]
    assert all("python" in record.user_agent for record in cluster.audit)
