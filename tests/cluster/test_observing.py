"""What others evict, on a cluster of either kind: each way of going is told by whom, for whom and why."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from engine.cluster.connecting.connection import Connection
from engine.cluster.timing import BackOff
from engine.cluster.watching.watcher import ClusterWatcher
from engine.model.queue_tree import Queue, QueueTree
from engine.observation.evictions import EvictionSource, Observed, observe
from tests.controlplane.anycluster import AnyCluster
from tests.waiting import PATIENCE_S, wait_for


@pytest.fixture
def watcher(connection: Connection, cluster: AnyCluster) -> Iterator[ClusterWatcher]:
    """It follows a node of four cores, all taken by pods of low priority."""
    for name, value in (("low", 10), ("high", 1_000)):
        cluster.create("priorityclasses.scheduling.k8s.io", {"metadata": {"name": name}, "value": value})
    cluster.add_node()
    for number in range(4):
        cluster.add_pod(f"v{number}", node="n1", priorityClassName="low", terminationGracePeriodSeconds=2)
    for number in range(4):
        cluster.running(f"v{number}")
    watcher = ClusterWatcher(connection, back_off=lambda: BackOff(0.001, 0.01))
    watcher.start()
    assert watcher.wait_synced(PATIENCE_S)
    yield watcher
    assert watcher.stop()


def seen(watcher: ClusterWatcher, cluster: AnyCluster, *, events: bool = True) -> tuple[Observed, ...]:
    """What a pass of this moment would record."""
    state = watcher.state()
    if not events:
        state.preempted.clear()
    tree = QueueTree([Queue(path="root", parent_declared=True), Queue(path="root.a", namespaces=(cluster.namespace,))])
    return observe(state, tree, now_ms=int(time.time() * 1000), events=events)


def add_ask(cluster: AnyCluster, name: str = "ask", cpu: str = "1") -> str:
    """The cluster's own scheduler is to find room for it; its uid."""
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    spec = {"schedulerName": "default-scheduler", "priorityClassName": "high", "containers": [container]}
    return cluster.add_pod(name, **spec)["metadata"]["uid"]


def test_what_the_scheduler_preempts_is_told_by_its_event(watcher: ClusterWatcher, cluster: AnyCluster) -> None:
    """Both victims, with whom they went for and all of its numbers: an Event may be read before the pods it names."""
    uid = add_ask(cluster, cpu="2")

    def whole() -> list[Observed]:
        found = seen(watcher, cluster)
        return [one for one in found if len(one.victims) == 2 and one.certain and one.ask_known]

    (found,) = wait_for(whole, "its preemption is seen")
    assert (found.source, found.node, found.certain) == (EvictionSource.KUBE_SCHEDULER, "n1", True)
    assert found.ask is not None
    assert (found.ask.uid, found.ask.name, found.ask.priority, found.ask.queue) == (uid, "ask", 1_000, "root.a")
    assert [(one.known, one.pod.priority, one.pod.requests["cpu"]) for one in found.victims] == [(True, 10, 1_000)] * 2


def test_without_its_event_the_nomination_tells_for_whom(watcher: ClusterWatcher, cluster: AnyCluster) -> None:
    """Who may not read Events sees the victim's condition, and which pod waits for its room."""
    uid = add_ask(cluster)

    def told_for_whom() -> list[Observed]:
        return [one for one in seen(watcher, cluster, events=False) if one.ask]

    (found,) = wait_for(told_for_whom, "its preemption is seen, and for whom")
    assert found.ask is not None
    assert (found.source, found.ask.uid, found.ask_inferred) == (EvictionSource.KUBE_SCHEDULER, uid, True)
    assert len(found.victims) == 1


def yunikorn_says(cluster: AnyCluster, name: str, uid: str, message: str) -> None:
    """An Event on a pod as yunikorn-k8shim writes it (pkg/cache/context.go, PublishEvents)."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    event = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{uid[:8]}", "namespace": cluster.namespace},
        "regarding": {"kind": "Pod", "apiVersion": "v1", "namespace": cluster.namespace, "name": name, "uid": uid},
        "reason": "Informational",
        "action": "Informational",
        "type": "Normal",
        "note": message,
        "eventTime": now,
        "reportingController": "yunikorn",
        "reportingInstance": "yunikorn-scheduler-0",
    }
    cluster.send("POST", f"/apis/events.k8s.io/v1/namespaces/{cluster.namespace}/events", event)


def test_what_yunikorn_preempts_is_told_by_its_event(watcher: ClusterWatcher, cluster: AnyCluster) -> None:
    """It deletes the pod and says for whom; what else it says of pods is not kept."""
    uids = {name: cluster.get("pods", name)["metadata"]["uid"] for name in ("v0", "v1")}
    asker = cluster.add_pod("ask", schedulerName="yunikorn")["metadata"]["uid"]
    yunikorn_says(cluster, "v1", uids["v1"], f"Request '{uids['v1']}' does not fit in queue 'root.a'")
    yunikorn_says(cluster, "v0", uids["v0"], f"Preempted by {asker} from application app-1 in root.a")
    cluster.delete("pods", "v0")
    (found,) = wait_for(lambda: seen(watcher, cluster), "its preemption is seen")
    assert found.ask is not None
    assert (found.source, found.node, found.ask.name) == (EvictionSource.YUNIKORN, "n1", "ask")
    assert [(one.pod.name, one.known) for one in found.victims] == [("v0", True)]
    assert len(watcher.state().yunikorn) == 1


def volcano_says(cluster: AnyCluster, name: str, uid: str, message: str) -> None:
    """An Event on a pod as Volcano's recorder writes it (pkg/scheduler/cache/cache.go, Evict)."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    event = {
        "metadata": {"name": f"{name}.{uid[:8]}", "namespace": cluster.namespace},
        "involvedObject": {"kind": "Pod", "apiVersion": "v1", "namespace": cluster.namespace, "name": name, "uid": uid},
        "reason": "Evict",
        "type": "Warning",
        "message": message,
        "source": {"component": "volcano"},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
    cluster.create("events", event)


def test_what_volcano_preempts_is_told_by_its_event(watcher: ClusterWatcher, cluster: AnyCluster) -> None:
    """It deletes the pod, and for whom it does not say."""
    uid = cluster.get("pods", "v0")["metadata"]["uid"]
    volcano_says(cluster, "v0", uid, "Pod is evicted, because of reclaim")
    cluster.delete("pods", "v0")
    (found,) = wait_for(lambda: seen(watcher, cluster), "its preemption is seen")
    assert (found.source, found.node, found.ask) == (EvictionSource.VOLCANO, "n1", None)
    assert [(one.pod.name, one.known, one.why) for one in found.victims] == [("v0", True, "reclaim")]


def test_what_is_evicted_through_the_api_is_told(watcher: ClusterWatcher, cluster: AnyCluster) -> None:
    """By whom, the cluster does not say."""
    connection, path = cluster.connection(), f"/api/v1/namespaces/{cluster.namespace}/pods/v0/eviction"
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "v0", "namespace": cluster.namespace}}
    connection.request("POST", path, body=body)
    told(watcher, cluster, EvictionSource.API_EVICTION)


def told(watcher: ClusterWatcher, cluster: AnyCluster, source: EvictionSource, said: str = "") -> None:
    """v0 went by that source alone."""
    (found,) = wait_for(lambda: seen(watcher, cluster), "its going is seen")
    (victim,) = found.victims
    assert (found.source, found.ask, victim.pod.name, victim.known) == (source, None, "v0", True)
    assert victim.said == said


def end(cluster: AnyCluster, by: str, words: str, **status: Any) -> None:
    """Write on v0 what its controller or its node would write."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    condition = {"type": "DisruptionTarget", "status": "True", "reason": by, "message": words}

    def write(pod: dict[str, Any]) -> None:
        pod["status"].setdefault("conditions", []).append({**condition, "lastTransitionTime": now})
        pod["status"].update(status)

    cluster.change("pods", "v0", write)


def test_what_a_taint_drives_away_is_told(watcher: ClusterWatcher, cluster: AnyCluster) -> None:
    """Its controller marks the pod and deletes it; on the real control plane it does so itself."""
    if cluster.real:
        tolerates = {"key": "away", "operator": "Exists"}
        for name in ("v1", "v2", "v3"):
            cluster.change("pods", name, lambda pod: pod["spec"].setdefault("tolerations", []).append(tolerates))
        taint = {"key": "away", "value": "now", "effect": "NoExecute"}
        cluster.change("nodes", "n1", lambda node: node["spec"].update(taints=[taint]))
    else:
        end(cluster, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
        cluster.delete("pods", "v0")
    told(watcher, cluster, EvictionSource.TAINT_MANAGER)


def test_what_goes_with_its_node_is_told(watcher: ClusterWatcher, cluster: AnyCluster) -> None:
    """The garbage collector marks the pod as failed and deletes it at once."""
    end(cluster, "DeletionByPodGC", "PodGC: node no longer exists", phase="Failed")
    cluster.delete("pods", "v0", gracePeriodSeconds=0)
    told(watcher, cluster, EvictionSource.POD_GC)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("Evicted", "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi."),
        ("Preempting", "Pod was preempted by Kubelet to accommodate a critical pod."),
        ("Terminated", "Pod was terminated in response to imminent node shutdown."),
    ],
)
def test_what_a_node_ends_is_told_in_its_words(
    watcher: ClusterWatcher, cluster: AnyCluster, reason: str, said: str
) -> None:
    """The pod stays, as failed: nobody deletes it."""
    end(cluster, "TerminationByKubelet", said, phase="Failed", reason=reason, message=said)
    told(watcher, cluster, EvictionSource.KUBELET, said)
