"""Where pods run, what the scheduler says of those that run nowhere, and what helps them: as the real one has it."""

import itertools
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.living import HOST, PORT, ZONE, away_from, live, near, node, pod, spread
from tests.controlplane.volumes import CLAIMS, add_claim, add_volume
from tests.waiting import wait_for

Object = dict[str, Any]
TAINT = {"key": "team", "value": "x", "effect": "NoSchedule"}
NODES = [node("n1", "a"), node("n2", "b"), node("n3"), node("n4", "d", taints=[TAINT]),
         node("n5", "e", unschedulable=True)]  # fmt: skip
FULL = (pod("f2", "n2", of=200), pod("f3", "n3", of=200))
"""On n2 and n3 nobody has room, whoever goes."""
OUT = "1 node(s) had untolerated taint(s), 1 node(s) were unschedulable"
WITH_CLAIM = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}
ALONE = {"accessModes": ["ReadWriteOncePod"]}
NOTHING_HELPS = "preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling."


@dataclass(frozen=True)
class Case:
    """Pods that run, one that asks, and what is said of it."""

    name: str
    ask: Object
    why: str
    preemption: str = NOTHING_HELPS
    """Empty: it preempts."""
    pods: tuple[Object, ...] = field(default=FULL)


def nobody(on: int, not_helpful: int = 2) -> str:
    """On so many nodes of those where evictions might help nobody may go."""
    told = sorted([f"{on} No preemption victims found for incoming pod",
                   f"{not_helpful} Preemption is not helpful for scheduling"])  # fmt: skip
    return f"preemption: 0/5 nodes are available: {', '.join(told)}."


CASES = [
    Case("too large", pod("ask", of=50, cpu="9"), f"{OUT}, 3 Insufficient cpu"),
    Case(
        "too large in one thing, and short of another",
        pod("ask", of=40, container={"resources": {"requests": {"cpu": "2", "memory": "900Gi"}}}),
        f"{OUT}, 3 Insufficient cpu, 3 Insufficient memory",
        pods=(pod("f1", "n1", of=50, cpu="3"), *FULL),
    ),
    Case(
        "short even without those who may go",
        pod("ask", of=50, cpu="2"),
        f"{OUT}, 3 Insufficient cpu",
        "preemption: 0/5 nodes are available: 1 Insufficient cpu, 2 No preemption victims found for incoming pod, "
        "2 Preemption is not helpful for scheduling.",
        (
            pod("o1", "n1", of=100),
            pod("f2", "n2", of=200),
            pod("f3", "n3", of=1, cpu="1"),
            pod("f4", "n3", of=100, cpu="3"),
        ),
    ),
    Case(
        "a selector",
        pod("ask", of=50, nodeSelector={"a": "b"}),
        f"{OUT}, 3 node(s) didn't match Pod's node affinity/selector",
    ),
    Case(
        "it keeps away",
        pod("ask", of=50, cpu="1", **away_from("o1", ZONE)),
        f"1 node(s) didn't match pod anti-affinity rules, {OUT}, 2 Insufficient cpu",
        nobody(3),
        (pod("o1", "n1", of=100, cpu="1"), *FULL),
    ),
    Case(
        "it is kept out",
        pod("ask", of=50, cpu="1"),
        f"1 node(s) didn't satisfy existing pods anti-affinity rules, {OUT}, 2 Insufficient cpu",
        nobody(3),
        (pod("o1", "n1", of=100, cpu="1", **away_from("ask", ZONE)), *FULL),
    ),
    Case(
        "nobody to be near",
        pod("ask", of=50, cpu="1", **near("nobody")),
        f"{OUT}, 3 node(s) didn't match pod affinity rules",
        pods=(),
    ),
    Case(
        "who would go is who it must be near",
        pod("ask", of=50, cpu="1", **near("o1", HOST)),
        f"{OUT}, 3 Insufficient cpu",
        "preemption: 0/5 nodes are available: 1 node(s) didn't match pod affinity rules, "
        "2 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
        (pod("o1", "n1", of=10), *FULL),
    ),
    Case(
        "spread over zones",
        pod("ask", of=50, cpu="1", labels={"app": "s"}, **spread("s")),
        f"1 node(s) didn't match pod topology spread constraints, {OUT}, 2 Insufficient cpu",
        nobody(3),
        (pod("o1", "n1", of=100, cpu="1", labels={"app": "s"}), *FULL),
    ),
    Case(
        "no zone to be spread by",
        pod("ask", of=50, cpu="1", labels={"app": "s"}, **spread("s")),
        f"1 node(s) didn't match pod topology spread constraints (missing required label), {OUT}, 2 Insufficient cpu",
        nobody(2, 3),
        (pod("o1", "n1", of=100), pod("o2", "n2", of=100)),
    ),
    Case(
        "a host port",
        pod("ask", of=50, cpu="1", container=PORT),
        f"1 node(s) didn't have free ports for the requested pod ports, {OUT}, 2 Insufficient cpu",
        nobody(3),
        (pod("o1", "n1", of=100, cpu="1", container=PORT), *FULL),
    ),
    Case(
        "a host port that can be had",
        pod("ask", of=50, cpu="1", container=PORT),
        f"1 node(s) didn't have free ports for the requested pod ports, {OUT}, 2 Insufficient cpu",
        "",
        (pod("o1", "n1", of=1, cpu="1", container=PORT), *FULL),
    ),
]


def said(cluster: AnyCluster, name: str = "ask") -> Object:
    """The condition that says why a pod is not scheduled."""

    def told() -> Object | None:
        found = cluster.get("pods", name)["status"].get("conditions", [])
        return next((one for one in found if (one["type"], one["status"]) == ("PodScheduled", "False")), None)

    return wait_for(told, f"{name} was tried")


def await_nodes(cluster: AnyCluster, count: int) -> None:
    """Until the scheduler has heard of so many: a pod that it tried before is not tried again for a cordoned one."""
    numbers = itertools.count()

    def knows() -> bool:
        name = f"probe-{next(numbers)}"
        asks = pod(name, cpu="900")
        del asks["spec"]["priorityClassName"]
        cluster.create("pods", {**asks, "metadata": {"name": name}})
        told: str = said(cluster, name)["message"]
        cluster.delete("pods", name)
        return told.startswith(f"0/{count} ")

    wait_for(knows, f"{count} nodes are known")


def stand(cluster: AnyCluster, nodes: list[Object], *pods: Object) -> None:
    """They are there, and the scheduler knows the nodes: what it says of a pod is of all of them."""
    live(cluster, nodes, *pods)
    await_nodes(cluster, len(nodes))


def node_of(cluster: AnyCluster, name: str = "ask") -> str:
    """Where a pod is bound."""
    return wait_for(lambda: cluster.get("pods", name)["spec"].get("nodeName"), f"{name} is bound")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_said_of_a_pod_that_runs_nowhere(cluster: AnyCluster, case: Case) -> None:
    """To the letter; and in the Event as well."""
    stand(cluster, NODES, *case.pods, case.ask)
    cluster.create("pods", case.ask)
    message = f"0/5 nodes are available: {case.why}."
    expected = f"{message} no new claims to deallocate, {case.preemption}" if case.preemption else message
    assert said(cluster)["message"] == expected
    wait_for(lambda: any(one["message"] == expected for one in cluster.list("events")), "the Event")


def test_who_never_preempts_is_told_so(cluster: AnyCluster) -> None:
    polite = {"metadata": {"name": "polite"}, "value": 100, "preemptionPolicy": "Never"}
    cluster.create("priorityclasses.scheduling.k8s.io", polite)
    stand(cluster, NODES, pod("o1", "n1", of=1), *FULL)
    ask = pod("ask")
    ask["spec"]["priorityClassName"] = "polite"
    cluster.create("pods", ask)
    never = "preemption: not eligible due to preemptionPolicy=Never."
    wanted = f"0/5 nodes are available: {OUT}, 3 Insufficient cpu. no new claims to deallocate, {never}"
    assert said(cluster)["message"] == wanted


def bound_claim(cluster: AnyCluster, **settings: Any) -> None:
    """c, on a volume of its own."""
    modes = settings.pop("modes", {})
    add_volume(cluster, "v", **settings, **modes)
    add_claim(cluster, "c", volume="v", **modes)
    wait_for(lambda: cluster.get(CLAIMS, "c")["status"]["phase"] == "Bound", "the claim is bound")


@pytest.mark.parametrize(
    ("volume", "why"),
    [
        ({"node": "n2"}, "node(s) didn't match PersistentVolume's node affinity"),
        ({"labels": {ZONE: "b"}}, "node(s) had no available volume zone"),
    ],
)
def test_a_volume_that_is_out_of_reach(cluster: AnyCluster, volume: Object, why: str) -> None:
    """n1 has room, and the volume is elsewhere."""
    bound_claim(cluster, **volume)
    ask = pod("ask", of=50, cpu="1", **WITH_CLAIM)
    stand(cluster, NODES, *FULL, ask)
    cluster.create("pods", ask)
    wanted = f"0/5 nodes are available: 1 {why}, {OUT}, 2 Insufficient cpu. no new claims to deallocate, {nobody(2, 3)}"
    assert said(cluster)["message"] == wanted


def test_a_claim_that_another_pod_uses_alone(cluster: AnyCluster) -> None:
    """Whoever has it is of higher priority."""
    bound_claim(cluster, modes=ALONE)
    ask = pod("ask", of=50, cpu="1", **WITH_CLAIM)
    stand(cluster, [node("n1")], pod("user", "n1", of=100, cpu="1", **WITH_CLAIM), ask)
    cluster.create("pods", ask)
    assert "ReadWriteOncePod access mode already in-use by another pod" in said(cluster)["message"]


@pytest.mark.parametrize(
    ("there", "why"),
    [(True, "pod has unbound immediate PersistentVolumeClaims"), (False, 'persistentvolumeclaim "c" not found')],
)
def test_a_claim_that_is_not_bound_comes_first(cluster: AnyCluster, there: bool, why: str) -> None:
    """No node is looked at, and nobody is preempted; once it is bound, the pod runs."""
    if there:
        add_claim(cluster, "c", volume="v")
    ask = pod("ask", of=50, **WITH_CLAIM)
    stand(cluster, [node("n1")], pod("low", "n1", of=1), ask)
    cluster.create("pods", ask)
    assert said(cluster)["message"] == f"0/1 nodes are available: {why}. not found"
    cluster.create("nodes", node("n2"))
    add_volume(cluster, "v", node="n2")
    if not there:
        add_claim(cluster, "c", volume="v")
    assert node_of(cluster) == "n2"


# What helps


def test_company_that_comes_is_joined(cluster: AnyCluster) -> None:
    """A pod that must be near another waits for it, and runs in its zone."""
    ask = pod("ask", of=50, cpu="1", **near("friend"))
    stand(cluster, [node("n1", "a"), node("n2", "b")], ask, pod("friend", of=50))
    cluster.create("pods", ask)
    assert "didn't match pod affinity rules" in said(cluster)["message"]
    cluster.create("pods", pod("friend", of=50, cpu="1", nodeSelector={HOST: "n2"}))
    assert node_of(cluster) == "n2"


def test_who_keeps_others_away_frees_the_node_by_going(cluster: AnyCluster) -> None:
    """One of the same priority, so that nobody is preempted."""
    ask = pod("ask", of=50, cpu="1")
    stand(cluster, [node("n1", "a")], pod("shy", "n1", of=50, cpu="1", **away_from("ask")), ask)
    cluster.create("pods", ask)
    assert "didn't satisfy existing pods anti-affinity rules" in said(cluster)["message"]
    cluster.delete("pods", "shy", gracePeriodSeconds=0)
    assert node_of(cluster) == "n1"


def test_a_pod_in_the_other_zone_evens_the_spread(cluster: AnyCluster) -> None:
    """One more there, and here may be one more."""
    labels = {"app": "s"}
    ask = pod("ask", of=50, cpu="1", labels=labels, nodeSelector={ZONE: "a"}, **spread("s"))
    first, second = (pod(name, on, of=50, cpu="1", labels=labels) for name, on in (("s1", "n1"), ("s2", "n2")))
    ask["spec"]["topologySpreadConstraints"][0]["nodeAffinityPolicy"] = "Ignore"
    stand(cluster, [node("n1", "a"), node("n2", "b")], first, ask)
    cluster.create("pods", ask)
    assert "didn't match pod topology spread constraints" in said(cluster)["message"]
    cluster.create("pods", second)
    assert node_of(cluster) == "n1"


def test_a_label_makes_a_node_part_of_the_spread(cluster: AnyCluster) -> None:
    """It was in no zone before."""
    ask = pod("ask", of=50, cpu="1", labels={"app": "s"}, **spread("s"))
    stand(cluster, [node("n1")], ask)
    cluster.create("pods", ask)
    assert "missing required label" in said(cluster)["message"]
    cluster.change("nodes", "n1", lambda node: node["metadata"]["labels"].update({ZONE: "a"}))
    assert node_of(cluster) == "n1"


def test_replicas_that_keep_away_from_each_other_take_a_node_each(cluster: AnyCluster) -> None:
    """And the one too many says why it does not run."""
    labels, rules = {"app": "web"}, away_from("web")
    pods = [pod(f"web-{number}", of=50, cpu="1", labels=labels, **rules) for number in range(4)]
    stand(cluster, [node("n1"), node("n2"), node("n3")], *pods)
    for one in pods[:3]:
        cluster.create("pods", one)
    assert {node_of(cluster, f"web-{number}") for number in range(3)} == {"n1", "n2", "n3"}
    cluster.create("pods", pods[3])
    assert "3 node(s) didn't match pod anti-affinity rules" in said(cluster, "web-3")["message"]
