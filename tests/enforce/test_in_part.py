"""Acting with a smaller blast radius: in a part of the cluster first, and stopped in the cluster itself."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.cluster.acting.lease import STOP
from tests.controlplane.anycluster import AnyCluster, path_of
from tests.controlplane.wire import MERGE
from tests.e2e.manifests import batch, lease, queues, replicas
from tests.enforce.worker import Worker
from tests.waiting import wait_for

pytestmark = pytest.mark.e2e
Begin = Callable[..., Worker]


@pytest.fixture
def cluster(cluster: AnyCluster) -> AnyCluster:
    """A full node of four cores: Test holds all of it over no guarantee."""
    cluster.create("priorityclasses.scheduling.k8s.io", batch())
    cluster.create("leases.coordination.k8s.io", lease())
    cluster.add_node("n1", cpu="4")
    cluster.create("replicasets.apps", replicas("test", 2, exits_after="1s", namespace=cluster.namespace))
    wait_for(lambda: len(_on(cluster)) == 2, "A full node")
    return cluster


@pytest.fixture
def begin(cluster: AnyCluster, tmp_path: Path) -> Iterator[Begin]:
    """Start an installation that acts there, set in some way."""
    (tmp_path / "kubeconfig").write_text(cluster.entrance.kubeconfig(cluster.namespace))
    worker = Worker(tmp_path / "worker")

    def started(**settings: Any) -> Worker:
        tree = queues(tmp_path, prod=4, test=0)
        worker.set_up(kubeconfig=tmp_path / "kubeconfig", tree=tree, min_run_s=0, **settings)
        worker.start()
        return worker

    yield started
    worker.stop()


def _on(cluster: AnyCluster) -> set[str]:
    return {pod["metadata"]["name"] for pod in cluster.list("pods") if pod["spec"].get("nodeName") == "n1"}


def _ask(cluster: AnyCluster) -> None:
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": "2"}}}
    meta = {"name": "ask", "labels": {"yunikorn.apache.org/queue": "root.prod"}}
    cluster.create("pods", {"metadata": meta, "spec": {"priorityClassName": "batch", "containers": [container]}})


def _annotate(cluster: AnyCluster, value: str | None) -> None:
    """As ``kubectl annotate`` does."""
    path = path_of("leases.coordination.k8s.io", "kube-system", "scheduler-admin")
    code, answer = cluster.raw("PATCH", path, {"metadata": {"annotations": {STOP: value}}}, MERGE)
    assert code == 200, answer


def _held_by(worker: Worker, interlock: str) -> bool:
    return [row["hold"] for row in worker.preemptions()] == [interlock]


def test_outside_the_part_nobody_goes_and_the_pod_is_told_and_inside_it_acts(cluster: AnyCluster, begin: Begin) -> None:
    """With the queue of the victims alone nothing is done; with both sides the pod has its room."""
    before = _on(cluster)
    worker = begin(enforce_queues=json.dumps(["root.test"]), publish=True)
    _ask(cluster)
    wait_for(lambda: _held_by(worker, "out-of-scope"), f"A decision that is only told, {worker.log()}")
    wait_for(lambda: [one for one in cluster.list("events") if one["reason"] == "RoomCouldBeMade"], "An Event on it")
    assert _on(cluster) == before
    worker.write(enforce_queues=json.dumps(["root.test", "root.prod"]))
    wait_for(lambda: "ask" in _on(cluster), f"The ask on its node, {worker.log()}")


def test_an_annotation_of_the_lease_stops_it_until_it_is_taken_away(cluster: AnyCluster, begin: Begin) -> None:
    """Whoever may change the Lease needs neither our pages nor our database for that."""
    before = _on(cluster)
    worker = begin()
    _annotate(cluster, "a look at the pager")
    wait_for(lambda: "a look at the pager" in str(worker.rows("SELECT holds FROM clusters_clusterstatus")), "The stop")
    _ask(cluster)
    wait_for(lambda: _held_by(worker, "stopped-in-cluster"), f"A decision that is held back, {worker.log()}")
    assert _on(cluster) == before
    _annotate(cluster, None)
    wait_for(lambda: "ask" in _on(cluster), f"The ask on its node, {worker.log()}")
