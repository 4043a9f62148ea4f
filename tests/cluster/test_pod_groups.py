"""Groups of pods where they are scheduled together: watched, and their preemptions observed."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from engine.cluster.connecting.connection import Connection
from engine.cluster.inspection.feature_gates import scheduler_gate
from engine.cluster.inspection.rights import OBSERVE
from engine.cluster.watching.watcher import ClusterWatcher
from engine.formats.kubernetes.decode import decode_pod
from engine.model.objects import DisruptionMode, GroupEvidence, GroupScheduling, Pod
from engine.model.queue_tree import Queue, QueueTree
from engine.observation.evictions import EvictionSource, Observed, observe
from engine.observation.group_scheduling import conclude
from tests.cluster.test_kueue import closing, watching
from tests.cluster.test_rights import Account
from tests.cluster.test_yunikorn_proxied import own_address
from tests.controlplane.anycluster import AnyCluster, path_of
from tests.controlplane.plane import ControlPlane
from tests.controlplane.pod_groups import GROUPS, add_group, add_pod
from tests.controlplane.wire import STRATEGIC
from tests.waiting import wait_for

ON_THE_REAL_ONE = pytest.mark.parametrize(
    "groups_cluster", [pytest.param("real", marks=pytest.mark.controlplane)], indirect=True
)


@pytest.fixture
def cluster(groups_cluster: AnyCluster) -> AnyCluster:
    return groups_cluster


@pytest.fixture
def watcher(cluster: AnyCluster) -> Iterator[ClusterWatcher]:
    with closing(watching(cluster.connection())) as watcher:
        yield watcher


def observed(watcher: ClusterWatcher, cluster: AnyCluster) -> tuple[Observed, ...]:
    """What a pass of this moment would record."""
    tree = QueueTree([Queue(path="root", parent_declared=True), Queue(path="root.a", namespaces=(cluster.namespace,))])
    return observe(watcher.state(), tree, now_ms=int(time.time() * 1000))


def whole(watcher: ClusterWatcher, cluster: AnyCluster, *victims: str) -> Any:
    """The decision that took all of these victims, once the cluster shows all of it."""
    found = [one for one in observed(watcher, cluster) if {each.pod.name for each in one.victims} == {*victims}]
    return next((one for one in found if one.ask_known and one.certain), None)


def test_a_group_is_followed_from_its_creation_to_its_end(cluster: AnyCluster, watcher: ClusterWatcher) -> None:
    key = (cluster.namespace, "workers")
    uid = add_group(cluster, "workers", "middle", gang=2, mode="all")
    found = wait_for(lambda: watcher.state().scheduling_groups.get(key), "the group is seen")
    assert (found.uid, found.needed, found.priority, found.priority_class) == (uid, 2, 100, "middle")
    assert found.disruption_mode is DisruptionMode.ALL
    assert found.scheduled is None
    member = add_pod(cluster, "worker", "middle", group="workers")
    wait_for(lambda: member in watcher.state().pods, "its pod is seen")
    assert watcher.state().pods[member].scheduling_group == "workers"
    add_pod(cluster, "other", "middle", group="workers")
    wait_for(lambda: watcher.state().scheduling_groups[key].scheduled, "the scheduler says that it is placed")
    cluster.change(GROUPS, "workers", lambda one: one["spec"]["schedulingPolicy"]["gang"].update(minCount=1))
    wait_for(lambda: watcher.state().scheduling_groups[key].needed == 1, "its change is seen")
    for name in ("worker", "other"):
        cluster.delete("pods", name, gracePeriodSeconds=0)
    cluster.delete(GROUPS, "workers")
    wait_for(lambda: key not in watcher.state().scheduling_groups, "it is gone")


def test_a_group_that_can_not_be_placed_says_why(cluster: AnyCluster, watcher: ClusterWatcher) -> None:
    add_group(cluster, "large", "low", gang=2)
    for number in range(2):
        add_pod(cluster, f"large-{number}", "low", group="large", cpu="9")
    group = (cluster.namespace, "large")

    def message() -> str:
        found = watcher.state().scheduling_groups.get(group)
        return found.unschedulable_message if found and found.scheduled is False else ""

    assert "minCount (2) cannot be satisfied: 0 scheduled" in wait_for(message, "why is told")


def test_what_is_preempted_for_a_group_is_one_decision_on_all_nodes(
    cluster: AnyCluster, watcher: ClusterWatcher
) -> None:
    """With the group as the preemptor: its name, its priority, and what its pods wait for together."""
    for name, node in (("v0", "n1"), ("v1", "n1"), ("v2", "n2"), ("v3", "n2")):
        add_pod(cluster, name, "low", node=node)
    since_ms = int(time.time() * 1000)
    uid = add_group(cluster, "gang", "high", gang=4)
    gang = {add_pod(cluster, f"gang-{number}", "high", group="gang") for number in range(4)}
    wait_for(lambda: watcher.state().pods.keys() >= gang, "all of the group is known")  # events come on their own
    found = wait_for(lambda: whole(watcher, cluster, "v0", "v1", "v2", "v3"), "its preemption is seen")
    assert (found.source, found.ask_kind, found.node) == (EvictionSource.KUBE_SCHEDULER, "PodGroup", "")
    assert (found.ask.uid, found.ask.namespace, found.ask.name) == (uid, cluster.namespace, "gang")
    assert (found.ask.priority, found.ask.queue, found.ask.requests["cpu"]) == (1_000, "root.a", 8_000)
    assert {(one.pod.name, one.pod.node) for one in found.victims} == {
        *(("v0", "n1"), ("v1", "n1"), ("v2", "n2"), ("v3", "n2"))
    }
    assert since_ms - 1_000 <= found.at_ms <= int(time.time() * 1000)


def test_a_group_that_goes_as_a_whole_for_a_pod_is_one_decision_at_the_pods_node(
    cluster: AnyCluster, watcher: ClusterWatcher
) -> None:
    """The pod needs one node; the group's pods on the other go with it."""
    add_group(cluster, "together", "low", mode="all")
    for name, node in (("v0", "n1"), ("v1", "n2")):
        add_pod(cluster, name, "low", group="together", node=node, cpu="3")
    uid = add_pod(cluster, "ask", "high", cpu="3")
    found = wait_for(lambda: whole(watcher, cluster, "v0", "v1"), "its preemption is seen")
    assert (found.ask_kind, found.ask.uid, found.ask.name) == ("Pod", uid, "ask")
    assert found.node == wait_for(lambda: watcher.state().pods[uid].nominated_node, "its node is named")
    assert len(observed(watcher, cluster)) == 1


@pytest.fixture
def account(groups_plane: ControlPlane) -> Iterator[Account]:
    """The service account of the manifests."""
    found = Account(groups_plane)
    yield found
    found.take_all()


def scheduler_pod(cluster: AnyCluster, plane: ControlPlane) -> Pod:
    """The pod that the scheduler would run in, as kubeadm makes it: at an address that the API server proxies to."""
    command = ["kube-scheduler", f"--secure-port={plane.scheduler_port}", "--feature-gates=GenericWorkload=true"]
    container = {"name": "kube-scheduler", "image": "registry.k8s.io/kube-scheduler:v1.37.2", "command": command}
    meta = {"name": "kube-scheduler-n1", "namespace": "kube-system"}
    made = cluster.create("pods", {"metadata": meta, "spec": {"schedulerName": "nobody", "containers": [container]}})
    at = {"podIPs": [{"ip": own_address()}]}
    cluster.change("pods", meta["name"], lambda one: one["status"].update(at), meta["namespace"])
    return decode_pod(made)


@ON_THE_REAL_ONE
def test_the_gate_is_known_from_the_schedulers_metrics_with_the_manifest_for_it(
    cluster: AnyCluster, groups_plane: ControlPlane, account: Account
) -> None:
    """Else it is known from the command line of the scheduler's pod."""
    pod = scheduler_pod(cluster, groups_plane)
    found = scheduler_gate(Connection(account.give(OBSERVE)), pod)
    assert found == GroupScheduling(on=True, evidence=GroupEvidence.FLAGS)
    allowed = Connection(account.give("deploy/kube-scheduler.yaml"))
    by_metrics = GroupScheduling(on=True, evidence=GroupEvidence.METRICS)
    wait_for(lambda: scheduler_gate(allowed, pod) == by_metrics, "the metrics may be read")


def test_what_the_scheduler_did_shows_that_the_gate_is_on(cluster: AnyCluster, watcher: ClusterWatcher) -> None:
    """Where the scheduler itself is not visible, and whatever an administrator says."""
    known = GroupScheduling(on=False, evidence=GroupEvidence.SETTING)
    conclusion = lambda: conclude(  # noqa: E731
        watcher.state(), served=watcher.health().groups_served, gate=GroupScheduling(), setting=False
    )
    assert conclusion() == known
    add_group(cluster, "workers", "low")
    add_pod(cluster, "worker", "low", group="workers")
    wait_for(lambda: conclusion() != known, "the scheduler's report is seen")
    assert conclusion() == GroupScheduling(on=True, evidence=GroupEvidence.TRACES)


@ON_THE_REAL_ONE
def test_what_is_preempted_for_the_resize_of_a_running_pod_says_so(
    cluster: AnyCluster, watcher: ClusterWatcher
) -> None:
    """The preemptor runs on the victim's node, and its kubelet has put off the resize."""
    add_pod(cluster, "v0", "low", node="n1")
    uid = add_pod(cluster, "grows", "high", node="n1")
    held = {"resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"cpu": "2"}}
    cluster.change("pods", "grows", lambda one: one["status"]["containerStatuses"][0].update(held))
    wanted = {"name": "main", "resources": {"requests": {"cpu": "3"}}}
    path = path_of("pods", cluster.namespace, "grows", "resize")
    assert cluster.raw("PATCH", path, {"spec": {"containers": [wanted]}}, STRATEGIC)[0] == 200
    deferred = {"type": "PodResizePending", "status": "True", "reason": "Deferred", "message": "the node is full"}
    cluster.change("pods", "grows", lambda one: one["status"]["conditions"].append(deferred))
    found = wait_for(lambda: whole(watcher, cluster, "v0"), "its preemption is seen")
    assert (found.ask.uid, found.ask.name, found.node, found.for_resize) == (uid, "grows", "n1", True)
