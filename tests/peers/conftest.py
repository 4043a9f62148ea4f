"""The real YuniKorn beside a control plane of its own, with one product that looks at it."""

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.test_yunikorn_proxied import own_address
from tests.controlplane.plane import ControlPlane
from tests.e2e.product import Product
from tests.peers import binaries
from tests.peers.peer import Peer, kubelet, program
from tests.waiting import wait_for

HERE = Path(__file__).parent
_SPACE = "yunikorn"
SERVICE = "yunikorn/yunikorn-service:9080"
_REST = "http://127.0.0.1:9080"
"""YuniKorn's port is not to be chosen."""


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    """Build what is missing; says which checkout is needed where it can't."""
    binaries.build()


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product's own processes."""
    running = Product(tmp_path_factory.mktemp("product"))
    try:
        running.start("engine", "housekeeping", "beat", "web")
        yield running
    finally:
        running.stop()


class Yunikorn(Peer):
    """The real one, in three nodes of eight cores."""

    def rest(self, path: str) -> Any:
        """What it answers itself."""
        with urllib.request.urlopen(f"{_REST}{path}", timeout=10) as answer:
            return json.load(answer)

    def answers(self) -> bool:
        """Whether it runs."""
        try:
            return bool(self.rest("/ws/v1/partitions"))
        except OSError:
            return False

    def their_queues(self) -> dict[str, dict[str, Any]]:
        """The queues as YuniKorn has them, by path."""
        found, pending = {}, [self.rest("/ws/v1/partition/default/queues")]
        while pending:
            queue = pending.pop()
            found[queue["queuename"]] = queue
            pending += queue.get("children") or []
        return found

    def write_config(self, text: str) -> None:
        """Somebody changes its ConfigMap."""
        self.apply(config_map(text))


def config_map(text: str) -> dict[str, Any]:
    meta = {"name": "yunikorn-configs", "namespace": _SPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"queues.yaml": text}}


def _stands_for_it(address: str) -> list[dict[str, Any]]:
    """What leads the API server's proxy to the process: a pod that says that it has this machine's address."""
    ports = [{"name": "http", "port": 9080}]
    meta = {"name": "yunikorn-service", "namespace": _SPACE}
    reference = {"kind": "Pod", "namespace": _SPACE, "name": "yunikorn-scheduler-0"}
    subset = {"addresses": [{"ip": address, "targetRef": reference}], "ports": ports}
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"ports": ports}},
        {"apiVersion": "v1", "kind": "Endpoints", "metadata": meta, "subsets": [subset]},
    ]


@pytest.fixture(scope="session")
def yunikorn(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yunikorn]:
    """Runs, and is known to the product."""
    with ControlPlane(tmp_path_factory.mktemp("yunikorn")) as plane, kubelet(plane):
        found = Yunikorn(plane, product, "yunikorn")
        found.nodes(3)
        found.kubectl("create", "namespace", _SPACE)
        found.kubectl("-n", _SPACE, "apply", "-f", "-", document=_rights())
        found.write_config((HERE / "yunikorn" / "queues.yaml").read_text())
        container = {
            "name": "yunikorn",
            "image": "apache/yunikorn:scheduler",
            "resources": {"requests": {"cpu": "200m"}},
        }
        meta = {"name": "yunikorn-scheduler-0", "namespace": _SPACE, "labels": {"app": "yunikorn"}}
        own = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": meta,
            "spec": {"nodeName": "n1", "containers": [container]},
        }
        address = own_address()
        status = json.dumps({"status": {"podIP": address, "podIPs": [{"ip": address}]}})
        wait_for(lambda: _done(found, own), "the stand-in's pod")
        found.kubectl("-n", _SPACE, "patch", "pod", meta["name"], "--subresource=status", "--type=merge", "-p", status)
        found.apply(*_stands_for_it(address))
        token = found.kubectl("-n", _SPACE, "create", "token", "yunikorn-admin", "--duration", "8h").strip()
        variables = {"KUBECONFIG": str(plane.kubeconfig("yunikorn", token)), "NAMESPACE": _SPACE}
        path = binaries.folder() / binaries.YUNIKORN
        with program(path, plane.folder / "yunikorn.log", variables) as found.scheduler:
            wait_for(found.answers, "YuniKorn")
            found.connect("yunikorn", "apply-tree")
            code = "from scheduler_admin.clusters.models import Cluster as C; C.objects.update(yunikorn_service={!r})"
            product.manage("shell", "-c", code.format(SERVICE))
            yield found


def _rights() -> str:
    """YuniKorn's own manifest of what it may do."""
    told = ["git", "-C", str(binaries.source("yunikorn-k8shim")), "show"]
    file = f"{binaries.SOURCES['yunikorn-k8shim'].commit}:deployments/scheduler/yunikorn-rbac.yaml"
    return subprocess.run([*told, file], capture_output=True, text=True, check=True).stdout


def _done(found: Peer, document: dict[str, Any]) -> bool:
    """Whether it could be made: a namespace's account takes a moment."""
    try:
        found.apply(document)
    except AssertionError:
        return False
    return True
