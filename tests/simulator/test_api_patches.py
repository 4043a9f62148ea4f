"""The ways to change a part of an object."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes import client
from simulated_api import body, pod

from simulator.api.patches.patch import json_patch, merge_patch
from simulator.objects import clone, share
from tests.controlplane.anycluster import AnyCluster
from tests.waiting import wait_for

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
HOST = {"kubernetes.io/hostname": "n"}
"""What its kubelet writes on a node."""


@pytest.fixture
def two(core: client.CoreV1Api) -> client.CoreV1Api:
    """Return a client of a cluster with a node that has two conditions and two finalizers."""
    core.create_node(
        {
            "metadata": {"name": "n", "labels": {"a": "1", "b": "2", **HOST}, "finalizers": ["example.com/a"]},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Slow", "status": "False"}]},
        }
    )
    return core


def test_json_patch_steps(two: client.CoreV1Api) -> None:
    """A JSON patch adds, replaces, moves, copies, removes and tests by pointer."""
    steps = [
        {"op": "test", "path": "/metadata/labels/a", "value": "1"},
        {"op": "add", "path": "/metadata/labels/example.com~1x", "value": "new"},
        {"op": "copy", "from": "/metadata/labels/a", "path": "/metadata/labels/c"},
        {"op": "move", "from": "/metadata/labels/b", "path": "/metadata/labels/d"},
        {"op": "replace", "path": "/metadata/labels/a", "value": "3"},
        {"op": "remove", "path": "/metadata/finalizers/0"},
    ]
    found = two.patch_node("n", steps).metadata
    assert found.labels == {"a": "3", "c": "1", "d": "2", "example.com/x": "new", **HOST}
    assert not found.finalizers


@pytest.mark.parametrize(
    "step",
    [
        {"op": "test", "path": "/metadata/labels/a", "value": "wrong"},
        {"op": "remove", "path": "/metadata/labels/none"},
        {"op": "replace", "path": "/metadata/finalizers/7", "value": "x"},
        {"op": "nonsense", "path": "/metadata/labels/a"},
        {"op": "add", "path": "metadata", "value": {}},
    ],
)
def test_json_patch_that_can_not_be_done(two: client.CoreV1Api, step: dict[str, Any]) -> None:
    """A step that can't be done answers 422, and no earlier step of the patch is kept."""
    with pytest.raises(client.ApiException) as refused:
        two.patch_node("n", [{"op": "add", "path": "/metadata/labels/z", "value": "z"}, step])
    assert refused.value.status == 422
    assert "z" not in two.read_node("n").metadata.labels


def test_strategic_merge_goes_by_keys(two: client.CoreV1Api) -> None:
    """A strategic patch merges conditions by type and finalizers as a set, and null removes a field."""
    conditions = [{"type": "Slow", "status": "True"}, {"type": "New", "status": "True"}]
    found = two.patch_node_status("n", {"status": {"conditions": conditions}}, _content_type=STRATEGIC).status
    assert [(item.type, item.status) for item in found.conditions] == [
        ("Ready", "True"),
        ("Slow", "True"),
        ("New", "True"),
    ]
    patch = {"metadata": {"finalizers": ["example.com/b"], "labels": {"a": None}}}
    meta = two.patch_node("n", patch, _content_type=STRATEGIC).metadata
    assert (meta.finalizers, meta.labels) == (["example.com/b", "example.com/a"], {"b": "2", **HOST})


def test_strategic_merge_puts_what_is_new_where_the_api_server_does(two: client.CoreV1Api) -> None:
    """Before all that the patch leaves alone, unless that stood before something which it changes."""
    new = [{"type": "New", "status": "True"}]
    found = two.patch_node_status("n", {"status": {"conditions": new}}, _content_type=STRATEGIC).status
    assert [item.type for item in found.conditions] == ["New", "Ready", "Slow"]


def test_strategic_directives(two: client.CoreV1Api) -> None:
    """$patch deletes an entry or replaces a list, $deleteFromPrimitiveList takes from a set."""
    one_less = {"status": {"conditions": [{"$patch": "delete", "type": "Ready"}]}}
    found = two.patch_node_status("n", one_less, _content_type=STRATEGIC).status
    assert [item.type for item in found.conditions] == ["Slow"]
    replaced = {"status": {"conditions": [{"$patch": "replace"}, {"type": "Only", "status": "True"}]}}
    found = two.patch_node_status("n", replaced, _content_type=STRATEGIC).status
    assert [item.type for item in found.conditions] == ["Only"]
    emptied = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}}
    assert not two.patch_node("n", emptied, _content_type=STRATEGIC).metadata.finalizers


def test_containers_merge_by_name(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A strategic patch of one container's image leaves the other container and the order alone."""
    manifest = pod("a")
    manifest["spec"]["containers"].append({"name": "second", "image": "registry.example/app:1"})
    core.create_namespaced_pod(cluster.namespace, manifest)
    order = [{"name": "main"}, {"name": "second"}]
    patch = {
        "spec": {
            "$setElementOrder/containers": order,
            "containers": [{"name": "second", "image": "registry.example/app:2"}],
        }
    }
    found = core.patch_namespaced_pod("a", cluster.namespace, patch, _content_type=STRATEGIC).spec.containers
    assert [(item.name, item.image[-1]) for item in found] == [("main", "1"), ("second", "2")]


def test_taints_are_replaced_whole(two: client.CoreV1Api) -> None:
    """A node's taints are atomic: a patch says all of them, by any kind of patch."""
    for content in (STRATEGIC, MERGE):
        for keys in (["a", "b"], ["c"]):
            taints = [{"key": key, "effect": "NoSchedule"} for key in keys]
            found = two.patch_node("n", {"spec": {"taints": taints}}, _content_type=content).spec.taints
            assert [item.key for item in found] == keys


def test_merge_patch_replaces_lists(two: client.CoreV1Api) -> None:
    """A JSON merge patch replaces a list whole."""
    patch = {"status": {"conditions": [{"type": "Slow", "status": "True"}]}}
    found = two.patch_node_status("n", patch, _content_type=MERGE).status
    assert [item.type for item in found.conditions] == ["Slow"]


def test_patch_with_a_stale_version_conflicts(two: client.CoreV1Api) -> None:
    """A patch that names a resource version applies to that version only."""
    version = two.read_node("n").metadata.resource_version
    two.patch_node("n", {"metadata": {"labels": {"x": "1"}}})
    stale = {"metadata": {"resourceVersion": version, "labels": {"x": "2"}}}
    with pytest.raises(client.ApiException) as refused:
        two.patch_node("n", stale, _content_type=MERGE)
    assert (refused.value.status, body(refused.value)["reason"]) == (409, "Conflict")


def test_patch_does_not_touch_identity(two: client.CoreV1Api) -> None:
    """A patch can't change an object's name, UID, creation or generation."""
    before = two.read_node("n").metadata
    with pytest.raises(client.ApiException, match="does not match the name on the URL"):
        two.patch_node("n", {"metadata": {"name": "other"}}, _content_type=MERGE)
    with pytest.raises(client.ApiException, match=r"metadata\.uid: Invalid value: .*field is immutable"):
        two.patch_node("n", {"metadata": {"uid": "other"}}, _content_type=MERGE)
    moved = {"metadata": {"creationTimestamp": "2001-01-01T00:00:00Z"}}
    after = two.patch_node("n", moved, _content_type=MERGE).metadata
    assert after.creation_timestamp == before.creation_timestamp


SCHEMA = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
SPEC: dict[str, Any] = {
    "group": "example.com",
    "scope": "Cluster",
    "names": {"plural": "things", "kind": "Thing"},
    "versions": [{"name": "v1", "served": True, "storage": True, "schema": SCHEMA}],
}
THING = {"apiVersion": "example.com/v1", "kind": "Thing"}
THINGS = "/apis/example.com/v1/things"
DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


def define(cluster: AnyCluster, name: str, spec: dict[str, Any]) -> None:
    """Define a custom kind, and wait until it is served."""
    cluster.create(DEFINITIONS, {"metadata": {"name": name}, "spec": spec})
    wait_for(lambda: cluster.raw("GET", THINGS, None, "")[0] == 200, "things are served")


def test_custom_kinds_take_no_strategic_patch(cluster: AnyCluster) -> None:
    """A strategic patch of a custom resource answers 415 and names what is accepted."""
    define(cluster, "things.example.com", SPEC)
    cluster.send("POST", THINGS, {**THING, "metadata": {"name": "t"}})
    custom = client.CustomObjectsApi(cluster.api())
    with pytest.raises(client.ApiException) as refused:
        custom.patch_cluster_custom_object("example.com", "v1", "things", "t", {"a": 1}, _content_type=STRATEGIC)
    assert refused.value.status == 415
    assert "application/merge-patch+json" in body(refused.value)["message"]


def test_definition_waits_for_objects_that_are_held(cluster: AnyCluster) -> None:
    """A definition that is deleted stays until its last object's finalizer is removed."""
    name = "things.example.com"
    define(cluster, name, SPEC)
    cluster.send("POST", THINGS, {**THING, "metadata": {"name": "t", "finalizers": ["example.com/hold"]}})
    cluster.delete(DEFINITIONS, name)
    wait_for(lambda: cluster.send("GET", f"{THINGS}/t")["metadata"].get("deletionTimestamp"), "the thing is to go")
    assert cluster.find(DEFINITIONS, name)
    held = cluster.send("GET", f"{THINGS}/t")
    held["metadata"].pop("finalizers")
    cluster.send("PUT", f"{THINGS}/t", held)
    wait_for(lambda: cluster.find(DEFINITIONS, name) is None, "the definition is gone")
    wait_for(lambda: cluster.raw("GET", THINGS, None, "")[0] == 404, "nothing is served there")


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4), st.dictionaries(st.text(max_size=3), JSON, max_size=4))
def test_merge_patch_is_idempotent_and_pure(target: dict[str, Any], patch: dict[str, Any]) -> None:
    """Applying a merge patch twice is applying it once, and neither argument is changed."""
    kept = clone(target), clone(patch)
    once = merge_patch(target, patch)
    assert merge_patch(once, patch) == once
    assert (target, patch) == kept


@given(JSON, JSON)
def test_sharing_changes_no_value(old: Any, new: Any) -> None:
    """What shares with an older version equals the new one exactly, and is the old one only if nothing differs."""
    shared = share(old, new)
    assert repr(shared) == repr(new) or shared == new
    assert share(old, clone(old)) is old


@given(st.dictionaries(st.sampled_from("abc"), JSON, min_size=1), JSON)
def test_json_patch_add_then_remove(document: dict[str, Any], value: Any) -> None:
    """Adding a field and removing it again leaves the document as it was."""
    steps = [{"op": "add", "path": "/new", "value": value}, {"op": "remove", "path": "/new"}]
    assert json_patch(document, steps) == document
