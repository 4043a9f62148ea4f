"""kube-arbitrator's kinds, as deploy/consumers.yaml lets an API server serve them."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from engine.cluster.watching.tables import ARBITRATED
from engine.formats.arbitrator.consumers import VERSION
from tests.controlplane.anycluster import AnyCluster, path_of
from tests.waiting import wait_for

_CRDS = "customresourcedefinitions.apiextensions.k8s.io"
_MANIFEST = Path(__file__).resolve().parents[2] / "deploy/consumers.yaml"


def install(cluster: AnyCluster) -> None:
    """Let it serve them; the next cluster has none of them."""
    for crd in YAML(typ="safe", pure=True).load_all(_MANIFEST.read_text()):
        if crd["kind"] == "CustomResourceDefinition":
            wait_for(lambda crd=crd: cluster.raw("POST", path_of(_CRDS), crd)[0] == 201, "the former one is gone")
    for table in ARBITRATED:
        wait_for(lambda table=table: cluster.raw("GET", table.path)[0] == 200, f"{table.path} is served")


def path(namespace: str, plural: str, name: str = "") -> str:
    """Where one is, or those of a namespace are."""
    return f"/apis/{VERSION}/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def add_consumer(cluster: AnyCluster, name: str = "defaults", namespace: str = "", **spec: Any) -> Any:
    """One in a namespace, the test's unless another is said."""
    body = {"apiVersion": VERSION, "kind": "Consumer", "metadata": {"name": name}, "spec": spec}
    return cluster.send("POST", path(namespace or cluster.namespace, "consumers"), body)


def allocation(cluster: AnyCluster, namespace: str = "") -> Any:
    """That of a namespace, None where it has none."""
    found = cluster.send("GET", path(namespace or cluster.namespace, "allocations"))["items"]
    assert len(found) < 2
    return found[0] if found else None
