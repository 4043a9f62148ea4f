"""The real Volcano, its scheduler and its controllers, as processes beside a control plane; without its webhooks."""

import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.controlplane.plane import ControlPlane
from tests.e2e.product import Product
from tests.peers import binaries
from tests.peers.peer import Peer, program
from tests.ports import free_port
from tests.waiting import wait_for

HERE = Path(__file__).parent
_SPACE = "volcano-system"
_MANIFEST = "installer/volcano-development.yaml"
_NOT_HERE = ("Deployment", "Job", "Service", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
"""What would run it in the cluster, which has no machines, and leads to that."""
_CONFIG = "volcano-scheduler-configmap"


class Volcano(Peer):
    """The real one, with two queues of the same weight."""

    metrics = ""
    """Where its scheduler tells its figures."""

    def their_queues(self) -> dict[str, dict[str, Any]]:
        """Its Queues by name."""
        listed = json.loads(self.kubectl("get", "queues.scheduling.volcano.sh", "-o", "json"))["items"]
        return {one["metadata"]["name"]: one for one in listed}

    def deserved(self, queue: str) -> float | None:
        """How many thousandths of a core a queue deserves, by its own metrics; None: it has not said it yet."""
        with urllib.request.urlopen(f"http://{self.metrics}/metrics", timeout=10) as answer:
            said = answer.read().decode()
        found = re.search(rf'^volcano_queue_deserved_milli_cpu{{queue_name="{queue}"}} (\S+)$', said, re.MULTILINE)
        return float(found[1]) if found else None

    def job(self, queue: str, name: str, pods: int, *, least: int = 1) -> None:
        """Make a job of so many pods of one core in the namespace that is called as its queue."""
        container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
        spec = {"restartPolicy": "OnFailure", "terminationGracePeriodSeconds": 3, "containers": [container]}
        task = {"name": "main", "replicas": pods, "template": {"spec": spec}}
        body = {"schedulerName": "volcano", "queue": queue, "minAvailable": least, "tasks": [task]}
        meta = {"name": name, "namespace": queue}
        self.apply({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": meta, "spec": body})

    def running(self, namespace: str) -> int:
        """How many pods of a namespace run, none of them on its way out."""
        listed = json.loads(self.kubectl("-n", namespace, "get", "pods", "-o", "json"))["items"]
        return sum(
            one["status"].get("phase") == "Running" and "deletionTimestamp" not in one["metadata"] for one in listed
        )


@contextmanager
def volcano(plane: ControlPlane, product: Product, checkout: Path) -> Iterator[Volcano]:
    """Install it, and run it until the block ends; ``checkout``: its sources in the version that is run."""
    found = Volcano(plane, product, "volcano")
    _install(found, checkout)
    config = plane.folder / "volcano-scheduler.conf"
    config.write_text((HERE / "volcano" / "scheduler.conf").read_text())
    with (
        program(
            binaries.folder() / binaries.VOLCANO_CONTROLLERS,
            plane.folder / "volcano-controllers.log",
            {},
            *_options(found, "volcano-controllers"),
        ),
        program(
            binaries.folder() / binaries.VOLCANO,
            plane.folder / "volcano.log",
            {},
            *_options(found, "volcano-scheduler"),
            "--enable-metrics=true",
            f"--scheduler-conf={config}",
            "--cache-dumper=false",
        ) as found.scheduler,
    ):
        queues = (HERE / "volcano" / "queues.yaml").read_text()
        found.kubectl("apply", "-f", "-", document=queues)
        wait_for(lambda: "default" in found.their_queues(), "Volcano's own queue")
        yield found


def _options(found: Volcano, account: str) -> tuple[str, ...]:
    token = found.kubectl("-n", _SPACE, "create", "token", account, "--duration", "8h").strip()
    config = found.plane.kubeconfig(account, token)
    found.metrics = f"127.0.0.1:{free_port()}"  # the scheduler's in the end, which is started last
    return f"--kubeconfig={config}", f"--listen-address={found.metrics}", "--leader-elect=false"


def _install(found: Volcano, checkout: Path) -> None:
    """Apply its manifests, all but what runs it, with our configuration of its scheduler."""
    told = ["git", "-C", str(checkout), "show", f"{binaries.SOURCES['volcano'].commit}:{_MANIFEST}"]
    text = subprocess.run(told, capture_output=True, text=True, check=True).stdout
    documents = [one for one in YAML(typ="safe").load_all(text) if one and one["kind"] not in _NOT_HERE]
    for one in documents:
        if one["metadata"]["name"] == _CONFIG:
            one["data"] = {"volcano-scheduler.conf": (HERE / "volcano" / "scheduler.conf").read_text()}
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": documents})
    found.kubectl("apply", "--server-side", "-f", "-", document=listed)
    for name in ("queues.scheduling", "podgroups.scheduling", "jobs.batch"):
        found.kubectl("wait", "--for=condition=Established", "--timeout=60s", f"crd/{name}.volcano.sh")
