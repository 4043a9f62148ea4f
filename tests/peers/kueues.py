"""The real Kueue with its webhooks, as a process beside a control plane: installed from its own manifests."""

import json
import subprocess
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.cluster.test_yunikorn_proxied import own_address
from tests.controlplane.plane import ControlPlane
from tests.e2e.product import Product
from tests.peers import binaries
from tests.peers.peer import Peer, program
from tests.ports import free_port
from tests.waiting import wait_for

HERE = Path(__file__).parent
_SPACE = "kueue-system"
_SETTINGS = "components/manager/controller_manager_config.yaml"
_FAIR = "fairSharing:\n  preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]\n"
_NOT_AS_PODS = ("Deployment", "APIService", "PriorityLevelConfiguration", "FlowSchema")
"""What would run it in the cluster, which has no machines."""


class Kueue(Peer):
    """The real one, with ClusterQueues in a cohort, and a node that has more room than their quotas."""

    policy = "cohort"
    """The policy that decides as this one is set."""

    def workloads(self, namespace: str) -> dict[str, dict[str, Any]]:
        """Its Workloads by the jobs that they are of."""
        listed = json.loads(self.kubectl("-n", namespace, "get", "workloads", "-o", "json"))["items"]
        return {one["metadata"]["ownerReferences"][0]["name"]: one for one in listed}

    def their_queues(self) -> dict[str, dict[str, Any]]:
        """Its ClusterQueues by name."""
        listed = json.loads(self.kubectl("get", "clusterqueues", "-o", "json"))["items"]
        return {one["metadata"]["name"]: one for one in listed}

    def tried(self, document: str) -> str:
        """What is said against making objects, which are not made; empty: nothing."""
        try:
            self.kubectl("apply", "--server-side", "--dry-run=server", "-f", "-", document=document)
        except AssertionError as error:
            return str(error)
        return ""

    def job(self, namespace: str, name: str, pods: int, priority: str) -> None:
        """Make a job of so many pods of one core, for the LocalQueue that is called as its namespace."""
        container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
        spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 3, "priorityClassName": priority}
        template = {"metadata": {"labels": {"app": name}}, "spec": {**spec, "containers": [container]}}
        meta = {"name": name, "namespace": namespace, "labels": {"kueue.x-k8s.io/queue-name": namespace}}
        counts = {"parallelism": pods, "completions": pods}
        self.apply(
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {**counts, "template": template}}
        )

    def admitted(self, namespace: str, name: str) -> bool:
        """Whether a job has its quota."""
        conditions = self.workloads(namespace).get(name, {}).get("status", {}).get("conditions", [])
        return any(one["type"] == "Admitted" and one["status"] == "True" for one in conditions)


@contextmanager
def kueue(
    plane: ControlPlane, product: Product, checkout: Path, *, name: str = "kueue", fair: bool = False
) -> Iterator[Kueue]:
    """Install it, and run it until the block ends.

    ``checkout``: its sources in the version that is run; ``name``: what the product calls the cluster; ``fair``:
    whether it shares fairly.
    """
    found, folder = Kueue(plane, product, name), plane.folder / "kueue"
    folder.mkdir()
    settings = _install(found, checkout, folder, fair=fair)
    token = found.kubectl("-n", _SPACE, "create", "token", "kueue-controller-manager", "--duration", "8h").strip()
    variables = {"KUBECONFIG": str(plane.kubeconfig("kueue", token))}
    options = ("--config", str(settings), "--feature-gates=VisibilityOnDemand=false")
    log, over = plane.folder / "kueue.log", threading.Event()
    certificates = threading.Thread(target=_keep_certificates, args=(found, folder / "certs", over))
    certificates.start()
    try:
        with program(binaries.folder() / binaries.KUEUE, log, variables, *options) as found.scheduler:
            yield found
    finally:
        over.set()
        certificates.join()


def _install(found: Kueue, checkout: Path, folder: Path, *, fair: bool) -> Path:
    """Apply its manifests, all but what runs it; where its settings are."""
    health, metrics, webhook = free_port(), free_port(), free_port()
    _export(checkout, folder)
    place = folder / "config" / _SETTINGS
    text = place.read_text().replace(":8081", f":{health}").replace(":8443", f":{metrics}")
    text = text.replace("port: 9443", f"port: {webhook}\n  certDir: {folder / 'certs'}")
    text = text.replace("leaderElect: true", "leaderElect: false")
    place.write_text(f"{text}\n{_FAIR}" if fair else text)
    made = subprocess.run(
        ["kubectl", "kustomize", str(folder / "config" / "default")], capture_output=True, text=True, check=True
    )
    documents = [one for one in YAML(typ="safe").load_all(made.stdout) if one["kind"] not in _NOT_AS_PODS]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": documents})
    found.kubectl("apply", "--server-side", "-f", "-", document=listed)
    by_hand = json.dumps([{"op": "remove", "path": "/spec/selector"}])
    found.kubectl("-n", _SPACE, "patch", "service", "kueue-webhook-service", "--type=json", "-p", by_hand)
    found.apply(_leads_to(own_address(), webhook))
    settings = next(one for one in documents if one["metadata"]["name"] == "kueue-manager-config")
    (folder / "settings.yaml").write_text(settings["data"]["controller_manager_config.yaml"])
    return folder / "settings.yaml"


def _export(checkout: Path, folder: Path) -> None:
    told = ["git", "-C", str(checkout), "archive", binaries.SOURCES["kueue"].commit, "config"]
    packed = subprocess.run(told, capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)


def _leads_to(address: str, port: int) -> dict[str, Any]:
    """What leads the API server's webhook calls to the process."""
    labels = {"kubernetes.io/service-name": "kueue-webhook-service", "endpointslice.kubernetes.io/managed-by": "hand"}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "kueue-webhook-service-1", "namespace": _SPACE, "labels": labels},
        "addressType": "IPv4",
        "ports": [{"name": "", "port": port, "protocol": "TCP"}],
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
    }


def _keep_certificates(found: Kueue, folder: Path, over: threading.Event) -> None:
    """Write what its Secret holds into its folder, as a kubelet would: it makes its certificates itself."""
    folder.mkdir()
    while not over.wait(1):
        secret = json.loads(found.kubectl("-n", _SPACE, "get", "secret", "kueue-webhook-server-cert", "-o", "json"))
        for name, value in (secret.get("data") or {}).items():
            written = folder / f".{name}"
            written.write_bytes(b64decode(value))
            written.rename(folder / name)


def ready(found: Kueue, objects: str = "objects.yaml") -> None:
    """Wait until its webhooks let the queues be made that a file of ``kueue/`` has."""
    text = (HERE / "kueue" / objects).read_text()
    wait_for(lambda: works(lambda: found.kubectl("apply", "-f", "-", document=text)), "Kueue's webhooks")


def works(act: Callable[[], object]) -> bool:
    """Whether something could be done, for which its webhooks have to answer."""
    try:
        act()
    except AssertionError:
        return False
    return True
