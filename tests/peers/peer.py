"""What the real schedulers have in common: a control plane with nodes, kubectl, and the product's own account."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scheduler_admin.demo.environment import BASE
from tests.controlplane.kubelet import Kubelet
from tests.controlplane.plane import ControlPlane
from tests.e2e.product import Product
from tests.waiting import logged, wait_for

EXITS_AFTER_S = 2.0
_ACCOUNT = "scheduler-admin"


class Peer:
    """A control plane on which another scheduler runs, and the product that looks at it."""

    def __init__(self, plane: ControlPlane, product: Product, name: str) -> None:
        self.plane, self.product, self.name = plane, product, name
        self.folder = plane.folder
        self._kubeconfig = str(plane.kubeconfig())  # written once: several threads read it
        self.scheduler: Program | None = None
        """Its process, once it runs."""

    def restart(self) -> None:
        """End the scheduler, and begin it anew."""
        assert self.scheduler is not None
        self.scheduler.restart()

    def kubectl(self, *arguments: str, document: str = "") -> str:
        """Run kubectl as an admin. Raises AssertionError where it fails."""
        command = ["kubectl", "--kubeconfig", self._kubeconfig, *arguments]
        done = subprocess.run(command, input=document, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def apply(self, *documents: Mapping[str, Any]) -> None:
        """Make objects, or change them."""
        self.kubectl("apply", "-f", "-", document=json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}))

    def nodes(self, count: int, *, cpu: str = "8", memory: str = "16Gi") -> None:
        """Nodes that are ready, without a machine behind them."""
        room = {"cpu": cpu, "memory": memory, "pods": "110"}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}
        for number in range(1, count + 1):
            name = f"n{number}"
            self.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
            status = json.dumps({"status": {"capacity": room, "allocatable": room, "conditions": [ready]}})
            self.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "-p", status)

    def connect(self, *manifests: str) -> None:
        """Let the product read the cluster with the rights of its own manifests, and wait for its first pass."""
        for manifest in ("observe", *manifests):
            self.kubectl("apply", "-f", str(BASE / "deploy" / f"{manifest}.yaml"))
        token = self.kubectl("-n", _ACCOUNT, "create", "token", _ACCOUNT, "--duration", "8h").strip()
        config = self.plane.kubeconfig(_ACCOUNT, token)
        self.product.manage("connect", "--kubeconfig", str(config), "--name", self.name)
        wait_for(lambda: (self.product.api(f"/clusters/{self.name}") or {}).get("last_pass"), "The first pass")

    def queues(self) -> dict[str, dict[str, Any]]:
        """The queues as the product has them, by path."""
        return {one["path"]: one for one in self.product.api(f"/clusters/{self.name}/queues")["results"]}

    def copy(self) -> dict[str, Any]:
        """What the product says of the cluster's own copy of the tree."""
        found: dict[str, Any] = self.product.api(f"/clusters/{self.name}/configuration")
        return found


class Program:
    """A scheduler's own process, which may be ended and started again."""

    def __init__(self, path: Path, log: Path, environment: Mapping[str, str], *arguments: str) -> None:
        self.log, self._command = log, [str(path), *arguments]
        self._environment = {**os.environ, **environment}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Run it; it writes on where it wrote before."""
        with self.log.open("ab") as written:
            self._process = subprocess.Popen(
                self._command, stdout=written, stderr=subprocess.STDOUT, env=self._environment
            )

    def stop(self) -> None:
        """Kill it, if it runs: in order they take their time."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            self._process = None

    def restart(self) -> None:
        """As after the loss of its node."""
        self.stop()
        self.start()


@contextmanager
def program(path: Path, log: Path, environment: Mapping[str, str] | None = None, *arguments: str) -> Iterator[Program]:
    """Run a scheduler's own process until the block ends."""
    made = Program(path, log, environment or {}, *arguments)
    with logged(path.name, lambda: log.read_text(errors="replace")):
        made.start()
        try:
            yield made
        finally:
            made.stop()


@contextmanager
def kubelet(plane: ControlPlane) -> Iterator[None]:
    """Pods that are bound run, and end soon after they were told to."""
    with Kubelet(plane, exits_after_s=EXITS_AFTER_S):
        yield


def pods(name: str, count: int, cpu: int, memory: str, *, namespace: str, queue: str, **spec: Any) -> list[Any]:
    """Pods that ask for YuniKorn, as documents; without a ``queue`` its rules place them by their namespace."""
    requests = {"cpu": str(cpu), "memory": memory}
    container = {"name": "main", "image": "registry.k8s.io/pause:3.9", "resources": {"requests": requests}}
    labels = {"yunikorn.apache.org/app-id": name} | ({"yunikorn.apache.org/queue": queue} if queue else {})
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{name}-{number}", "namespace": namespace, "labels": labels},
            "spec": {
                "schedulerName": "yunikorn",
                "terminationGracePeriodSeconds": 6,
                "containers": [container],
                **spec,
            },
        }
        for number in range(count)
    ]
