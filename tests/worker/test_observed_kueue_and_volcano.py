"""What Kueue and Volcano preempt becomes a decision, as what kube-scheduler preempts does: once, whole, to its end."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from engine.model.objects import Pod, Preempted, Workload
from engine.observation.evictions import decode
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.exports import as_json
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.selectors.decisions import with_victims
from tests.builders import node, pod, queue, tree
from tests.counts.builders import run_and_check as run_pass
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TREE = tree({"tenant-1": queue(fence=True), "tenant-1.a": queue("4", namespaces=("one",)), "b": queue("2")})


def ago_ms(seconds: float) -> int:
    return int((datetime.now(UTC) - timedelta(seconds=seconds)).timestamp() * 1000)


def running(name: str, on: str = "n1") -> Pod:
    """A pod of the Job train."""
    return pod(name, node=on, queue="b", controller="Job/train", created_ms=ago_ms(600))


def going(one: Pod, *, ago: float = 4) -> Pod:
    return msgspec.structs.replace(one, terminating=True, deleted_ms=ago_ms(ago))


def train(asker: str = "uid-web", *, ago: float = 5) -> Workload:
    """The Workload of that Job, which Kueue preempted."""
    told = Preempted(
        uid="uid-train",
        namespace="ns",
        name="job-train-1",
        at_ms=ago_ms(ago),
        ask_uid=asker,
        ask_kind="Workload",
        why="InCohortReclamation",
        place="/cohort/cq-b",
        ask_place="/cohort/cq-a",
    )
    return Workload(uid="uid-train", namespace="ns", name="job-train-1", owners=("Job/train",), preempted=told)


WEB = Workload(uid="uid-web", namespace="one", name="job-web-1", owners=("Job/web",), priority=9)


@pytest.fixture
def cluster(db: None) -> Cluster:
    """Somebody's cluster, only observed."""
    return add_cluster(TREE, mode="observe")


@pytest.fixture
def watch() -> Watch:
    """The Job train runs on two nodes."""
    return Watch(node("n1", 2), node("n2", 2), running("train-0"), running("train-1", "n2"), WEB)


@pytest.fixture
def preempted(watch: Watch) -> Watch:
    """Kueue has preempted it for web, and its first pod is on its way out."""
    watch.put(train(), going(watch.state.pods["uid-train-0"]))
    return watch


def observed() -> Decision:
    """The one decision that is not the engine's."""
    return Decision.objects.exclude(source="engine").get()


def names(row: Decision) -> list[str]:
    return [one.name for one in row.victims.all()]


def test_a_preemption_by_kueue_is_a_decision(cluster: Cluster, preempted: Watch) -> None:
    """For a Workload, which has no page of a pod's; by Kueue's own word for why."""
    run_pass(cluster=cluster, watch=preempted)
    row = observed()
    assert (row.source, row.outcome, row.reason) == ("kueue", "preempt", "InCohortReclamation")
    assert (row.ask_uid, row.ask_name, row.ask_application) == ("uid-web", "", "Job/web")
    assert (row.ask_namespace, row.ask_queue, row.ask_priority) == ("one", "root.tenant-1.a", 9)
    assert [(one.name, one.node, one.state) for one in row.victims.all()] == [("train-0", "n1", "evicted")]
    assert (decode(row.document).ask_place, decode(row.document).victims[0].place) == ("/cohort/cq-a", "/cohort/cq-b")


def test_its_pods_join_it_as_they_begin_to_go_wherever_they_ran(cluster: Cluster, preempted: Watch) -> None:
    """The Job controller deletes one after the other."""
    run_pass(cluster=cluster, watch=preempted)
    assert (observed().node, names(observed())) == ("n1", ["train-0"])
    preempted.put(going(preempted.state.pods["uid-train-1"], ago=1))
    run_pass(cluster=cluster, watch=preempted)
    assert (observed().node, names(observed())) == ("", ["train-0", "train-1"])


def test_it_is_recorded_once_also_by_a_worker_that_starts_anew(cluster: Cluster, preempted: Watch) -> None:
    """It knows nothing of what was settled, and of pods that have left nothing at all."""
    run_pass(cluster=cluster, watch=preempted)
    preempted.settled.clear()
    run_pass(cluster=cluster, watch=preempted)
    anew = Watch(node("n1", 2), node("n2", 2), going(running("train-0")), train(), WEB)
    run_pass(cluster=cluster, watch=anew)
    assert names(observed()) == ["train-0"]
    run_pass(cluster=cluster, watch=Watch(node("n1", 2), train(), WEB))
    assert names(observed()) == ["train-0"]


def test_a_second_preemption_of_the_same_job_is_another_decision(cluster: Cluster, preempted: Watch) -> None:
    """It was admitted again, and its new pods went for the same asker."""
    preempted.put(going(preempted.state.pods["uid-train-1"]))
    run_pass(cluster=cluster, watch=preempted)
    Decision.objects.update(first_seen=datetime.now(UTC) - timedelta(minutes=10))
    preempted.gone("train-0", "train-1")
    preempted.put(train(ago=3), going(running("train-2"), ago=2))
    run_pass(cluster=cluster, watch=preempted)
    rows = Decision.objects.filter(source="kueue").order_by("pk")
    assert [names(row) for row in rows] == [["train-0", "train-1"], ["train-2"]]


def test_a_pod_that_others_evicted_first_stays_theirs(cluster: Cluster, watch: Watch) -> None:
    """One pod goes once, whatever is said of it later."""
    evicted = {"disruption": "EvictionByEvictionAPI", "disrupted_ms": ago_ms(5)}
    watch.put(msgspec.structs.replace(going(watch.state.pods["uid-train-0"]), **evicted))
    run_pass(cluster=cluster, watch=watch)
    watch.put(train())
    run_pass(cluster=cluster, watch=watch)
    assert (observed().source, names(observed())) == ("api-eviction", ["train-0"])


def test_it_is_closed_once_its_victims_have_gone(cluster: Cluster, preempted: Watch) -> None:
    """What asked is no pod, so that it was bound is nobody's to see."""
    run_pass(cluster=cluster, watch=preempted)
    assert observed().state == "waiting"
    preempted.gone("train-0")
    run_pass(cluster=cluster, watch=preempted)
    assert (observed().state, observed().ending) == ("closed", "")


def test_a_pod_that_begins_to_go_after_the_others_have_gone_is_followed_too(cluster: Cluster, preempted: Watch) -> None:
    """The decision ends with the last of them."""
    run_pass(cluster=cluster, watch=preempted)
    preempted.gone("train-0")
    run_pass(cluster=cluster, watch=preempted)
    assert observed().state == "closed"
    preempted.put(going(preempted.state.pods["uid-train-1"], ago=1))
    run_pass(cluster=cluster, watch=preempted)
    assert (observed().state, observed().closed_at, names(observed())) == ("waiting", None, ["train-0", "train-1"])
    preempted.gone("train-1")
    run_pass(cluster=cluster, watch=preempted)
    assert (observed().state, [one.state for one in observed().victims.all()]) == ("closed", ["exited", "exited"])
    assert [one.kind for one in observed().steps.all()].count("closed") == 1


def evicts(watch: Watch, name: str, why: str = "reclaim") -> None:
    """Volcano's Event on a pod, which it deletes."""
    watch.put(going(watch.state.pods[f"uid-{name}"]))
    told = Preempted(uid=f"uid-{name}", namespace="ns", name=name, at_ms=ago_ms(5), why=why)
    watch.state.volcano[f"event-{name}"] = told


def test_a_preemption_by_volcano_is_a_decision_for_nobody_known(cluster: Cluster, watch: Watch) -> None:
    """Each node's and each action's is one of its own; a late word joins its like."""
    watch.put(running("train-2"), running("train-3"))
    for name in ("train-0", "train-1"):
        evicts(watch, name)
    evicts(watch, "train-2", "preempt")
    run_pass(cluster=cluster, watch=watch)
    evicts(watch, "train-3")
    for _ in range(2):
        watch.settled.clear()
        run_pass(cluster=cluster, watch=watch)
    rows = Decision.objects.filter(source="volcano").order_by("node", "reason")
    assert [(row.node, row.reason, row.ask_uid, names(row)) for row in rows] == [
        ("n1", "volcano-preempt", "", ["train-2"]),
        ("n1", "volcano-reclaim", "", ["train-0", "train-3"]),
        ("n2", "volcano-reclaim", "", ["train-1"]),
    ]


def test_exports_say_who_decided(cluster: Cluster, preempted: Watch) -> None:
    """In the same column as for all."""
    preempted.put(msgspec.structs.replace(running("other-0"), controller="Job/other"))
    evicts(preempted, "other-0")
    run_pass(cluster=cluster, watch=preempted)
    others = with_victims(Decision.objects.exclude(source="engine").order_by("source"))
    written = msgspec.json.decode("".join(as_json(others)))
    assert [(one["source"], one["reason"], one["pending_pod_application"]) for one in written] == [
        ("kueue", "InCohortReclamation", "Job/web"),
        ("volcano", "volcano-reclaim", ""),
    ]
