"""A worker that is killed at any point is continued by the next: no second eviction, no decision open, no room held."""

import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.feasibility.nodes import RESERVED_TAINT_KEY
from scheduler_admin.demo.environment import BASE
from tests.e2e.manifests import manifests, queues, run_together
from tests.e2e.product import SimulatedCluster, wait_for
from tests.enforce.worker import Worker

pytestmark = pytest.mark.e2e

POINTS = [
    "intended", "tainted", "tolerated", "nominated", "reserved", "begun",
    "asked 0", "answered 0", "noted 0", "told 0", "asked 1", "answered 1", "noted 1", "told 1", "released",
]  # fmt: skip
"""Every point between two writes, to the database or the cluster, of a decision with two victims."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[SimulatedCluster]:
    """A full node of six cores: Test holds all over a guarantee of two, its pods take a second to exit."""
    cluster = SimulatedCluster("simulator", tmp_path / "simulator")
    cluster.folder.mkdir()
    full = manifests(tmp_path, nodes=[6], prod=0, test=3)
    with (cluster.folder / "log").open("wb") as log:
        process = subprocess.Popen(cluster.command(full), cwd=BASE, stdout=log, stderr=log)
        try:
            wait_for(cluster.kubeconfig.exists, "The simulated cluster")
            wait_for(lambda: run_together(cluster, prod=0, test=3), "A full cluster")
            yield cluster
        finally:
            process.terminate()
            process.wait(10)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Worker:
    """A database with tree and cluster, made once."""
    folder = tmp_path_factory.mktemp("template")
    made = Worker(folder)
    made.set_up(kubeconfig=folder / "none", tree=queues(folder, prod=4, test=2))
    return made


@pytest.fixture
def workers(template: Worker, cluster: SimulatedCluster, tmp_path: Path) -> Iterator[list[Worker]]:
    """Two installations that don't know of each other, both of which enforce there; neither runs yet."""
    both = [Worker(tmp_path / name) for name in ("one", "two")]
    for each in both:
        each.copy(template, kubeconfig=cluster.kubeconfig)
    yield both
    for each in both:
        each.stop()


def ask_for_two_pods(cluster: SimulatedCluster) -> None:
    """A pod of Prod that needs the room of two pods of Test."""
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": "4"}}}
    meta = {"name": "ask", "labels": {"yunikorn.apache.org/queue": "root.prod"}}
    pod = {"metadata": meta, "spec": {"priorityClassName": "batch", "containers": [container]}}
    cluster.request("POST", "/api/v1/namespaces/prod/pods", pod)


def accepted(cluster: SimulatedCluster) -> Counter[str]:
    """The pods whose eviction the API server accepted, and how often; ReplicaSets give each pod a name of its own."""
    done = [one for one in cluster.audit() if one["subresource"] == "eviction" and not one["dry_run"]]
    return Counter(one["name"] for one in done if one["code"] == 201)


def kept(cluster: SimulatedCluster) -> list[str]:
    """The nodes that carry a taint of ours."""
    nodes = cluster.request("GET", "/api/v1/nodes")["items"]
    return [
        node["metadata"]["name"]
        for node in nodes
        if any(taint["key"] == RESERVED_TAINT_KEY for taint in node["spec"].get("taints") or ())
    ]


def settled(worker: Worker) -> bool:
    """Whether something was decided, and all that was has ended."""
    states = {row["state"] for row in worker.preemptions()}
    return "closed" in states and states <= {"closed", "held"}


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_at_any_point_is_continued_without_a_second_eviction(
    point: str, cluster: SimulatedCluster, workers: list[Worker]
) -> None:
    """One decision, two victims, each evicted once; the ask has its room, and the node is kept no longer."""
    worker = workers[0]
    worker.start(fault=f"kill:{point}")
    ask_for_two_pods(cluster)
    worker.wait_killed()
    worker.start()
    wait_for(lambda: settled(worker), f"The decision's end, {worker.log()}")
    [row] = worker.preemptions()
    victims = worker.rows("SELECT name, state FROM history_victim")
    assert row["ending"] == "bound"
    assert {victim["state"] for victim in victims} == {"gone"}
    assert accepted(cluster) == Counter({victim["name"]: 1 for victim in victims})
    assert len(victims) == 2
    wait_for(lambda: not kept(cluster), "A node that is kept no longer")


def test_of_two_installations_one_acts_and_the_other_takes_over(
    cluster: SimulatedCluster, workers: list[Worker]
) -> None:
    """The first is stopped with a request on its tongue, past its lease, and goes on: that one request may land."""
    first, second = workers
    first.start(fault="stop:asked 0")
    ask_for_two_pods(cluster)
    wait_for(lambda: first.state == "T", "The first, stopped")
    second.start()
    wait_for(lambda: settled(second), f"The end of the second's decision, {second.log()}")
    before = accepted(cluster)
    first.send(signal.SIGCONT)
    second.stop()
    wait_for(lambda: settled(first), f"The end of the first's decision, {first.log()}")
    assert sum((accepted(cluster) - before).values()) <= 1
    assert max(accepted(cluster).values()) == 1
    assert len(accepted(cluster)) == 2
    wait_for(lambda: not kept(cluster), "A node that is kept no longer")
