"""A worker that is killed at any point is continued by the next: no second eviction, no decision open, no room held."""

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from tests.controlplane.anycluster import AnyCluster
from tests.e2e.manifests import batch, lease, queues, replicas
from tests.enforce.worker import Worker
from tests.runner.suites import sized
from tests.waiting import wait_for

pytestmark = pytest.mark.e2e

POINTS = [
    "intended", "tainted", "tolerated", "nominated", "reserved", "begun",
    "asked 0", "answered 0", "noted 0", "told 0", "asked 1", "answered 1", "noted 1", "told 1", "released",
]  # fmt: skip
"""Every point between two writes, to the database or the cluster, of a decision with two victims."""
ON_BOTH = sized(
    "control-plane", usual=["answered 0"], long=["tainted", "nominated", "answered 0", "answered 1", "released"]
)
"""Those just after a write to the cluster, where its answer is not known any more: on the real API server too."""
CASES = [
    *[("simulated", point) for point in POINTS],
    *[pytest.param("real", point, marks=pytest.mark.controlplane) for point in ON_BOTH],
]


@pytest.fixture
def cluster(cluster: AnyCluster) -> AnyCluster:
    """A full node of six cores: Test holds all over a guarantee of two, its pods take a second to exit."""
    cluster.create("priorityclasses.scheduling.k8s.io", batch())
    cluster.create("leases.coordination.k8s.io", lease())
    cluster.add_node(cpu="6")
    cluster.create("replicasets.apps", replicas("test", 3, exits_after="1s", namespace=cluster.namespace))
    wait_for(lambda: running(cluster, "test") == 3, "A full cluster")
    return cluster


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Worker:
    """A database with tree and cluster, made once."""
    folder = tmp_path_factory.mktemp("template")
    made = Worker(folder)
    made.set_up(kubeconfig=folder / "none", tree=queues(folder, prod=4, test=2), min_run_s=0)
    return made


@pytest.fixture
def workers(template: Worker, cluster: AnyCluster, tmp_path: Path) -> Iterator[list[Worker]]:
    """Two installations that don't know of each other, both of which enforce there; neither runs yet."""
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(cluster.entrance.kubeconfig(cluster.namespace))
    both = [Worker(tmp_path / name) for name in ("one", "two")]
    for each in both:
        each.copy(template, kubeconfig=kubeconfig)
        each.listen(cluster.namespace)
    yield both
    for each in both:
        each.stop()


def running(cluster: AnyCluster, app: str) -> int:
    """How many pods of an application run."""
    pods = [pod for pod in cluster.list("pods") if pod["metadata"]["labels"].get("app") == app]
    return sum(pod["status"].get("phase") == "Running" for pod in pods)


def ask_for_two_pods(cluster: AnyCluster) -> None:
    """A pod of Prod that needs the room of two pods of Test."""
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": "4"}}}
    meta = {"name": "ask", "labels": {"yunikorn.apache.org/queue": "root.prod"}}
    cluster.create("pods", {"metadata": meta, "spec": {"priorityClassName": "batch", "containers": [container]}})


def accepted(cluster: AnyCluster) -> Counter[str]:
    """The pods whose eviction the API server accepted, and how often; ReplicaSets give each pod a name of its own."""
    done = [one for one in cluster.audit if one.subresource == "eviction" and not one.dry_run]
    return Counter(one.name for one in done if one.code == 201)


def kept(cluster: AnyCluster) -> list[dict[str, Any]]:
    """The taints of ours."""
    taints = [taint for node in cluster.list("nodes") for taint in node["spec"].get("taints") or ()]
    return [taint for taint in taints if taint["key"] == RESERVED_TAINT_KEY]


def settled(worker: Worker) -> bool:
    """Whether something was decided, and all that was has ended."""
    states = {row["state"] for row in worker.preemptions()}
    return "closed" in states and states <= {"closed", "on-hold"}


@pytest.mark.parametrize(("cluster", "point"), CASES, indirect=["cluster"])
def test_a_worker_killed_at_any_point_is_continued_without_a_second_eviction(
    point: str, cluster: AnyCluster, workers: list[Worker]
) -> None:
    """One decision, two victims, each evicted once; the ask has its room, and the node is kept no longer.

    Their tenant is told of each once, wherever the worker died.
    """
    worker = workers[0]
    worker.start(fault=f"kill:{point}")
    ask_for_two_pods(cluster)
    worker.wait_killed()
    worker.start()
    wait_for(lambda: settled(worker), f"The decision's end, {worker.log()}")
    [row] = [row for row in worker.preemptions() if row["state"] != "on-hold"]  # for the lease, before the first
    victims = worker.rows(f"SELECT uid, name, state FROM history_victim WHERE decision_id = {row['id']}")
    assert row["ending"] == "bound"
    assert {victim["state"] for victim in victims} == {"exited"}
    assert accepted(cluster) == Counter({victim["name"]: 1 for victim in victims})
    assert len(victims) == 2
    uids = Counter({victim["uid"]: 1 for victim in victims})
    assert worker.told("preempted") == uids
    assert worker.told("about-to-be-preempted") <= uids  # one may have gone until the worker was there again
    wait_for(lambda: not kept(cluster), "A node that is kept no longer")


def test_of_two_installations_one_acts_and_the_other_takes_over(cluster: AnyCluster, workers: list[Worker]) -> None:
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
