"""A real control plane as tests use it: with the interface of tests.e2e.product.SimulatedCluster."""

from base64 import b64decode
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.controlplane.anycluster import clear
from tests.controlplane.kubelet import Kubelet
from tests.controlplane.plane import ControlPlane
from tests.e2e.product import BASE
from tests.waiting import wait_for

_PATHS = {
    "Namespace": "/api/v1/namespaces",
    "Node": "/api/v1/nodes",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "ReplicaSet": "/apis/apps/v1/namespaces/{namespace}/replicasets",
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
    "Secret": "/api/v1/namespaces/{namespace}/secrets",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
}


class RealCluster:
    """Somebody's cluster: an admin makes what is in it, ``kubeconfig`` is that of an account that may only read."""

    name = context = "real"

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._kubelet = Kubelet(plane, exits_after_s=2)
        self.kubeconfig = Path()
        self._since = plane.audited()

    def start(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Fill it, let its nodes live, and make the account that deploy/observe.yaml describes."""
        # The pods of a namespace that a former test deleted go a while after that: they would be counted here.
        wait_for(self._is_empty, "A cluster without pods")
        self._kubelet.start()
        self.apply(documents)
        self.apply(YAML(typ="safe", pure=True).load_all((BASE / "deploy" / "observe.yaml").read_text()))
        secret = "/api/v1/namespaces/scheduler-admin/secrets/scheduler-admin"
        token = wait_for(lambda: (self._plane.get(secret) or {}).get("data", {}).get("token"), "The account's token")
        self.kubeconfig = self._plane.kubeconfig("observer", token=_decoded(token))

    def _is_empty(self) -> bool:
        found = self._plane.get("/api/v1/pods")
        return found is not None and not found["items"]

    def stop(self) -> None:
        """End the nodes, and leave nothing behind."""
        self._kubelet.stop()
        clear(self._plane)

    def apply(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Make objects; a node gets the status that it is given."""
        for document in documents:
            meta = document["metadata"]
            path = _PATHS[document["kind"]].format(namespace=meta.get("namespace", "default"))
            # A namespace that a former test deleted has to be gone before there may be another one of its name.
            sent = partial(self._plane.request, "POST", path, document)
            wait_for(sent, f"{document['kind']} {meta['name']}")
            if document["kind"] == "Node":
                status = {"status": document["status"]}
                self._plane.request("PATCH", f"{path}/{meta['name']}/status", status, "application/merge-patch+json")

    def running(self, namespace: str) -> list[str]:
        """The names of a namespace's running pods that are not on their way out."""
        found = self._plane.get(f"/api/v1/namespaces/{namespace}/pods") or {"items": []}
        return [
            pod["metadata"]["name"]
            for pod in found["items"]
            if pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
        ]

    def scale(self, namespace: str, name: str, replicas: int) -> None:
        """Scale a ReplicaSet."""
        path = f"/apis/apps/v1/namespaces/{namespace}/replicasets/{name}"
        scaled = {"spec": {"replicas": replicas}}
        assert self._plane.request("PATCH", path, scaled, "application/merge-patch+json") is not None

    def verbs(self) -> set[str]:
        """What the account asked the API server for; others may have had one of that name before."""
        user = "system:serviceaccount:scheduler-admin:scheduler-admin"
        return {event["verb"] for event in self._plane.events(self._since) if event["user"].get("username") == user}


def _decoded(text: str) -> str:
    return b64decode(text).decode()
