"""A cluster as tests meet it, simulated or real: whatever is made or changed in it goes through its API."""

import itertools
import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from engine.cluster.acting.lease import LEASE_NAME, LEASE_NAMESPACE
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from simulator.api.server import AuditRecord
from simulator.cluster import SimulatedCluster as Simulator
from simulator.kinds import ApiResource, Registry
from simulator.storage.bootstrap import NAMESPACES
from tests.cluster.doubles import simulate
from tests.controlplane.kubelet import Kubelet
from tests.controlplane.plane import ControlPlane
from tests.controlplane.wire import AGENT, MERGE, Wire
from tests.waiting import wait_for

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

Object = dict[str, Any]
_RBAC = "rbac.authorization.k8s.io"


def _kinds() -> Registry:
    """What the simulator serves, and what of a real API server tests need besides."""
    kinds = Registry()
    kinds.add(ApiResource(_RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False))
    kinds.add(ApiResource(_RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False))
    return kinds


KINDS = _kinds()


_CLUSTER_WIDE = (
    "nodes",
    "persistentvolumes",
    "priorityclasses.scheduling.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io",
    f"clusterroles.{_RBAC}",
    f"clusterrolebindings.{_RBAC}",
)
_CONTENTS = [kind.key for kind in KINDS if kind.namespaced and "deletecollection" in kind.verbs and not kind.stored_as]
_NUMBER = itertools.count(1)


def path_of(key: str, namespace: str | None = None, name: str = "", subresource: str = "") -> str:
    """Where an object is, or where those of its kind are; ``key`` as the simulator has it: "pods", "jobs.batch"."""
    kind = KINDS[key]
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    space = f"/namespaces/{namespace}" if kind.namespaced and namespace else ""
    return "/".join(part for part in (f"{root}{space}/{kind.plural}", name, subresource) if part)


class Refused(AssertionError):  # noqa: N818 - what a test did not expect fails it
    """The API server did not do what a test asked it to."""

    def __init__(self, asked: str, code: int, answer: Any) -> None:
        super().__init__(f"{asked}: {code} {answer.get('message') if isinstance(answer, dict) else answer}")
        self.code = code


@dataclass(frozen=True)
class Entrance:
    """How an admin gets in."""

    address: str
    token: str = ""
    ca: Path | None = None

    def wire(self) -> Wire:
        """For the tests' own hand."""
        return Wire(self.address, self.token, self.ca)

    def settings(self, **changes: Any) -> ConnectionSettings:
        """For the engine; ``changes`` such as another token."""
        ca = self.ca.read_text() if self.ca else ""
        return ConnectionSettings(**{"address": self.address, "token": self.token, "ca": ca, **changes})

    def api(self) -> "ApiClient":
        """For the official client."""
        from kubernetes import client  # noqa: PLC0415 - dear, and few tests need it

        configuration = client.Configuration()
        configuration.host = self.address
        if self.token:
            configuration.api_key["authorization"] = self.token
            configuration.api_key_prefix["authorization"] = "Bearer"
        configuration.ssl_ca_cert = str(self.ca) if self.ca else None
        return client.ApiClient(configuration)

    def kubeconfig(self, namespace: str) -> str:
        """For kubectl, which then works in a namespace."""
        ca = {"certificate-authority-data": b64encode(self.ca.read_bytes()).decode()} if self.ca else {}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": self.address, **ca}}],
            "users": [{"name": "u", "user": {"token": self.token} if self.token else {}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": namespace}}],
        }
        return json.dumps(document)


class AnyCluster:
    """With a namespace of the test's own, and a kubelet. Nothing reaches into the simulator's store."""

    def __init__(
        self, entrance: Entrance, records: Callable[[], list[AuditRecord]], forget: Callable[[], object], *, real: bool
    ) -> None:
        self.entrance, self.address, self.real = entrance, entrance.address, real
        self.forget = forget
        """Let it forget all former versions of Events, which a real API server keeps no memory of besides etcd's."""
        self._records, self._wire = records, entrance.wire()
        self.namespace = f"test-{next(_NUMBER)}"
        self.create("namespaces", {"metadata": {"name": self.namespace}})

    def close(self) -> None:
        """Close what it sends by."""
        self._wire.close()

    # As whom

    def connection(self, **settings: Any) -> Connection:
        """What is under test comes in by it."""
        return Connection(self.entrance.settings(**settings))

    def api(self) -> "ApiClient":
        """The official client."""
        return self.entrance.api()

    def account(self, *rules: Object) -> ConnectionSettings:
        """Of an account that may do nothing but this; the simulator knows no accounts."""
        assert self.real, "the simulator lets everybody do everything"
        name = f"{self.namespace}-limited"
        self.create("serviceaccounts", {"metadata": {"name": name}})
        self.create(f"clusterroles.{_RBAC}", {"metadata": {"name": name}, "rules": list(rules)})
        subject = {"kind": "ServiceAccount", "name": name, "namespace": self.namespace}
        role = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name}
        binding = {"metadata": {"name": name}, "subjects": [subject], "roleRef": role}
        self.create(f"clusterrolebindings.{_RBAC}", binding)
        asked = self.send("POST", path_of("serviceaccounts", self.namespace, name, "token"), {"spec": {}})
        settings = self.entrance.settings(token=asked["status"]["token"])
        wait_for(lambda: self._allowed(settings.token, rules[0]), "the account has its rights")
        return settings

    def _allowed(self, token: str, rule: Object) -> bool:
        asked = {"group": rule["apiGroups"][0], "resource": rule["resources"][0], "verb": rule["verbs"][0]}
        wire = replace(self.entrance, token=token).wire()
        path = path_of("selfsubjectaccessreviews.authorization.k8s.io")
        _, review = wire.send("POST", path, {"spec": {"resourceAttributes": asked}})
        wire.close()
        return bool(review["status"]["allowed"])

    @property
    def audit(self) -> list[AuditRecord]:
        """What others than the tests' own hand asked for since the cluster was given to this test."""
        return [record for record in self._records() if record.user_agent != AGENT]

    # What is there

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None, **query: Any) -> Any:
        """The document of an answer. Raises Refused."""
        asked = f"{path}?{urlencode(query)}" if query else path
        code, answer = self._wire.send(method, asked, body)
        if code >= 400:
            raise Refused(f"{method} {asked}", code, answer)
        return answer

    def raw(
        self, method: str, path: str, body: Mapping[str, Any] | bytes | None = None, media: str = "application/json"
    ) -> tuple[int, Any]:
        """The code and the document of the answer to whatever is sent."""
        return self._wire.send(method, path, body, media)

    def create(self, key: str, obj: Object) -> Object:
        """In the test's namespace, unless it says another."""
        meta = obj["metadata"]
        document = {"apiVersion": KINDS[key].api_version, "kind": KINDS[key].kind, **obj}
        return self.send("POST", path_of(key, meta.get("namespace", self.namespace)), document)

    def get(self, key: str, name: str, namespace: str = "") -> Object:
        """Raises Refused."""
        return self.send("GET", path_of(key, namespace or self.namespace, name))

    def find(self, key: str, name: str) -> Object | None:
        """None where there is none."""
        code, answer = self._wire.send("GET", path_of(key, self.namespace, name))
        return answer if code == 200 else None

    def list(self, key: str) -> list[Object]:
        """Those of the test's namespace, or of the whole cluster where the kind has none."""
        return self.send("GET", path_of(key, self.namespace))["items"]

    def change(self, key: str, name: str, fn: Callable[[Object], object], namespace: str = "") -> Object:
        """Let ``fn`` change the object, its status as well; again where others changed it in between."""
        path = path_of(key, namespace or self.namespace, name)
        while True:
            old = self.send("GET", path)
            new = deepcopy(old)
            fn(new)
            try:
                return self._written(path, old, new)
            except Refused as refused:
                if refused.code != 409:
                    raise

    def _written(self, path: str, old: Object, new: Object) -> Object:
        status = new.get("status")
        if {**new, "status": None} != {**old, "status": None}:
            new = self.send("PUT", path, new)
        if status != old.get("status"):
            new = self.send("PUT", f"{path}/status", {**new, "status": status})
        return new

    def delete(self, key: str, name: str, **query: Any) -> None:
        """With ``query`` such as gracePeriodSeconds."""
        self.send("DELETE", path_of(key, self.namespace, name), **query)

    # Nodes and pods

    def add_node(self, name: str = "n1", cpu: str = "4", **spec: Any) -> Object:
        """A node that is ready, of 8Gi."""
        room = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
        status = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
        return self.create("nodes", {"metadata": {"name": name}, "spec": spec, "status": status})

    def add_pod(
        self,
        name: str = "p1",
        *,
        node: str = "",
        annotations: Object | None = None,
        labels: Object | None = None,
        **spec: Any,
    ) -> Object:
        """A pod of one core that no scheduler looks after; with a ``node`` it is there already and about to run."""
        container = {"name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": "1"}}}
        placed = {"nodeName": node} if node else {}
        meta = {"name": name, "labels": {"app": name, **(labels or {})}, "annotations": annotations or {}}
        return self.create(
            "pods",
            {"metadata": meta, "spec": {"schedulerName": "nobody", "containers": [container], **placed, **spec}},
        )

    def bind(self, name: str, node: str) -> None:
        """As a scheduler does."""
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        self.send("POST", path_of("pods", self.namespace, name, "binding"), body)

    def running(self, name: str) -> Object:
        """The pod, as soon as it runs."""
        return wait_for(lambda: (pod := self.get("pods", name))["status"]["phase"] == "Running" and pod, f"{name} runs")


def clear(plane: ControlPlane) -> None:
    """Delete all that a cluster does not have of itself, at once."""
    wire = plane.wire()
    for namespace in _names(wire, path_of("namespaces"), "status.phase=Active") - {*NAMESPACES}:
        wire.send("DELETE", path_of("namespaces", None, namespace))
        for key in _CONTENTS:  # its controller would come to it in the middle of the next test
            wire.send("DELETE", f"{path_of(key, namespace)}?gracePeriodSeconds=0")
    for namespace in NAMESPACES:
        wire.send("DELETE", f"{path_of('pods', namespace)}?gracePeriodSeconds=0")
    for path in map(path_of, _CLUSTER_WIDE):
        for name in _names(wire, path):
            wire.send("PATCH", f"{path}/{name}", {"metadata": {"finalizers": None}}, MERGE)
            wire.send("DELETE", f"{path}/{name}")
    wire.send("DELETE", path_of("leases.coordination.k8s.io", LEASE_NAMESPACE, LEASE_NAME))
    wire.close()


def _names(wire: Wire, path: str, fields: str = "") -> set[str]:
    """Of all but what the API server makes itself."""
    query = {"labelSelector": "kubernetes.io/bootstrapping!=rbac-defaults", "fieldSelector": fields}
    _, found = wire.send("GET", f"{path}?{urlencode(query)}")
    return {name for one in found["items"] if not (name := one["metadata"]["name"]).startswith("system-")}


@contextmanager
def simulated() -> Iterator[AnyCluster]:
    """A simulated cluster of its own, with all that lives in one; it asks for no token: by HTTP kubectl sends none."""
    simulator = Simulator()
    with simulate(simulator.store) as served:
        served.call(simulator.begin)
        entrance, forget = Entrance(served.address), partial(served.call, simulator.store.forget)
        cluster = AnyCluster(entrance, lambda: list(served.audit), forget, real=False)
        yield cluster
        cluster.close()
        served.call(simulator.end)


@contextmanager
def real(plane: ControlPlane) -> Iterator[AnyCluster]:
    """The real control plane, which others had before and will have."""
    entrance = Entrance(plane.address, plane.tokens["admin"], plane.folder / "ca.crt")
    since = plane.audited()
    with Kubelet(plane):
        try:
            cluster = AnyCluster(entrance, lambda: plane.audit(since), plane.compact, real=True)
            wait_for(lambda: cluster.find("serviceaccounts", "default"), "pods can be made")
            yield cluster
            cluster.close()
        finally:
            clear(plane)
