"""One odd object is named and stands apart; the picture goes on around it, and heals when it does."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from engine.cluster.timing import BackOff
from engine.cluster.watching.watcher import ClusterWatcher
from engine.model.queue_tree import Queue, QueueTree
from tests.cluster.doubles import Answer, Asked, scripted
from tests.waiting import PATIENCE_S, wait_for

TREE = QueueTree([Queue(path="root", parent_declared=True), Queue(path="root.a", namespaces=("a",))])
LONG = "x" * 253


def obj(name: str, version: int = 1, *, spec: Any = None, status: Any = None, **more: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "a", "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"metadata": {**meta, **more.pop("metadata", {})}, "spec": spec, "status": status, **more}


class Cluster:
    """A server with these objects, which tells of changes one after the other."""

    def __init__(self, **kinds: list[dict[str, Any]]) -> None:
        self.kinds = kinds
        self.changes: dict[str, list[Any]] = {}

    def __call__(self, asked: Asked, answer: Answer) -> None:
        kind = asked.path.rpartition("/")[2]
        if "watch" not in asked.query:
            return answer.json(200, {"metadata": {"resourceVersion": "10"}, "items": self.kinds.get(kind, [])})
        answer.begin()
        seen = int(asked.query["resourceVersion"]) - 10
        while not answer.over and not self.changes.get(kind, [])[seen:]:
            answer.wait(0.005)
        for change in self.changes.get(kind, [])[seen:]:
            answer.line(change)
        return None

    def tell(self, kind: str, type_: str, changed: dict[str, Any]) -> None:
        changes = self.changes.setdefault(kind, [])
        changed["metadata"]["resourceVersion"] = str(11 + len(changes))
        changes.append({"type": type_, "object": changed})


@contextlib.contextmanager
def watching(cluster: Cluster) -> Iterator[ClusterWatcher]:
    with scripted(cluster) as server:
        watcher = ClusterWatcher(server.connection(), back_off=lambda: BackOff(0.001, 0.01))
        watcher.start()
        try:
            assert watcher.wait_synced(PATIENCE_S)
            yield watcher
        finally:
            assert watcher.stop(), "a thread did not stop"


def container(**requests: Any) -> dict[str, Any]:
    return {"resources": {"requests": requests}}


ODD = {
    "an amount that is none": {"spec": {"nodeName": "n1", "containers": [container(cpu="much")]}},
    "a number that is a word": {"spec": {"nodeName": "n1", "priority": "high"}},
    "a time that is none": {"spec": {"nodeName": "n1"}, "metadata": {"creationTimestamp": "yesterday"}},
    "an object that is a list": {"spec": {"nodeName": "n1", "affinity": []}},
    "a list that is an object": {"spec": {"nodeName": "n1", "tolerations": {}}},
    "labels that are numbers": {"spec": {"nodeName": "n1"}, "metadata": {"labels": {"a": 1}}},
    "a list with nothing in it": {"spec": {"nodeName": "n1", "containers": [None]}},
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_an_odd_pod_is_named_and_keeps_its_place_and_heals(odd: dict[str, Any]) -> None:
    """Seen first as it is, it holds its node; changed into something that can be read, it is like any other."""
    cluster = Cluster(pods=[obj("odd", **odd), obj("good")])
    cluster.tell("pods", "MODIFIED", obj("odd", spec={"nodeName": "n1"}))
    later, cluster.changes = cluster.changes, {}
    with watching(cluster) as watcher:
        state, health = watcher.state(), watcher.health()
        assert list(health.odd) == ["Pod a/odd"]
        assert health.errors == ()
        (one,) = watcher.snapshot(TREE, now_ms=0).unread
        assert (one.name, one.node, one.queue) == ("odd", "n1", "root.a")
        assert not state.pods["uid-good"].unread
    cluster.changes = later
    with watching(cluster) as watcher:
        wait_for(lambda: not watcher.state().pods["uid-odd"].unread, "it can be read")
        assert watcher.health().odd == {}


UNUSUAL = {
    "unknown enums": {"spec": {"preemptionPolicy": "Sometimes", "tolerations": [{"operator": "Perhaps"}]}},
    "null lists": {"spec": {"containers": None, "tolerations": None}, "status": {"conditions": None}},
    "an unknown phase": {"status": {"phase": "Pondering"}},
    "nothing at all": {},
}


@pytest.mark.parametrize("unusual", UNUSUAL.values(), ids=UNUSUAL)
def test_what_is_unusual_but_can_be_read_is_read(unusual: dict[str, Any]) -> None:
    """Unknown words, empty and missing parts, the longest names."""
    with watching(Cluster(pods=[obj(LONG, **unusual)])) as watcher:
        (one,) = watcher.state().pods.values()
        assert (one.name, one.unread, watcher.health().odd) == (LONG, False, {})


def test_a_pod_that_turns_odd_keeps_what_was_known_of_it_until_it_is_gone() -> None:
    """Where it is bound meanwhile counts."""
    cluster = Cluster(pods=[obj("p", spec={"containers": [container(cpu="2")]})])
    cluster.tell("pods", "MODIFIED", obj("p", spec={"nodeName": "n1", "containers": [container(cpu="much")]}))
    with watching(cluster) as watcher:
        wait_for(lambda: watcher.pod("uid-p").unread, "it has turned odd")
        assert (watcher.pod("uid-p").requests["cpu"], watcher.pod("uid-p").node) == (2000, "n1")
        assert watcher.snapshot(TREE, now_ms=0).asks == ()
        assert "much is not a valid amount" in watcher.health().odd["Pod a/p"]
        cluster.tell("pods", "DELETED", obj("p", spec={"priority": "high"}))
        wait_for(lambda: watcher.pod("uid-p") is None, "it is gone, odd as it is")
        assert watcher.health().odd == {}


def test_other_odd_kinds_are_named_and_spare_rather_than_take() -> None:
    """A node takes nothing, a class opts out, a budget allows nothing; Events are passed over."""
    ready = {"allocatable": {"cpu": "4"}}
    cluster = Cluster(
        nodes=[obj("n1", status={"allocatable": {"cpu": "lots"}}), obj("n2", status=ready)],
        priorityclasses=[obj("c", value="high")],
        poddisruptionbudgets=[obj("b", status={"disruptionsAllowed": "all"})],
        events=[obj("e", involvedObject=[])],
    )
    with watching(cluster) as watcher:
        state = watcher.state()
        assert {name: node.unread for name, node in state.nodes.items()} == {"n1": True, "n2": False}
        assert state.classes["c"].opted_out
        assert state.budgets["a", "b"].allowed == 0
        wait_for(lambda: "Event a/e" in watcher.health().odd, "the Event is named, whenever it was read")
        assert watcher.health().odd.keys() == {"Node a/n1", "PriorityClass a/c", "PodDisruptionBudget a/b", "Event a/e"}
        assert watcher.state().preempted == {}


def test_of_odd_namespaces_claims_and_volumes_nothing_is_known_until_they_heal() -> None:
    """Whoever asks for them is left alone, also where they could be read before; all others are as they are."""
    reach = {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": "n1"}]}}}
    cluster = Cluster(
        namespaces=[obj("turns"), obj("good")],
        persistentvolumeclaims=[obj("odd", spec={"accessModes": "all"}), obj("good")],
        persistentvolumes=[obj("odd", spec=reach), obj("good")],
    )
    cluster.tell("namespaces", "MODIFIED", obj("turns", metadata={"labels": {"team": 1}}))
    with watching(cluster) as watcher:
        wait_for(lambda: "Namespace a/turns" in watcher.health().odd, "it has turned odd")
        state = watcher.state()
        assert [*state.namespaces] == [*state.volumes] == ["good"]
        assert [*state.claims] == [("a", "good")]
        assert {"PersistentVolumeClaim a/odd", "PersistentVolume a/odd"} < watcher.health().odd.keys()
        assert watcher.health().errors == ()
        cluster.tell("namespaces", "MODIFIED", obj("turns"))
        cluster.tell("persistentvolumes", "MODIFIED", obj("odd"))
        cluster.tell("persistentvolumeclaims", "DELETED", obj("odd", spec={"accessModes": "all"}))
        wait_for(lambda: not watcher.health().odd, "all is well")
        state = watcher.state()
        assert (sorted(state.namespaces), sorted(state.volumes)) == (["good", "turns"], ["good", "odd"])
        assert [*state.claims] == [("a", "good")]


def test_an_object_without_an_identity_stops_nothing() -> None:
    """Nothing can be kept of it; it is named by its kind."""
    with watching(Cluster(pods=[{"metadata": []}, obj("good")])) as watcher:
        assert list(watcher.state().pods) == ["uid-good"]
        assert list(watcher.health().odd) == ["Pod"]
