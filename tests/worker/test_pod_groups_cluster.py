"""What kube-scheduler preempts for a group of pods is a decision of the product's, with the group."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.model.decision import decode as decode_decision
from engine.observation.evictions import Agreement, compare_with_replay, decode
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.watching.watchers import WATCHES
from scheduler_admin.decisions.models import Decision
from scheduler_admin.sync import tasks
from scheduler_admin.sync.models import Copy
from scheduler_admin.worker.passes import run_pass
from tests.builders import queue, tree
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.pod_groups import add_group, add_pod
from tests.e2e.manifests import batch, lease, replicas
from tests.waiting import wait_for
from tests.worker.conftest import add_cluster

pytestmark = pytest.mark.django_db


@pytest.fixture
def there(groups_cluster: AnyCluster) -> Iterator[AnyCluster]:
    yield groups_cluster
    WATCHES.keep(())


@pytest.fixture
def cluster(there: AnyCluster, tmp_path: Path) -> Cluster:
    """The product watches it; the test's namespace is a queue."""
    path = tmp_path / "kubeconfig"
    path.write_text(there.entrance.kubeconfig(there.namespace))
    shape = tree({"a": queue(namespaces=(there.namespace,))})
    return add_cluster(shape, mode="observe", kubeconfig=str(path))


def passed(cluster: Cluster) -> ClusterStatus | None:
    """The status after another pass; None as long as the cluster was not read."""
    run_pass(cluster=cluster, watch=WATCHES.of(cluster))
    return ClusterStatus.objects.filter(cluster=cluster, error="", pass_at__isnull=False).first()


def test_what_kube_scheduler_preempts_for_a_group_is_a_decision(cluster: Cluster, there: AnyCluster) -> None:
    """With the group's name and all victims, on both nodes."""
    for name, node in (("v0", "n1"), ("v1", "n1"), ("v2", "n2"), ("v3", "n2")):
        add_pod(there, name, "low", node=node)
    wait_for(lambda: passed(cluster), "the cluster is read")
    uid = add_group(there, "gang", "high", gang=4)
    for number in range(4):
        add_pod(there, f"gang-{number}", "high", group="gang")

    def recorded() -> Decision | None:
        passed(cluster)
        row = Decision.objects.filter(source="kube-scheduler", ask_uid=uid).first()
        return row if row and row.victims.count() == 4 and row.ask_priority is not None else None

    row = wait_for(recorded, "it is recorded")
    assert row is not None
    seen = decode(row.document)
    assert seen.ask is not None
    assert (seen.ask_kind, seen.ask.name, seen.ask.namespace) == ("PodGroup", "gang", there.namespace)
    assert (row.node, row.ask_queue, row.ask_priority, row.ask_requests["cpu"]) == ("", "root.a", 1_000, 8_000)
    assert {(one.name, one.node) for one in row.victims.all()} == {
        *(("v0", "n1"), ("v1", "n1"), ("v2", "n2"), ("v3", "n2"))
    }
    assert Decision.objects.filter(source="kube-scheduler").count() == 1
    comparison = compare_with_replay(seen)
    assert comparison is not None
    assert comparison.agreement is Agreement.SAME
    assert row.state == Decision.State.WAITING


def test_what_kube_scheduler_preempts_for_a_group_ends_when_it_runs(cluster: Cluster, there: AnyCluster) -> None:
    """A while after its victims have gone, or at once; by then all of them have."""
    for name, node in (("v0", "n1"), ("v1", "n1"), ("v2", "n2"), ("v3", "n2")):
        add_pod(there, name, "low", node=node, exits_after_s=2)
    wait_for(lambda: passed(cluster), "the cluster is read")
    add_group(there, "gang", "high", gang=4)
    for number in range(4):
        add_pod(there, f"gang-{number}", "high", group="gang")

    def ended() -> Decision | None:
        passed(cluster)
        return Decision.objects.filter(source="kube-scheduler", ask_group="gang", state="closed").first()

    row = wait_for(ended, "it ends")
    assert row is not None
    assert (row.ending, row.victims.filter(state="exited").count()) == ("bound", 4)
    assert sorted(row.steps.get(kind="closed").note.split(", ")) == ["n1", "n2"]
    assert len(running(there, "gang")) == 4


def test_a_pass_records_how_groups_are_scheduled(cluster: Cluster, there: AnyCluster) -> None:
    """Unknown, as the scheduler runs in no pod; until it has reported on a group."""

    def found() -> dict[str, object]:
        tasks.visit_copy(Copy.objects.get_or_create(cluster=cluster)[0].pk)
        status = passed(cluster)
        return dict(status.group_scheduling) if status else {}

    wait_for(lambda: found() == {"on": None, "evidence": ""}, "it is unknown")
    Cluster.objects.update(group_scheduling="off")
    cluster.refresh_from_db()
    wait_for(lambda: found() == {"on": False, "evidence": "setting"}, "it is what the setting says")
    add_group(there, "workers", "low")
    add_pod(there, "worker", "low", group="workers")
    wait_for(lambda: found() == {"on": True, "evidence": "traces"}, "it is what the scheduler did")


@pytest.fixture
def acting(there: AnyCluster, tmp_path: Path) -> Cluster:
    """The product acts there: Prod is promised all, and Test, which fills both nodes, nothing."""
    there.create("leases.coordination.k8s.io", lease())
    path = tmp_path / "kubeconfig"
    path.write_text(there.entrance.kubeconfig(there.namespace))
    shape = tree({"prod": queue("8", delay_ms=1), "test": queue(delay_ms=1)})
    there.create("priorityclasses.scheduling.k8s.io", batch())
    there.create("replicasets.apps", replicas("test", 4, exits_after="1s", namespace=there.namespace))
    wait_for(lambda: len(running(there, "test")) == 4, "both nodes are full")
    return add_cluster(shape, kubeconfig=str(path), min_run_s=0)


def running(there: AnyCluster, name: str) -> dict[str, str]:
    """The pods whose names begin so and that have a node, with their nodes."""
    pods = {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in there.list("pods")}
    return {pod: node for pod, node in pods.items() if pod.startswith(name) and node}


def test_room_is_made_for_a_group_that_kube_scheduler_then_starts_as_a_whole(
    acting: Cluster, there: AnyCluster
) -> None:
    """Its pods may preempt by the product alone, and have the same priority as those of Test."""
    wait_for(lambda: passed(acting), "the cluster is read")
    add_group(there, "gang", "batch", gang=4)
    for number in range(4):
        add_pod(there, f"gang-{number}", "batch", group="gang", queue="root.prod")

    def ended() -> Decision | None:
        passed(acting)
        return Decision.objects.filter(ask_group="gang", outcome="preempt", state="closed").first()

    row = wait_for(ended, "the decision ends")
    assert row is not None
    assert (row.ending, row.victims.filter(state="exited").count()) == ("bound", 4)
    assert [check["law"] for check in row.laws if not check["holds"]] == []
    decided = decode_decision(row.document)
    assert running(there, "gang") == {pod.name: decided.nodes[pod.uid] for pod in decided.placed}
    assert len(decided.placed) == 4
    assert all(not there.get("nodes", name)["spec"].get("taints") for name in ("n1", "n2"))
    assert Decision.objects.filter(source="kube-scheduler").count() == 0
