"""``kubectl describe`` tells the people of a pod what its page does, with the page's address."""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.controlplane.anycluster import AnyCluster
from tests.e2e.manifests import batch, lease, queues, replicas
from tests.enforce.worker import Worker
from tests.waiting import wait_for

pytestmark = pytest.mark.e2e


@pytest.fixture
def cluster(cluster: AnyCluster) -> AnyCluster:
    """A full node of four cores: two pods of Test hold them over no guarantee, and take their time to go."""
    cluster.create("priorityclasses.scheduling.k8s.io", batch())
    cluster.create("leases.coordination.k8s.io", lease())
    cluster.add_node("n1", cpu="4")
    cluster.create("replicasets.apps", replicas("test", 2, exits_after="30s", namespace=cluster.namespace))
    wait_for(lambda: len([pod for pod in cluster.list("pods") if pod["spec"].get("nodeName")]) == 2, "A full node")
    return cluster


@pytest.fixture
def worker(cluster: AnyCluster, tmp_path: Path) -> Iterator[Worker]:
    """An installation that acts there."""
    (tmp_path / "kubeconfig").write_text(cluster.entrance.kubeconfig(cluster.namespace))
    made = Worker(tmp_path / "worker")
    made.set_up(kubeconfig=tmp_path / "kubeconfig", tree=queues(tmp_path, prod=4, test=0), min_run_s=0)
    made.start()
    yield made
    made.stop()


def test_events_carry_the_sentence_and_the_link(
    cluster: AnyCluster, worker: Worker, kubectl: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """On the victim and on the ask; the victim's condition says the same."""
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": "2"}}}
    meta = {"name": "ask", "labels": {"yunikorn.apache.org/queue": "root.prod"}}
    cluster.create("pods", {"metadata": meta, "spec": {"priorityClassName": "batch", "containers": [container]}})
    wait_for(lambda: worker.rows("SELECT name FROM history_victim WHERE state = 'evicted'"), worker.log())
    [victim] = [row["name"] for row in worker.rows("SELECT name FROM history_victim WHERE state = 'evicted'")]
    space = cluster.namespace

    def events(pod: str) -> str:
        return re.sub(r"\s+", " ", kubectl("describe", "pod", pod).stdout).partition("Events:")[2]

    wait_for(lambda: "Preempted" in events(victim), "An Event on the victim")
    told = events(victim)
    assert f"{victim} was evicted from n1 because prod was below its guarantee" in told
    assert f"Details: http://127.0.0.1:8000/pods/acted-on/{space}/{victim}/" in told
    conditions = cluster.get("pods", victim)["status"]["conditions"]
    [ours] = [one["message"] for one in conditions if one["type"] == "scheduler-admin.io/Preempted"]
    assert ours in told
    asked = events("ask")
    assert "ask needed 2 cores on one node while prod was 4 cores below its guarantee, so pods of test are" in asked
    assert f"Details: http://127.0.0.1:8000/pods/acted-on/{space}/ask/" in asked
