"""Beside a scheduler, with victims that take their time: the room is the ask's from the first that goes to the last."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.anycluster import AnyCluster
from tests.e2e.manifests import batch, lease, queues, replicas
from tests.enforce.test_crashes import kept
from tests.enforce.worker import Worker
from tests.waiting import wait_for

pytestmark = pytest.mark.e2e
EXITS_S = (1, 4, 8)


@pytest.fixture
def cluster(cluster: AnyCluster) -> AnyCluster:
    """A full node of six cores: Test holds all over no guarantee; one pod exits at once, one soon, one late."""
    cluster.create("priorityclasses.scheduling.k8s.io", batch())
    cluster.create("leases.coordination.k8s.io", lease())
    cluster.add_node("n1", cpu="6")
    for seconds in EXITS_S:
        cluster.create("replicasets.apps", _exiting_after(seconds, cluster.namespace))
    wait_for(lambda: len(_on(cluster, "n1")) == len(EXITS_S), "A full node")
    return cluster


@pytest.fixture
def worker(cluster: AnyCluster, tmp_path: Path) -> Iterator[Worker]:
    """An installation that acts there."""
    (tmp_path / "kubeconfig").write_text(cluster.entrance.kubeconfig(cluster.namespace))
    made = Worker(tmp_path / "worker")
    made.set_up(kubeconfig=tmp_path / "kubeconfig", tree=queues(tmp_path, prod=9, test=0), min_run_s=0)
    made.start()
    yield made
    made.stop()


def _exiting_after(seconds: int, namespace: str) -> dict[str, Any]:
    """A ReplicaSet of one pod that uses its grace period to the full, and comes back at once."""
    made = replicas("test", 1, exits_after=f"{seconds}s", namespace=namespace)
    name = f"test-{seconds}"
    made["metadata"]["name"] = name
    made["spec"]["selector"]["matchLabels"] = {"set": name}
    made["spec"]["template"]["metadata"]["labels"]["set"] = name
    made["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = seconds
    return made


def _ask(cluster: AnyCluster, name: str, cores: int) -> None:
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": str(cores)}}}
    meta = {"name": name, "labels": {"yunikorn.apache.org/queue": "root.prod"}}
    cluster.create("pods", {"metadata": meta, "spec": {"priorityClassName": "batch", "containers": [container]}})


def _on(cluster: AnyCluster, node: str) -> set[str]:
    return {pod["metadata"]["name"] for pod in cluster.list("pods") if pod["spec"].get("nodeName") == node}


def _decided(worker: Worker, cluster: AnyCluster, name: str) -> list[dict[str, Any]]:
    """What was decided for an ask, oldest first."""
    uid = cluster.get("pods", name)["metadata"]["uid"]
    return worker.rows(f"SELECT * FROM history_decision WHERE ask_uid = '{uid}' ORDER BY id")


def test_until_the_last_victim_has_exited_and_the_ask_runs_nobody_else_comes_there(
    cluster: AnyCluster, worker: Worker
) -> None:
    """Neither whom the victims' ReplicaSets send, nor the next ask, which waits, and then has other room."""
    before = _on(cluster, "n1")
    _ask(cluster, "ask", 6)
    wait_for(lambda: kept(cluster), f"A node that is kept, {worker.log()}")
    _ask(cluster, "next", 2)
    wait_for(lambda: [row["outcome"] for row in _decided(worker, cluster, "next")][-1:] == ["no-candidate"], "No room")
    came: set[str] = set()

    def bound() -> bool:
        here = _on(cluster, "n1")
        came.update(here - before)
        return "ask" in here

    wait_for(bound, f"The ask on its node, {worker.log()}")
    assert came == {"ask"}
    [row] = [
        row for row in _decided(worker, cluster, "ask") if row["outcome"] == "preempt" and row["state"] != "on-hold"
    ]
    wait_for(lambda: not kept(cluster), "A node that is kept no longer")
    ending = f"SELECT ending FROM history_decision WHERE id = {row['id']}"
    wait_for(lambda: worker.rows(ending) != [{"ending": ""}], "The decision's end")
    [ended] = worker.rows(ending)
    victims = worker.rows(f"SELECT state FROM history_victim WHERE decision_id = {row['id']}")
    assert ended == {"ending": "bound"}
    assert [victim["state"] for victim in victims] == ["exited"] * len(EXITS_S)
    cluster.add_node("n2", cpu="2")
    wait_for(lambda: "next" in _on(cluster, "n2") or _decided(worker, cluster, "next")[-1]["node"] == "n2", "Its room")
    assert not [row for row in _decided(worker, cluster, "next") if row["node"] == "n1"]
