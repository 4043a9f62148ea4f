"""The product in one process, with a database, over a simulated cluster in enforce, and a proxy that misbehaves."""

import json
import ssl
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from engine.cluster.acting.lease import ClusterLease
from engine.cluster.timing import BackOff, Clock
from engine.cluster.watching.listing import ReflectorSettings
from engine.cluster.watching.watcher import ClusterWatcher
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.watching import watchers
from scheduler_admin.clusters.watching.watchers import Watch
from scheduler_admin.worker.passes import run_pass
from tests.builders import queue, tree
from tests.cluster.certificates import authority, issued, serving
from tests.cluster.doubles import simulate
from tests.faults.proxy import Proxy, proxied
from tests.waiting import PATIENCE_S, wait_for
from tests.worker.conftest import add_cluster

TREE = tree({"prod": queue("4", delay_ms=1), "test": queue("1", delay_ms=1)})
QUICK = ReflectorSettings(watch_s=1, idle_margin_s=0.3, shortest_watch_s=0.7, list_timeout_s=3.0)
LONG_S = 60.0
"""Longer than any picture is trusted."""


class Shifted(Clock):
    """Time passes as it does, and can be put forward."""

    ahead_s = 0.0

    def steady_s(self) -> float:
        return super().steady_s() + self.ahead_s


@dataclass
class World:
    """A node that four pods of Test fill, Prod guaranteed all of it, and how the product sees it."""

    proxy: Proxy
    cluster: Cluster
    watch: Watch
    clock: Shifted
    tls: ssl.SSLContext
    """What the API server shows of itself, to connections that are opened from now on."""
    token: Path
    """The file that the product takes its token from."""

    def add_ask(self) -> None:
        """Prod asks for one core: whoever sees this evicts a pod of Test."""
        self.add_pod("ask", "prod")
        since = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        waiting = {"conditions": [{**since, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
        self.proxy.simulated.change("pods", "default", "ask", lambda pod: pod["status"].update(waiting))

    def add_pod(self, name: str, leaf: str, node: str = "") -> None:
        """A pod of one core that a ReplicaSet has made."""
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": leaf, "uid": leaf, "controller": True}
        meta = {"name": name, "namespace": "default", "labels": {"queue": leaf}, "ownerReferences": [owner]}
        container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}
        placed = {"nodeName": node} if node else {}
        self.proxy.simulated.create("pods", {"metadata": meta, "spec": {"containers": [container], **placed}})

    def run(self) -> ClusterStatus:
        """One pass; what pages show after it."""
        run_pass(cluster=self.cluster, watch=self.watch)
        return ClusterStatus.objects.get()

    def evicted(self) -> list[str]:
        """The names of the pods whose eviction the API server was asked for, trials included."""
        asked = self.proxy.simulated.audit
        return [one.name for one in asked if one.subresource == "eviction"]

    def in_trouble(self, words: str) -> None:
        """Wait until that is wrong with every kind, and then for long enough."""
        health = self.watch.watcher.health
        wait_for(lambda: all(words in one.error for one in health().kinds), f"of every kind is said: {words}")
        self.clock.ahead_s += LONG_S

    def well(self) -> None:
        """Wait until all is read again."""
        health = self.watch.watcher.health
        wait_for(lambda: not health().errors and (health().staleness_s or 0.0) < LONG_S / 2, "all is well")


@pytest.fixture
def world(db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """It has been read, and nothing is wrong yet."""
    clock = Shifted()
    quick = partial(ClusterWatcher, clock=clock, back_off=lambda: BackOff(0.05, 0.2))
    monkeypatch.setattr(watchers, "ClusterWatcher", quick)
    monkeypatch.setattr(watchers, "ReflectorSettings", partial(replace, QUICK))
    monkeypatch.setattr(watchers, "REQUEST_TIMEOUT_S", 1.0)
    # We lead all the time: it is never the lease alone that keeps us from evicting.
    monkeypatch.setattr(ClusterLease, "holds_now", lambda *_arguments: True)
    token = tmp_path / "token"
    token.write_text("first")
    tls = serving(*issued(authority(), "kube-apiserver"), tmp_path)
    with simulate() as simulated, proxied(simulated, tls) as proxy:
        config = _kubeconfig(tmp_path, proxy, token)
        simulated.add_node()
        cluster = add_cluster(TREE, kubeconfig=str(config))
        watch = Watch(cluster)
        found = World(proxy, cluster, watch, clock, tls, token)
        for number in range(4):
            found.add_pod(f"test-{number}", "test", "n1")
        try:
            assert watch.watcher.wait_synced(PATIENCE_S)
            wait_for(lambda: len(watch.watcher.state().pods) == 4, "its pods are seen")
            yield found
        finally:
            proxy.fault = None
            watch.close()


def _kubeconfig(folder: Path, proxy: Proxy, token: Path) -> Path:
    ca = b64encode(authority()[0].encode()).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": proxy.server.address, "certificate-authority-data": ca}}],
        "users": [{"name": "u", "user": {"tokenFile": str(token)}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(document))
    return path
