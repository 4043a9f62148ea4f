"""What a cluster's own scheduler preempts, ours answers too, on what a worker has followed of the cluster.

Every case has one right answer: nowhere does kube-scheduler have to choose between what is worth the same to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from engine.cluster.timing import BackOff
from engine.cluster.watching.watcher import ClusterWatcher
from engine.model.queue_tree import ROOT, Queue, QueueTree
from engine.observation.evictions import Agreement, Observed, compare_with_replay, observe
from engine.observation.replay import replay_observed
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.living import PORT, ZONE, away_from, budget, live, near, node, pod, spread
from tests.waiting import PATIENCE_S, wait_for

Object = dict[str, Any]
TREE = QueueTree([Queue(path=ROOT)])
LONG_AFTER = 2**40
"""Milliseconds: no condition has to wait for its Event."""


@dataclass(frozen=True)
class Case:
    """Pods that run, one that asks, and what must come of it."""

    name: str
    pods: list[Object]
    ask: Object
    node: str
    victims: set[str]
    nodes: list[Object] = field(default_factory=list)
    budgets: list[Object] = field(default_factory=list)


THREE = [node("n1"), node("n2"), node("n3")]
ZONES = [node("n1", "a"), node("n2", "b"), node("n3", "c")]
FULL = [pod("v1", "n1", of=30), pod("v2", "n2", of=10), pod("v3", "n3", of=20)]
"""One pod on each of three nodes, which holds all of it; the one on n2 has the lowest priority."""

CASES = [
    Case("the lowest priority goes", FULL, pod("ask", of=100), "n2", {"v2"}, THREE),
    Case(
        "fewer victims of the same highest priority",
        [pod("a1", "n1", of=10, cpu="2"), pod("a2", "n1", of=5, cpu="2"), pod("b1", "n2", of=10)],
        pod("ask", of=100),
        "n2",
        {"b1"},
        [node("n1"), node("n2")],
    ),
    Case(
        "the more important ones are reprieved",
        [pod("low", "n1", of=1, cpu="1"), pod("mid", "n1", of=10, cpu="1"), pod("high", "n1", of=50, cpu="2")],
        pod("ask", of=100, cpu="2"),
        "n1",
        {"low", "mid"},
        [node("n1")],
    ),
    Case(
        "a large one of low priority is enough",
        [pod("low", "n1", of=1, cpu="2"), pod("mid", "n1", of=10, cpu="1"), pod("high", "n1", of=50, cpu="1")],
        pod("ask", of=100, cpu="2"),
        "n1",
        {"low"},
        [node("n1")],
    ),
    Case(
        "a node whose budget would be broken is avoided",
        FULL,
        pod("ask", of=100),
        "n3",
        {"v3"},
        THREE,
        [budget("keep", 1, "v2")],
    ),
    Case(
        "who is covered by a budget is reprieved first",
        [pod("kept", "n1", of=1, cpu="2"), pod("other", "n1", of=50, cpu="2")],
        pod("ask", of=100, cpu="2"),
        "n1",
        {"other"},
        [node("n1")],
        [budget("keep", 1, "kept")],
    ),
    Case(
        "where nothing else helps a budget is broken",
        [pod("kept", "n1", of=1)],
        pod("ask", of=100),
        "n1",
        {"kept"},
        [node("n1")],
        [budget("keep", 1, "kept")],
    ),
    Case(
        "the ask keeps away from one of lower priority",
        [pod("rival", "n1", of=10, cpu="1"), pod("other", "n1", of=1, cpu="1"), pod("above", "n2", of=200)],
        pod("ask", of=100, cpu="1", **away_from("rival")),
        "n1",
        {"rival"},
        [node("n1"), node("n2")],
    ),
    Case(
        "one that runs keeps away from the ask",
        [pod("shy", "n1", of=10, cpu="1", **away_from("ask")), pod("above", "n2", of=200)],
        pod("ask", of=100, cpu="1"),
        "n1",
        {"shy"},
        [node("n1"), node("n2")],
    ),
    Case(
        "nobody goes in another node of the zone",
        [*FULL, pod("rival", "n4", of=0, cpu="1"), pod("above", "n4", of=200, cpu="3")],
        pod("ask", of=100, **away_from("rival", ZONE)),
        "n3",
        {"v3"},
        [*ZONES, node("n4", "b")],
    ),
    Case(
        "it must be near one that stays",
        [*FULL, pod("friend", "n4", of=200, cpu="4")],
        pod("ask", of=100, **near("friend")),
        "n1",
        {"v1"},
        [*ZONES, node("n4", "a")],
    ),
    Case(
        "it is spread over zones",
        [*FULL, pod("s1", "n4", of=200, labels={"app": "s"}), pod("s2", "n5", of=200, labels={"app": "s"})],
        pod("ask", of=100, labels={"app": "s"}, **spread("s")),
        "n1",
        {"v1"},
        [*ZONES, node("n4", "b"), node("n5", "c")],
    ),
    Case(
        "one of those that are spread makes way",
        [
            pod("s1", "n1", of=1, cpu="1", labels={"app": "s"}),
            pod("other", "n1", of=0, cpu="1"),
            pod("v2", "n2", of=200),
        ],
        pod("ask", of=100, cpu="1", labels={"app": "s"}, **spread("s")),
        "n1",
        {"s1"},
        [node("n1", "a"), node("n2", "b")],
    ),
    Case(
        "a host port is given back",
        [pod("web", "n1", of=10, cpu="1", container=PORT), pod("other", "n1", of=1, cpu="1"), pod("v2", "n2", of=200)],
        pod("ask", of=100, cpu="1", container=PORT),
        "n1",
        {"web"},
        [node("n1"), node("n2")],
    ),
    Case(
        "taints and selectors leave some nodes out",
        FULL,
        pod("ask", of=100, nodeSelector={ZONE: "a"}),
        "n1",
        {"v1"},
        [*ZONES, node("n4", "a", taints=[{"key": "team", "value": "x", "effect": "NoSchedule"}])],
    ),
    Case(
        "a cordoned node is left out",
        FULL,
        pod("ask", of=100),
        "n3",
        {"v3"},
        [node("n1"), node("n2", unschedulable=True), node("n3")],
    ),
]


@pytest.fixture
def watcher(cluster: AnyCluster) -> Iterator[ClusterWatcher]:
    """What a worker follows the cluster by."""
    watcher = ClusterWatcher(cluster.connection(), back_off=lambda: BackOff(0.001, 0.01))
    watcher.start()
    assert watcher.wait_synced(PATIENCE_S)
    yield watcher
    assert watcher.stop()


def follow(cluster: AnyCluster, watcher: ClusterWatcher, nodes: list[Object], *pods: Object) -> None:
    """All of it lives, and is seen to."""
    live(cluster, nodes, *pods)
    running = sum("nodeName" in one["spec"] for one in pods)
    wait_for(lambda: sum(pod.started_ms is not None for pod in watcher.state().pods.values()) == running, "it is seen")


def told(watcher: ClusterWatcher, asker: str, victims: int) -> Observed:
    """The preemption for an ask, once all that tells of it has been seen."""

    def seen() -> Observed | None:
        state = watcher.state()
        found = replay_observed(observe(state, TREE, now_ms=LONG_AFTER), state, lambda _ms: TREE).decisions
        mine = [one for one in found if one.ask and one.ask.name == asker and one.certain and one.ask_known]
        return mine[0] if mine and len(mine[0].victims) >= victims else None

    found = wait_for(seen, f"the preemption for {asker} is told")
    assert isinstance(found, Observed)
    return found


def same(seen: Observed) -> None:
    """Both came to the same answer."""
    assert seen.hindsight is not None, seen.untold
    found = compare_with_replay(seen)
    assert found is not None
    assert found.agreement is Agreement.SAME, (seen.node, [one.pod.name for one in seen.victims], seen.hindsight)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_traced_answer_is_that_of_the_clusters_own_scheduler(
    cluster: AnyCluster, watcher: ClusterWatcher, case: Case
) -> None:
    """Node and victims, and both as they should be."""
    follow(cluster, watcher, case.nodes, *case.pods, case.ask)
    for one in case.budgets:
        cluster.create("poddisruptionbudgets.policy", one)
    wait_for(lambda: counted(cluster, watcher) == len(case.budgets), "budgets are counted")
    cluster.create("pods", case.ask)
    seen = told(watcher, "ask", len(case.victims))
    assert (seen.node, {one.pod.name for one in seen.victims}) == (case.node, case.victims)
    same(seen)
    # The scheduler writes its sentence beside the evictions, so it may come after them.
    said = wait_for(lambda: (found := told(watcher, "ask", 1).hindsight) and found.said, "its sentence is seen")
    assert said.startswith(f"0/{len(case.nodes)} nodes are available: ")


def counted(cluster: AnyCluster, watcher: ClusterWatcher) -> int:
    """How many budgets the disruption controller has looked at, and the watcher has seen since."""
    found = [one for one in cluster.list("poddisruptionbudgets.policy") if one.get("status", {}).get("currentHealthy")]
    return min(len(found), len(watcher.state().budgets))


def test_a_live_nomination_of_a_higher_priority_is_made_way_for(cluster: AnyCluster, watcher: ClusterWatcher) -> None:
    """high has been nominated to n1, whose pod is on its way out; web, which comes later, has to go elsewhere.

    Did the nomination count for nothing, n1 would be the better one: its pod is of the lowest priority.
    """
    pods = [pod("v1", "n1", of=0), pod("v2", "n2", of=10)]
    high, web = pod("high", of=200), pod("web", of=100)
    follow(cluster, watcher, [node("n1"), node("n2")], *pods, high, web)
    cluster.create("pods", high)
    first = told(watcher, "high", 1)
    assert first.node == "n1"
    cluster.create("pods", web)
    seen = told(watcher, "web", 1)
    assert (seen.node, [one.pod.name for one in seen.victims]) == ("n2", ["v2"])
    same(first)
    same(seen)


def test_without_its_nomination_it_would_be_the_other_node(cluster: AnyCluster, watcher: ClusterWatcher) -> None:
    """The same cluster, but for high: what the case above shows is the nomination's doing."""
    pods = [pod("v1", "n1", of=0), pod("v2", "n2", of=10)]
    web = pod("web", of=100)
    follow(cluster, watcher, [node("n1"), node("n2")], *pods, web)
    cluster.create("pods", web)
    seen = told(watcher, "web", 1)
    assert (seen.node, [one.pod.name for one in seen.victims]) == ("n1", ["v1"])
    same(seen)


def test_who_is_on_the_way_out_is_counted_on_and_told_nothing(cluster: AnyCluster, watcher: ClusterWatcher) -> None:
    """first was deleted by hand and takes its time: of the two only the other has an Event."""
    pods = [pod("first", "n1", of=0, cpu="2"), pod("other", "n1", of=10, cpu="2")]
    web = pod("web", of=100)
    follow(cluster, watcher, [node("n1")], *pods, web)
    cluster.delete("pods", "first")
    wait_for(lambda: any(pod.terminating for pod in watcher.state().pods.values()), "it is seen to go")
    cluster.create("pods", web)
    seen = told(watcher, "web", 1)
    assert [one.pod.name for one in seen.victims] == ["other"]
    same(seen)
