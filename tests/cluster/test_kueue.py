"""Kueue's Workloads on a cluster of either kind: followed where they are served, and missed nowhere else."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from engine.cluster.connecting.connection import Connection
from engine.cluster.inspection.scan import scan_cluster
from engine.cluster.timing import BackOff
from engine.cluster.watching.listing import ReflectorSettings
from engine.cluster.watching.watcher import ClusterWatcher
from engine.model.objects import FlavorQuota, QuotaCluster
from engine.model.queue_tree import Queue, QueueTree
from engine.observation.evictions import EvictionSource, Observed, observe
from tests.controlplane import anycluster, kueue
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.kueue import NEWEST, OLDER
from tests.controlplane.plane import ControlPlane
from tests.waiting import PATIENCE_S, wait_for

TREE = QueueTree([Queue(path="root", parent_declared=True), Queue(path="root.a")])


def watching(connection: Connection) -> ClusterWatcher:
    """One that has begun."""
    settings = ReflectorSettings(shortest_watch_s=0)
    watcher = ClusterWatcher(connection, back_off=lambda: BackOff(0.01, 0.05), settings=settings)
    watcher.start()
    assert watcher.wait_synced(PATIENCE_S)
    return watcher


@contextmanager
def closing(watcher: ClusterWatcher) -> Iterator[ClusterWatcher]:
    """It ends with the test, also with one that fails: else it would ask on while others count what is asked."""
    try:
        yield watcher
    finally:
        assert watcher.stop()


@pytest.fixture
def watcher(connection: Connection) -> Iterator[ClusterWatcher]:
    """It follows a cluster without Kueue."""
    with closing(watching(connection)) as watcher:
        yield watcher


def seen(watcher: ClusterWatcher) -> tuple[Observed, ...]:
    """What a pass of this moment would record."""
    return observe(watcher.state(), TREE, now_ms=int(time.time() * 1000))


def names(watcher: ClusterWatcher) -> set[str]:
    return {one.name for one in watcher.state().workloads.values()}


def run_job(cluster: AnyCluster, name: str, pods: int) -> set[str]:
    """A Job whose pods run on n1, and take a while to go; their names."""
    container = {"name": "main", "image": "i", "command": ["sleep", "inf"], "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 2, "containers": [container]}}
    cluster.add_node()
    cluster.create(
        "jobs.batch",
        {"metadata": {"name": name}, "spec": {"parallelism": pods, "completions": 9, "template": template}},
    )
    made = wait_for(lambda: len(found := cluster.list("pods")) == pods and found, "its pods are made")
    names = {one["metadata"]["name"] for one in made}
    for one in names:
        cluster.running(one)
    return names


def stop_job(cluster: AnyCluster, name: str) -> None:
    """As Kueue's controller does, once its scheduler has said that it is preempted."""
    cluster.change("jobs.batch", name, lambda job: job["spec"].update(suspend=True))


def test_a_cluster_without_it_lacks_nothing(watcher: ClusterWatcher, cluster: AnyCluster) -> None:
    """That its kind is not served is no trouble, neither to passes nor when connecting."""
    wait_for(lambda: watcher.state().pods is not None and not watcher.health().missing, "nothing is missed")
    assert (watcher.health().errors, watcher.health().missing) == ((), {})
    wait_for(lambda: watcher.health().quota_known, "it is known that there is none")
    assert not cluster.real or scan_cluster(cluster.entrance.settings()).unread == ()


@pytest.mark.parametrize("version", [NEWEST, OLDER])
def test_what_it_preempts_is_told_whichever_version_is_served(
    watcher: ClusterWatcher, cluster: AnyCluster, version: str
) -> None:
    """From when it is installed on: the pods of its Job go, for a workload that is known by its name."""
    kueue.install(cluster, version)
    pods = run_job(cluster, "train", 2)
    asker = kueue.add_workload(cluster, "job-web-1", "Job/web", priority=9, version=version)
    kueue.add_workload(cluster, "job-train-1", "Job/train", version=version)
    wait_for(lambda: names(watcher) == {"job-web-1", "job-train-1"}, "both are known")
    kueue.preempt(cluster, "job-train-1", asker, version=version)
    assert seen(watcher) == ()
    stop_job(cluster, "train")
    (found,) = wait_for(
        lambda: (all_ := seen(watcher)) and len(all_[0].victims) == 2 and all_, "its preemption is seen"
    )
    assert (found.source, found.node, found.ask_place) == (EvictionSource.KUEUE, "n1", "/cohort/cq-b")
    assert found.ask is not None
    assert (found.ask.uid, found.ask.name, found.ask.priority) == (asker, "job-web-1", 9)
    assert {(one.pod.name, one.known, one.why, one.place) for one in found.victims} == {
        (name, True, "InCohortReclamation", "/cohort/cq-a") for name in pods
    }
    cluster.send("DELETE", kueue.path(cluster, "job-train-1", version))
    wait_for(lambda: names(watcher) == {"job-web-1"}, "the Workload is gone")
    assert [len(one.victims) for one in seen(watcher)] == [2]


def test_where_it_is_removed_later_that_is_told_and_it_is_followed_once_it_is_back(
    watcher: ClusterWatcher, cluster: AnyCluster
) -> None:
    """A notice: passes go on, and nothing of it is known meanwhile."""
    kueue.install(cluster)
    kueue.add_workload(cluster, "job-train-1", "Job/train")
    wait_for(lambda: names(watcher) == {"job-train-1"}, "it is known")
    kueue.uninstall(cluster)
    wait_for(lambda: "Workload" in watcher.health().missing and not names(watcher), "it is gone, and told")
    assert (watcher.health().synced, watcher.health().errors) == (True, ())
    kueue.install(cluster, OLDER)
    kueue.add_workload(cluster, "job-new-1", "Job/new", version=OLDER)
    wait_for(lambda: names(watcher) == {"job-new-1"} and not watcher.health().missing, "it is back")


def test_a_preemption_of_while_nobody_watched_is_told_by_the_list(connection: Connection, cluster: AnyCluster) -> None:
    """As after a restart, while its pods are still on their way out; once it is admitted again, no more."""
    kueue.install(cluster)
    pods = run_job(cluster, "train", 1)
    kueue.add_workload(cluster, "job-train-1", "Job/train")
    kueue.preempt(cluster, "job-train-1", "uid-unknown")
    stop_job(cluster, "train")
    with closing(watching(connection)) as watcher:
        (found,) = wait_for(lambda: seen(watcher), "it is seen")
        assert {one.pod.name for one in found.victims} == pods
        again(cluster, "job-train-1")
        wait_for(lambda: not seen(watcher), "its word is taken back")


def again(cluster: AnyCluster, name: str) -> None:
    """Its conditions, as Kueue turns them when it admits a Workload again."""
    here = kueue.path(cluster, name)
    found: dict[str, Any] = cluster.send("GET", here)
    for one in found["status"]["conditions"]:
        one.update(status="False", reason="QuotaReserved", message=f"Previously: {one['message']}")
    cluster.send("PUT", f"{here}/status", found)


FLAVOR = {"metadata": {"name": "spot"}, "spec": {"nodeLabels": {"kind": "spot"}}}
LOCAL = {"metadata": {"name": "lq"}, "spec": {"clusterQueue": "cq-a"}}
COHORT = {"metadata": {"name": "cohort"}, "spec": {"parentName": "top"}}
SETTINGS = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "fairSharing": {"preemptionStrategies": ["LessThanInitialShare"]},
}


def cluster_queue(version: str) -> dict[str, Any]:
    """With four cores in one flavor."""
    resources = [{"name": "cpu", "nominalQuota": "4"}]
    groups = [{"coveredResources": ["cpu"], "flavors": [{"name": "spot", "resources": resources}]}]
    above = "cohortName" if version == NEWEST else "cohort"
    return {"metadata": {"name": "cq-a"}, "spec": {above: "cohort", "resourceGroups": groups}}


def make(cluster: AnyCluster, version: str, kind: str, body: dict[str, Any], space: str = "") -> None:
    """An object of Kueue's."""
    plural = f"{kind.lower()}s"
    at = f"/apis/{kueue.GROUP}/{version}/{space and f'namespaces/{space}/'}{plural}"
    cluster.send("POST", at, {"apiVersion": f"{kueue.GROUP}/{version}", "kind": kind, **body})


@pytest.mark.parametrize("version", [NEWEST, OLDER])
def test_the_quota_that_it_decides_by_is_followed(watcher: ClusterWatcher, cluster: AnyCluster, version: str) -> None:
    """Flavors, cohorts and queues, who waits in which, and what changes of it."""
    kueue.install_quota(cluster, version)
    make(cluster, version, "ResourceFlavor", FLAVOR)
    make(cluster, version, "Cohort", COHORT)
    make(cluster, version, "ClusterQueue", cluster_queue(version))
    make(cluster, version, "LocalQueue", LOCAL, cluster.namespace)
    kueue.add_workload(cluster, "job-web-1", "Job/web", version=version, queue="lq")
    found = wait_for(lambda: whole(watcher.state().quota(now_ms=0)), "all of it is known")
    assert (found.queues["cq-a"].cohort, found.cohorts["cohort"].parent) == ("cohort", "top")
    assert (found.queues["cq-a"].quotas, found.queues["cq-a"].active) == ({("spot", "cpu"): FlavorQuota(4000)}, True)
    assert [(one.queue, one.holds) for one in found.workloads] == [("cq-a", False)]
    cluster.send("DELETE", f"/apis/{kueue.GROUP}/{version}/resourceflavors/spot")
    wait_for(lambda: not watcher.state().quota(now_ms=0).queues["cq-a"].active, "nothing is decided for it any more")


def whole(found: QuotaCluster) -> QuotaCluster | None:
    """Once it has come."""
    waits = any(one.queue == "cq-a" for one in found.workloads)
    return found if found.queues and found.cohorts and found.queues["cq-a"].active and waits else None


def test_whether_it_shares_fairly_is_read_from_its_configmap(watcher: ClusterWatcher, cluster: AnyCluster) -> None:
    """Followed as all else; what others keep in its namespace is not looked at."""
    space = "/api/v1/namespaces"
    status, _ = cluster.raw("POST", space, {"metadata": {"name": "kueue-system"}})
    assert status in (201, 409)
    at = f"{space}/kueue-system/configmaps"
    for name, text in (("other", "x"), ("kueue-manager-config", msgspec.json.encode(SETTINGS).decode())):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
        cluster.send("POST", at, body | {"data": {"controller_manager_config.yaml": text}})
    (found,) = wait_for(lambda: tuple(watcher.state().sharing.values()), "its settings are known")
    assert (found.fair, found.strategies) == (True, ("LessThanInitialShare",))
    for name in ("other", "kueue-manager-config"):
        cluster.send("DELETE", f"{at}/{name}")
    wait_for(lambda: not watcher.state().sharing, "it is gone")


@pytest.mark.controlplane
def test_who_may_not_read_them_is_told_so(plane: ControlPlane) -> None:
    """On a real cluster, whose API server refuses them served or not."""
    verbs = ["list", "watch"]
    core = ["nodes", "pods", "events", "namespaces", "persistentvolumes", "persistentvolumeclaims", "resourcequotas"]
    rules = [
        {"apiGroups": [""], "resources": core, "verbs": verbs},
        {"apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses", "podgroups"], "verbs": verbs},
        {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": verbs},
        {"apiGroups": ["scheduling.volcano.sh"], "resources": ["*"], "verbs": verbs},
        {"apiGroups": ["kube-arbitrator.incubator.k8s.io"], "resources": ["*"], "verbs": verbs},
    ]
    with anycluster.real(plane) as cluster:
        settings = cluster.account(*rules)
        with closing(watching(Connection(settings))) as watcher:
            missing = wait_for(lambda: len(found := watcher.health().missing) == 6 and found, "it is told")
            assert watcher.health().quota_known is False
        assert sorted(missing) == ["ClusterQueue", "Cohort", "ConfigMap", "LocalQueue", "ResourceFlavor", "Workload"]
        assert 'cannot list resource "workloads"' in missing["Workload"]
        kinds = ("workloads", "resourceflavors", "clusterqueues", "cohorts", "localqueues")
        told = tuple(f"{verb} {kind}.kueue.x-k8s.io" for kind in kinds for verb in ("list", "watch"))
        assert scan_cluster(settings).unread == (*told, "list configmaps", "watch configmaps")
