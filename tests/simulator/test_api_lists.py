"""Lists: selectors, pages, versions."""

import pytest
from kubernetes import client
from simulated_api import body, pod

from tests.controlplane.anycluster import AnyCluster


@pytest.fixture
def labelled(core: client.CoreV1Api, cluster: AnyCluster) -> client.CoreV1Api:
    """Return a client of a cluster with config maps a, b, c and d with various labels."""
    labels = {"a": {"x": "1", "n": "5"}, "b": {"x": "2", "n": "9"}, "c": {"x": "1", "y": ""}, "d": {}}
    for name, found in labels.items():
        core.create_namespaced_config_map(cluster.namespace, {"metadata": {"name": name, "labels": found}})
    return core


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("x=1", "ac"),
        ("x==2", "b"),
        ("x!=1", "bd"),
        ("x in (1,2)", "abc"),
        ("x notin (1)", "bd"),
        ("y", "c"),
        ("!x", "d"),
        ("n>5", "b"),
        ("n<9", "a"),
        ("x=1,y", "c"),
        ("x in (1), n", "a"),
    ],
)
def test_label_selector(labelled: client.CoreV1Api, selector: str, names: str, cluster: AnyCluster) -> None:
    """Each operator of label selectors picks what Kubernetes would pick."""
    found = labelled.list_namespaced_config_map(cluster.namespace, label_selector=selector).items
    assert "".join(item.metadata.name for item in found) == names


def test_field_selectors_of_pods(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """Pods are found by node, phase and name, and by what these are not."""
    for name, placed in (("a", {}), ("b", {"nodeName": "n1"}), ("c", {})):
        core.create_namespaced_pod(cluster.namespace, pod(name, **placed))
    cluster.running("b")

    def names(selector: str) -> list[str]:
        return [item.metadata.name for item in core.list_pod_for_all_namespaces(field_selector=selector).items]

    assert names("spec.nodeName=n1") == ["b"]
    assert names("spec.nodeName=") == ["a", "c"]
    assert names("status.phase!=Running,metadata.name!=a") == ["c"]
    assert names("metadata.namespace=kube-system") == []


def test_field_selector_of_nodes(core: client.CoreV1Api) -> None:
    """Nodes are found by whether they are schedulable, also when they don't say so."""
    core.create_node({"metadata": {"name": "open"}})
    core.create_node({"metadata": {"name": "closed"}, "spec": {"unschedulable": True}})
    found = core.list_node(field_selector="spec.unschedulable=false").items
    assert [item.metadata.name for item in found] == ["open"]


def test_unsupported_field_is_refused(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A field that a kind can't be selected by answers 400 and names it."""
    with pytest.raises(client.ApiException) as refused:
        core.list_namespaced_pod(cluster.namespace, field_selector="spec.containers=x")
    assert refused.value.status == 400
    assert "field label not supported: spec.containers" in body(refused.value)["message"]


def test_pages_continue_at_one_version(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """Pages show the cluster as it was at the first one, whatever has been created or deleted since."""
    for name in "abcde":
        core.create_namespaced_config_map(cluster.namespace, {"metadata": {"name": name}})
    first = core.list_namespaced_config_map(cluster.namespace, limit=2)
    assert first.metadata.remaining_item_count == 3
    core.delete_namespaced_config_map("c", cluster.namespace)
    core.create_namespaced_config_map(cluster.namespace, {"metadata": {"name": "dd"}})
    core.patch_namespaced_config_map("e", cluster.namespace, {"data": {"changed": "yes"}})
    core.patch_namespaced_config_map("e", cluster.namespace, {"data": {"changed": "again"}})
    second = core.list_namespaced_config_map(cluster.namespace, limit=2, _continue=first.metadata._continue)
    third = core.list_namespaced_config_map(cluster.namespace, limit=2, _continue=second.metadata._continue)
    pages = [[item.metadata.name for item in page.items] for page in (first, second, third)]
    assert pages == [["a", "b"], ["c", "d"], ["e"]]
    assert third.items[0].data is None
    assert {page.metadata.resource_version for page in (first, second, third)} == {first.metadata.resource_version}
    assert third.metadata._continue is None


def test_forgotten_page_expires(core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """A page whose version has been forgotten answers 410, an unreadable token 400."""
    about = {"kind": "Pod", "name": "a", "namespace": cluster.namespace}
    for name in "abc":
        cluster.create("events", {"metadata": {"name": name}, "involvedObject": about})
    token = core.list_namespaced_event(cluster.namespace, limit=1).metadata._continue
    cluster.create("events", {"metadata": {"name": "d"}, "involvedObject": about})
    cluster.forget()
    with pytest.raises(client.ApiException) as refused:
        core.list_namespaced_event(cluster.namespace, limit=1, _continue=token)
    assert (refused.value.status, body(refused.value)["reason"]) == (410, "Expired")
    with pytest.raises(client.ApiException, match="400"):
        core.list_namespaced_event(cluster.namespace, limit=1, _continue="nonsense")


def test_version_to_come_is_refused(core: client.CoreV1Api) -> None:
    """A list at a version that the server has not reached answers 504, so that clients list anew."""
    with pytest.raises(client.ApiException) as refused:
        core.list_namespace(resource_version="999999")
    assert body(refused.value)["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
