"""Where the contest is held: a real control plane of its own, or the simulator. Both take the same requests."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from ruamel.yaml import YAML

from scheduler_admin.demo.environment import BASE
from tests.controlplane import binaries
from tests.controlplane.cluster import RealCluster
from tests.controlplane.kubelet import Kubelet
from tests.controlplane.plane import ControlPlane
from tests.controlplane.wire import Wire
from tests.e2e.product import SimulatedCluster
from tests.waiting import PATIENCE_S, wait_for


class Ground(Protocol):
    """A cluster to which a worker is sent."""

    kubeconfig: Path

    def wire(self) -> Wire:
        """An admin's connection."""

    def evictions(self) -> Counter[str]:
        """namespace/name of the pods whose eviction the API server accepted, and how often, by its audit log."""


@dataclass(frozen=True)
class RealGround:
    """etcd, kube-apiserver, controller manager and kube-scheduler."""

    plane: ControlPlane
    kubeconfig: Path

    @classmethod
    @contextmanager
    def opened(
        cls, folder: Path, documents: Iterable[Mapping[str, Any]], *, release: str = binaries.RELEASE
    ) -> Iterator["RealGround"]:
        """Up with what is in it, its nodes alive."""
        with ControlPlane(folder, release) as plane, Kubelet(plane):
            RealCluster(plane).apply(documents)
            yield cls(plane, plane.kubeconfig())

    def wire(self) -> Wire:
        """See Ground."""
        return self.plane.wire()

    def evictions(self) -> Counter[str]:
        """See Ground."""
        found: Counter[str] = Counter()
        for path in self.plane.folder.glob("audit*.log"):  # a full one is put aside, and another begun
            with path.open() as lines:
                events = (json.loads(line) for line in lines if '"eviction"' in line)
                found.update(f"{of['namespace']}/{of['name']}" for of in map(_evicted, events) if of)
        return found


def _evicted(event: dict[str, Any]) -> dict[str, Any] | None:
    """The pod that an event of the audit log tells the accepted eviction of; None when it tells something else."""
    of: dict[str, Any] = event.get("objectRef", {})
    accepted = of.get("subresource") == "eviction" and event["responseStatus"]["code"] == 201
    return of if accepted and "dryRun" not in parse_qs(urlsplit(event["requestURI"]).query) else None


@dataclass(frozen=True)
class SimulatedGround:
    """The simulator, with a scheduler and kubelets of its own."""

    cluster: SimulatedCluster

    @classmethod
    @contextmanager
    def opened(cls, folder: Path, documents: Iterable[Mapping[str, Any]]) -> Iterator["SimulatedGround"]:
        """Up with what is in it."""
        cluster = SimulatedCluster("contest", folder)
        manifests = folder / "manifests"
        manifests.mkdir(parents=True)
        with (manifests / "all.yaml").open("w") as file:
            YAML(typ="safe").dump_all(documents, file)
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(cluster.command(manifests), cwd=BASE, stdout=log, stderr=log)
            try:
                wait_for(cluster.kubeconfig.exists, "The simulated cluster")
                yield cls(cluster)
            finally:
                process.terminate()
                process.wait(PATIENCE_S)

    @property
    def kubeconfig(self) -> Path:
        """See Ground."""
        return self.cluster.kubeconfig

    def wire(self) -> Wire:
        """See Ground."""
        return Wire(YAML(typ="safe").load(self.kubeconfig)["clusters"][0]["cluster"]["server"])

    def evictions(self) -> Counter[str]:
        """See Ground."""
        done = [one for one in self.cluster.audit() if one["subresource"] == "eviction" and not one["dry_run"]]
        return Counter(f"{one['namespace']}/{one['name']}" for one in done if one["code"] == 201)
