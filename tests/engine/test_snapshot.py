"""A snapshot says where pods run, what is free, who came first and who is protected, in whatever order it was told."""

from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import given

from engine.model.objects import Pod, PriorityClass, Shield
from engine.model.snapshot import ClusterState, Protection, queue_of
from tests.builders import ask, daemonset_ask, named, node, pod, queue, snapshot, tree
from tests.engine.strategies import clusters, queue_trees

SHAPE = tree({"a": queue(namespaces=("team-a",)), "t": queue(), "t.b": queue(evict_uncontrolled=True)})


@pytest.mark.parametrize(
    ("label", "namespace", "path"),
    [
        ("root.t.b", "ns", "root.t.b"),
        ("t.b", "ns", "root.t.b"),
        ("t.b", "team-a", "root.t.b"),
        ("", "team-a", "root.a"),
        ("nowhere", "team-a", "root.a"),
        ("t", "ns", None),
        ("", "ns", None),
    ],
)
def test_a_pods_queue_is_its_label_else_its_namespaces(label: str, namespace: str, path: str | None) -> None:
    """A label that names no leaf is passed over."""
    assert queue_of(pod("p", queue=label, namespace=namespace), SHAPE) == path


@pytest.mark.parametrize(
    ("admitted", "label", "path"),
    [
        ("b", "", "root.t.b"),
        ("b", "root.a", "root.a"),
        ("t", "", "root.a"),
        ("elsewhere", "", "root.a"),
        ("twice", "", "root.a"),
        ("with.dots", "", "root.t.with_dots"),
    ],
)
def test_a_pod_that_kueue_admitted_runs_in_the_leaf_of_that_name(admitted: str, label: str, path: str) -> None:
    """Unless it names its queue itself; a name that no leaf has, or several, leaves it to its namespace."""
    shape = tree(
        {
            "a": queue(namespaces=("team-a",)),
            "t": queue(),
            "t.b": queue(),
            "t.with_dots": queue(),
            "t.twice": queue(),
            "u": queue(),
            "u.twice": queue(),
        }
    )
    for scheduler in ("kueue.x-k8s.io/cluster-queue-name", "volcano.sh/queue-name"):
        labels = {scheduler: admitted}
        assert queue_of(pod("p", queue=label, namespace="team-a", labels=labels), shape) == path


def test_the_order_of_objects_does_not_matter() -> None:
    """Nodes by name, pods by node, and on each of them by name if they are equally important."""
    objects = [node("n2"), node("n1"), pod("b", node="n1"), pod("a", node="n1"), pod("c", namespace="b")]
    assert snapshot(SHAPE, objects) == snapshot(SHAPE, objects[::-1])
    assert [one.name for one in snapshot(SHAPE, objects).pods] == ["a", "b", "c"]


def test_finished_pods_hold_nothing() -> None:
    """They are not even in it."""
    at = snapshot(SHAPE, node("n1", 2), pod("done", node="n1", finished=True), pod("p", queue="a", node="n1"))
    assert [one.name for one in at.pods] == ["p"]
    assert at.free(at.nodes[0])["cpu"] == 1000


def test_what_is_free_counts_those_on_their_way_out_until_they_are_gone() -> None:
    """Unless told to look past them; pods count against the node's pods."""
    at = snapshot(SHAPE, node("n1", 3, pods=5), pod("p", node="n1"), pod("q", node="n1", terminating=True))
    assert at.free(at.nodes[0]) == {"cpu": 1000, "pods": 3}
    assert at.free(at.nodes[0], without=[named(at, "q")]) == {"cpu": 2000, "pods": 4}


def test_usage_is_what_bound_pods_hold_rolled_up() -> None:
    """Pods of no queue and pending ones count for no queue."""
    at = snapshot(SHAPE, node("n1"), pod("p", queue="t.b", node="n1"), pod("stray", node="n1"), ask("q", queue="a"))
    usage = at.usage(SHAPE)
    assert usage["root"] == usage["root.t"] == {"cpu": 1000, "pods": 1}
    assert usage["root.a"] == {}


def test_asks_are_pending_pods_that_want_a_node() -> None:
    """Not gated ones, not those on their way out."""
    at = snapshot(SHAPE, ask("a"), ask("gated", gated=True), ask("leaving", terminating=True), pod("p", node="n1"))
    assert [one.name for one in at.asks] == ["a"]


def test_an_applications_first_pod_is_its_originator() -> None:
    """The oldest, ties by name, each namespace for itself; pods without a label belong to their controller's."""
    pods = [
        pod("b", app="x", created_ms=1),
        pod("a", app="x", created_ms=1),
        pod("old", app="y", created_ms=0),
        pod("new", app="y", created_ms=9),
        pod("other", app="x", created_ms=5, namespace="elsewhere"),
        pod("r1", controller="ReplicaSet/r"),
        pod("r2", controller="ReplicaSet/r"),
    ]
    at = snapshot(SHAPE, pods)
    assert sorted(one.name for one in at.pods if one.originator) == ["a", "old", "other", "r1"]


def test_the_priority_class_decides_who_opted_out_and_who_may_preempt() -> None:
    """The class alone, not the pod; may-preempt lifts Never for us."""
    classes = [
        PriorityClass(name="keep", opted_out=True),
        PriorityClass(name="ours", never_preempts=True, may_preempt=True),
    ]
    pods = [
        pod("kept", priority_class="keep"),
        pod("plain", opted_out=True),
        ask("never", never_preempts=True),
        ask("lifted", never_preempts=True, priority_class="ours"),
    ]
    at = snapshot(SHAPE, classes, pods)
    assert [one.name for one in at.pods if one.opted_out] == ["kept"]
    assert [one.name for one in at.asks if one.never_preempts] == ["never"]


@pytest.mark.parametrize(
    ("settings", "shield"),
    [
        ({"mirror": True}, Shield.MIRROR),
        ({"controller": "DaemonSet/agent"}, Shield.DAEMONSET),
        ({"priority": 2_000_000_000}, Shield.SYSTEM_PRIORITY),
        ({"namespace": "kube-system"}, Shield.NAMESPACE),
        ({"queue": "nowhere"}, Shield.NO_QUEUE),
        ({"controller": ""}, Shield.NO_CONTROLLER),
        ({"controller": "", "queue": "t.b"}, Shield.NONE),
        ({"priority": 1_999_999_999}, Shield.NONE),
    ],
)
def test_who_is_never_a_victim_of_our_acting(settings: dict[str, object], shield: Shield) -> None:
    """Each shield by its own reason; without a protection nobody has one."""
    one = pod("p", **{"queue": "a", "node": "n1", **settings})
    assert named(snapshot(SHAPE, node("n1"), one, protection=Protection()), "p").shield is shield
    assert named(snapshot(SHAPE, node("n1"), one), "p").shield is Shield.NONE


def test_a_daemonsets_pod_is_for_one_node() -> None:
    """Another controller's pod with the same rule is not."""
    agent = daemonset_ask("agent", on="n7")
    assert agent.required_node == "n7"
    assert msgspec.structs.replace(agent, controller="ReplicaSet/r").required_node is None
    assert msgspec.structs.replace(agent, node_affinity=()).required_node is None


def test_pods_on_unknown_nodes_count_for_their_queue_alone() -> None:
    """The node may have gone a moment ago."""
    at = snapshot(SHAPE, node("n1"), pod("lost", queue="a", node="gone"))
    assert at.pods_by_node == {"n1": ()}
    assert at.usage(SHAPE)["root.a"]["cpu"] == 1000
    assert at.capacity == {"cpu": 4000, "pods": 110}


@given(clusters(), clusters(), queue_trees(), queue_trees())
def test_a_snapshot_does_not_depend_on_those_before_it(one: Any, other: Any, tree_1: Any, tree_2: Any) -> None:
    """What is remembered from pass to pass shows nowhere: pods, trees, classes and protection may change between."""
    protections = (Protection(), Protection(namespaces=frozenset({"ns"})), None)
    state = ClusterState()
    for round_, (objects, shape) in enumerate(product((one, other, one), (tree_1, tree_2))):
        out = PriorityClass(name="", opted_out=round_ % 3 == 1)
        for each in (state, fresh := ClusterState()):
            each.classes = {"": out}
            each.pods.clear()
            each.pods.update({pod.uid: pod for pod in objects if isinstance(pod, Pod)})
        protection = protections[round_ % 3]
        got, want = (each.snapshot(shape, now_ms=round_, protection=protection) for each in (state.copy(), fresh))
        assert got == want
