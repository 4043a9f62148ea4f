"""Volcano as far as tests need it: its kinds Queue and PodGroup."""

from typing import Any

from tests.controlplane.anycluster import AnyCluster, path_of
from tests.waiting import wait_for

GROUP, VERSION = "scheduling.volcano.sh", "v1beta1"
_CRDS = "customresourcedefinitions.apiextensions.k8s.io"
_ANYTHING = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
_KINDS = (("Queue", "Cluster"), ("PodGroup", "Namespaced"))


def install(cluster: AnyCluster) -> None:
    """Let the API server serve them, as installing Volcano does; the next cluster has none of them."""
    for kind, scope in _KINDS:
        plural = f"{kind.lower()}s"
        served = {"name": VERSION, "served": True, "storage": True, "schema": _ANYTHING, "subresources": {"status": {}}}
        names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
        spec = {"group": GROUP, "scope": scope, "names": names, "versions": [served]}
        crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
        crd["metadata"] = {"name": f"{plural}.{GROUP}"}
        wait_for(lambda crd=crd: cluster.raw("POST", path_of(_CRDS), crd)[0] == 201, "the former one is gone")
        wait_for(lambda plural=plural: cluster.raw("GET", _path(plural))[0] == 200, f"{plural} are served")


def _path(plural: str, namespace: str = "") -> str:
    return f"/apis/{GROUP}/{VERSION}/" + (f"namespaces/{namespace}/" if namespace else "") + plural


def add(cluster: AnyCluster, kind: str, name: str, spec: dict[str, Any], namespace: str = "") -> None:
    """One of them, a PodGroup in a namespace."""
    body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": {"name": name}, "spec": spec}
    cluster.send("POST", _path(f"{kind.lower()}s", namespace), body)
