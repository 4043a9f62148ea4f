"""metadata.managedFields tells who wrote which field of a ConfigMap, as far as the simulator keeps it."""

from typing import Any

from simulator.storage.managed_fields import paths
from tests.controlplane.anycluster import AnyCluster, path_of
from tests.controlplane.wire import MERGE

APPLY = "application/apply-patch+yaml"


def send(cluster: AnyCluster, method: str, manager: str, body: dict[str, Any], media: str = MERGE) -> dict[str, Any]:
    """By a name; the object as it is then."""
    named = {"apiVersion": "v1", "kind": "ConfigMap", **body, "metadata": {"name": "c", **body.get("metadata", {})}}
    at = path_of("configmaps", cluster.namespace, "" if method == "POST" else "c")
    code, answer = cluster.raw(method, f"{at}?fieldManager={manager}", named, "" if method == "POST" else media)
    assert code in (200, 201), answer
    return dict(answer)


def owners(obj: dict[str, Any]) -> dict[tuple[str, str], set[str]]:
    """Manager and operation -> the data that they own."""
    entries = obj["metadata"]["managedFields"]
    found = {(one["manager"], one["operation"]): paths(one) for one in entries}
    return {who: {path[1] for path in own if path[0] == "data" and len(path) > 1} for who, own in found.items()}


def test_whoever_changes_a_field_owns_it_and_the_others_keep_theirs(cluster: AnyCluster) -> None:
    send(cluster, "POST", "helm", {"data": {"a": "1", "b": "1"}})
    made = send(cluster, "PATCH", "kubectl-edit", {"data": {"b": "2", "c": "2"}})
    assert owners(made) == {("helm", "Update"): {"a"}, ("kubectl-edit", "Update"): {"b", "c"}}


def test_what_is_taken_away_is_nobodys(cluster: AnyCluster) -> None:
    send(cluster, "POST", "helm", {"data": {"a": "1", "b": "1"}})
    made = send(cluster, "PATCH", "kubectl-edit", {"data": {"b": None}})
    assert owners(made)["helm", "Update"] == {"a"}
    assert not owners(made).get(("kubectl-edit", "Update"))


def test_a_write_that_changes_nothing_moves_nothing(cluster: AnyCluster) -> None:
    made = send(cluster, "POST", "helm", {"data": {"a": "1"}})
    again = send(cluster, "PATCH", "kubectl-edit", {"data": {"a": "1"}})
    assert again["metadata"] == made["metadata"]


def test_who_applies_is_another_manager_than_who_updates(cluster: AnyCluster) -> None:
    send(cluster, "POST", "helm", {"data": {"a": "1"}})
    made = send(cluster, "PATCH", "helm", {"data": {"b": "2"}}, APPLY)
    assert owners(made) == {("helm", "Update"): {"a"}, ("helm", "Apply"): {"b"}}
