"""The second minute: somebody's cluster, whose own scheduler preempts, is connected, explained, never touched."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.controlplane.cluster import RealCluster
from tests.e2e.product import Product, SimulatedCluster
from tests.waiting import wait_for

pytestmark = pytest.mark.e2e


def _theirs() -> list[dict[str, Any]]:
    """Two nodes of four cores that batch fills, web with a class that preempts, and a giant that fits nowhere."""
    room = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    status = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
    return [
        *[{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("batch", "web")],
        *[_class(name, value) for name, value in (("low", 10), ("high", 1000))],
        *[
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{number}"}, "status": status}
            for number in range(2)
        ],
        _replicas("batch", count=4, cpu="2", priority="low"),
        _replicas("web", count=0, cpu="3", priority="high"),
        _replicas("giant", count=1, cpu="64", priority="low", namespace="web"),
    ]


def _class(name: str, value: int) -> dict[str, Any]:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


def _replicas(name: str, *, count: int, cpu: str, priority: str, namespace: str = "") -> dict[str, Any]:
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    stays = {"simulator.scheduler-admin.io/exits-after": "2s"}
    template = {
        "metadata": {"labels": {"app": name}, "annotations": stays},
        "spec": {"priorityClassName": priority, "containers": [container]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": namespace or name},
        "spec": {"replicas": count, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


def _simulated(product: Product, folder: Path) -> SimulatedCluster:
    cluster = SimulatedCluster("simulated", product.place.folder / "simulated")
    cluster.folder.mkdir()
    manifests = folder / "manifests"
    manifests.mkdir()
    with (manifests / "cluster.yaml").open("w") as file:
        YAML(typ="safe").dump_all(_theirs(), file)
    product.children.start("simulator-theirs", cluster.command(manifests))
    wait_for(cluster.kubeconfig.exists, "Their cluster")
    return cluster


@pytest.fixture(params=["simulated", pytest.param("real", marks=pytest.mark.controlplane)])
def theirs(
    request: pytest.FixtureRequest, product: Product, tmp_path: Path
) -> Iterator[SimulatedCluster | RealCluster]:
    """It runs, full, before anybody connects it."""
    cluster: SimulatedCluster | RealCluster
    if request.param == "simulated":
        cluster = _simulated(product, tmp_path)
    else:
        cluster = RealCluster(request.getfixturevalue("plane"))
        cluster.start(_theirs())
    wait_for(lambda: len(cluster.running("batch")) == 4, "Their batch")
    yield cluster
    product.forget(cluster.name)
    cluster.stop()


def _page(product: Product, path: str) -> str:
    """A page as somebody who may see everything reads it."""
    return product.page(path, product.session)


def test_somebodys_cluster_is_explained_and_not_touched(
    product: Product, theirs: SimulatedCluster | RealCluster
) -> None:
    """Usage, asks with reasons, a preemption by kube-scheduler with its victims; the API server saw only reads."""
    name = theirs.name
    given = ("--kubeconfig", str(theirs.kubeconfig), "--context", theirs.context, "--name", name)
    said = product.manage("connect", *given)
    assert "4 running, 1 pending" in said
    assert f"/clusters/{name}/queues/" in said
    wait_for(lambda: (product.api(f"/clusters/{name}") or {}).get("last_pass"), "The first pass")
    queues = {one["path"]: one for one in product.api(f"/clusters/{name}/queues")["results"]}
    assert queues["root.batch"]["resources"]["cpu"]["used"] == "8"
    waiting = wait_for(lambda: _decisions(product, name, "no-guarantee"), "Why an ask waits")
    assert waiting[0]["pending_pod"]["name"].startswith("giant")

    theirs.scale("web", "web", 1)
    preempted = wait_for(lambda: _decisions(product, name, "higher-priority"), "A preemption by kube-scheduler")[0]
    assert (preempted["source"], preempted["mode"]) == ("kube-scheduler", "observe")
    assert preempted["pending_pod"]["queue"] == "root.web"
    assert [(one["queue"], one["priority"]) for one in preempted["victims"]] == [("root.batch", 10)] * 2
    ended = wait_for(lambda: [one for one in product.preemptions(name) if one["state"] == "closed"], "Its end")[0]
    assert ended["ending"] == "bound"

    assert "root.batch" in _page(product, f"/clusters/{name}/queues/")
    assert "0/2 nodes are available" in _page(product, f"/clusters/{name}/queues/root.web/")
    page = _page(product, f"/clusters/{name}/decisions/{ended['id']}/")
    assert re.search(r"kube-scheduler preempted <code>batch-\w+, batch-\w+</code> on <code>node-\d</code>", page)
    assert theirs.verbs() == {"get", "list", "watch"}


def _decisions(product: Product, name: str, reason: str) -> list[dict[str, Any]]:
    return [one for one in product.decisions(name) if one["reason"] == reason]
