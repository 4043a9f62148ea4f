"""The whole picture of a cluster, kept current."""

import time
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.timing import BackOff
from engine.cluster.watching.tables import TABLES
from engine.cluster.watching.watcher import ClusterWatcher
from engine.model.objects import Shield
from engine.model.queue_tree import Queue, QueueTree
from engine.model.snapshot import Protection
from engine.observation.evictions import observe, sighting_keys
from tests.builders import pod
from tests.cluster.doubles import ManualClock, scripted
from tests.controlplane.anycluster import AnyCluster
from tests.waiting import PATIENCE_S, wait_for


def tree(cluster: AnyCluster) -> QueueTree:
    return QueueTree([Queue(path="root", parent_declared=True), Queue(path="root.a", namespaces=(cluster.namespace,))])


@pytest.fixture
def watcher(connection: Connection) -> Iterator[ClusterWatcher]:
    """Return a watcher that is not started; it is stopped after the test."""
    watcher = ClusterWatcher(connection, back_off=lambda: BackOff(0.001, 0.01))
    yield watcher
    assert watcher.stop(), "a thread did not stop"


def test_the_picture_is_whole_once_synced(cluster: AnyCluster, watcher: ClusterWatcher):
    """Nodes, pods, priority classes and budgets are there, in the engine's types, under the tree."""
    cluster.add_node()
    cluster.add_pod("p1", node="n1", priorityClassName="system-node-critical")
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {}}}
    cluster.create("poddisruptionbudgets.policy", budget)
    watcher.start()
    assert watcher.wait_synced(PATIENCE_S)
    snapshot = watcher.snapshot(tree(cluster), now_ms=5, protection=Protection())
    (pod,) = snapshot.pods
    assert (snapshot.now_ms, [node.name for node in snapshot.nodes]) == (5, ["n1"])
    assert (pod.name, pod.node, pod.queue, pod.shield) == ("p1", "n1", "root.a", Shield.SYSTEM_PRIORITY)
    assert pod.requests == {"cpu": 1000, "pods": 1}
    assert [one.name for one in snapshot.budgets] == ["b"]
    assert "system-node-critical" in watcher.state().classes


def test_a_victims_way_out_is_seen(cluster: AnyCluster, watcher: ClusterWatcher):
    """A pass sees a pod run, be on its way out, and be gone."""
    uid = cluster.add_pod("p1", node="n1")["metadata"]["uid"]
    watcher.start()
    assert watcher.wait_synced(PATIENCE_S)
    assert not watcher.pod(uid).terminating
    cluster.change("pods", "p1", lambda pod: pod["metadata"].update(finalizers=["example.com/hold"]))
    cluster.delete("pods", "p1", gracePeriodSeconds=0)
    wait_for(lambda: watcher.pod(uid) is not None and watcher.pod(uid).terminating, "the pod is on its way out")
    cluster.change("pods", "p1", lambda pod: pod["metadata"].pop("finalizers"))
    wait_for(lambda: watcher.pod(uid) is None, "the pod is gone")
    assert watcher.last_seen(uid).terminating


def test_an_ask_that_is_bound_is_seen(cluster: AnyCluster, watcher: ClusterWatcher):
    """A pass sees where the ask was bound."""
    cluster.add_node()
    uid = cluster.add_pod("ask")["metadata"]["uid"]
    watcher.start()
    assert watcher.wait_synced(PATIENCE_S)
    assert watcher.pod(uid).node is None
    cluster.bind("ask", "n1")
    wait_for(lambda: watcher.pod(uid).node == "n1", "the ask is bound")


def test_only_what_the_engine_reads_counts_as_a_change(cluster: AnyCluster, watcher: ClusterWatcher):
    """After a node's heartbeat it is the very object that it was, so an idle pass costs nothing; not after a label."""
    cluster.add_node()
    watcher.start()
    assert watcher.wait_synced(PATIENCE_S)
    (before,) = watcher.nodes()
    beat = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}
    cluster.change("nodes", "n1", lambda node: node["status"].update(conditions=[beat]))
    cluster.add_node("n2")
    wait_for(lambda: len(watcher.nodes()) == 2, "what came after the heartbeat is seen")
    assert watcher.nodes()[0] is before
    cluster.change("nodes", "n1", lambda node: node["metadata"].update(labels={"zone": "z"}))
    wait_for(lambda: watcher.nodes()[0].labels.get("zone") == "z", "the label is seen")


def test_the_picture_can_be_rewound(cluster: AnyCluster, watcher: ClusterWatcher):
    """What came, changed and went since is undone change by change, in a copy."""
    cluster.add_node()
    cluster.add_pod("stays", node="n1")
    cluster.add_pod("goes", node="n1")
    for name in ("stays", "goes"):
        cluster.running(name)
    watcher.start()
    assert watcher.wait_synced(PATIENCE_S)
    first = watcher.state()
    cluster.add_pod("comes")
    cluster.change("nodes", "n1", lambda node: node["spec"].update(unschedulable=True))
    cluster.delete("pods", "goes", gracePeriodSeconds=0)
    wait_for(lambda: (now := watcher.state()).nodes["n1"].unschedulable and len(now.departed) == 1, "all of it is seen")
    past = watcher.state().past()
    past.rewind(len(first.changes))
    assert (past.nodes, past.pods) == (first.nodes, first.pods)
    assert watcher.state().nodes["n1"].unschedulable


def test_a_snapshot_does_not_move(cluster: AnyCluster, watcher: ClusterWatcher):
    """What a pass decides on stays as it was, whatever the cluster does meanwhile."""
    cluster.add_pod("p1")
    watcher.start()
    assert watcher.wait_synced(PATIENCE_S)
    state = watcher.state()
    cluster.add_pod("p2")
    wait_for(lambda: len(watcher.state().pods) == 2, "the other pod is seen")
    assert [pod.name for pod in state.pods.values()] == ["p1"]


def test_after_another_list_a_pass_knows_what_changed() -> None:
    """It processes only these pods again, as if each change had been reported by itself."""
    watcher = ClusterWatcher(Connection(ConnectionSettings(address="http://127.0.0.1:1")))
    pods = next(table for table in TABLES if table.kind == "Pod")
    same, changed, gone, new = (pod(name) for name in ("same", "changed", "gone", "new"))
    watcher.replace(pods, {one.uid: one for one in (same, changed, gone)}, {})
    step = watcher.state().pods.reach()
    after = replace(changed, priority=7)
    watcher.replace(pods, {one.uid: one for one in (replace(same), after, new)}, {})
    state = watcher.state()
    assert state.pods.since(step) == {changed.uid: changed, gone.uid: gone, new.uid: None}
    assert state.pods[same.uid] is same
    assert dict(state.pods) == {one.uid: one for one in (same, after, new)}
    assert list(state.departed) == [gone.uid]


def test_a_cluster_that_can_not_be_reached_says_so():
    """Not synced, no age, and one sentence for all kinds, until it is stopped, which is prompt."""
    with scripted(lambda asked, answer: answer.status(403, "Forbidden", "no right to list")) as server:
        watcher = ClusterWatcher(server.connection())
        watcher.start()
        health = wait_for(
            lambda: all(one.error for one in watcher.health().kinds) and watcher.health(), "all have failed"
        )
        assert (health.synced, health.staleness_s, watcher.wait_synced(0)) == (False, None, False)
        assert health.errors == ("no right to list",)
        assert watcher.stop(5)


def _preempted(cluster: AnyCluster, victim: dict, message: str, **fields: object) -> None:
    meta = victim["metadata"]
    about = {"kind": "Pod", "namespace": cluster.namespace, "name": meta["name"], "uid": meta["uid"]}
    by = {"reportingComponent": "default-scheduler", "reportingInstance": "one", "action": "Preempting"}
    event = {"involvedObject": about, "reason": "Preempted", "message": message, "type": "Normal", **by, **fields}
    cluster.create("events", {"metadata": {"name": f"{meta['name']}.1"}, **event})


def test_what_the_scheduler_preempted_is_seen_after_it_has_gone(cluster: AnyCluster, watcher: ClusterWatcher):
    """Its Event is followed, other Events are not read, and the pod is remembered as it was."""
    victim, other = cluster.add_pod("v", node="n1"), cluster.add_pod("other", node="n1")
    watcher.start()
    assert watcher.wait_synced(PATIENCE_S)
    now_ms = int(time.time() * 1000)
    _preempted(cluster, victim, "Preempted by pod uid-c on node n1", eventTime="2026-01-01T00:00:00.000000Z")
    _preempted(cluster, other, "Scheduled", reason="Scheduled")
    cluster.delete("pods", "v", gracePeriodSeconds=0)
    uid = victim["metadata"]["uid"]
    wait_for(lambda: watcher.pod(uid) is None, "the victim is gone")
    wait_for(lambda: sighting_keys(watcher.state(), now_ms=now_ms) == ((uid, "uid-c"),), "its preemption is seen")
    (seen,) = observe(watcher.state(), tree(cluster), now_ms=now_ms)
    assert (seen.victims[0].known, seen.victims[0].pod.queue, seen.ask.uid) == (True, "root.a", "uid-c")


def test_quotas_by_priority_class_are_followed(cluster: AnyCluster, watcher: ClusterWatcher):
    """With what is used of them, as pods come."""
    rule = {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}
    spec = {"hard": {"pods": "3"}, "scopeSelector": {"matchExpressions": [rule]}}
    cluster.create("resourcequotas", {"metadata": {"name": "q"}, "spec": spec})
    watcher.start()
    assert watcher.wait_synced(PATIENCE_S)

    def used() -> dict[str, str]:
        found = watcher.state().quotas.get((cluster.namespace, "q"))
        return found.used if found else {}

    wait_for(lambda: used() == {"pods": "0"}, "it is counted")
    cluster.add_pod("p1", priorityClassName="system-node-critical")
    wait_for(lambda: used() == {"pods": "1"}, "the pod is counted")
    cluster.delete("resourcequotas", "q")
    wait_for(lambda: not watcher.state().quotas, "it is gone")


def test_a_cluster_whose_events_are_not_ours_to_read_is_watched_all_the_same():
    """Passes go on; why there are no Events is a sentence of its own, and so with quotas."""

    def refuse(asked, answer):
        if asked.path in ("/api/v1/events", "/api/v1/resourcequotas"):
            answer.status(403, "Forbidden", f"{asked.path[8:]} is forbidden")
        elif "watch" in asked.query:
            answer.begin()
            answer.hang()
        else:
            answer.json(200, {"metadata": {"resourceVersion": "1"}, "items": []})

    with scripted(refuse) as server:
        watcher = ClusterWatcher(server.connection(), back_off=lambda: BackOff(0.01, 0.01))
        watcher.start()
        assert watcher.wait_synced(PATIENCE_S)
        missing = {"Event": "events is forbidden", "ResourceQuota": "resourcequotas is forbidden"}
        wait_for(lambda: watcher.health().missing == missing, "they are refused")
        assert (watcher.health().synced, watcher.health().errors) == (True, ())
        assert watcher.stop(5)


def test_the_age_of_the_picture_is_that_of_the_kind_worst_off(cluster: AnyCluster, connection: Connection):
    """Staleness grows with the clock while nothing is heard."""
    clock = ManualClock()
    watcher = ClusterWatcher(connection, clock=clock)
    watcher.start()
    assert watcher.wait_synced(PATIENCE_S)
    wait_for(lambda: watcher.health().staleness_s == 0, "all kinds are fresh")
    clock.now_s += 42
    assert watcher.health().staleness_s == 42
    assert abs(watcher.health().clock_skew_s) < 5
    assert watcher.stop(5)


def test_watching_writes_nothing(cluster: AnyCluster, watcher: ClusterWatcher):
    """An observed cluster sees get, list and watch alone."""
    cluster.add_pod("p1")
    watcher.start()
    assert watcher.wait_synced(PATIENCE_S)
    kinds = {"nodes", "pods", "events", "namespaces", "configmaps", "resourcequotas", "poddisruptionbudgets.policy"}
    wait_for(lambda: kinds <= {one.resource for one in cluster.audit if one.verb == "watch"}, "every kind is watched")
    assert {record.verb for record in cluster.audit} <= {"get", "list", "watch"}
