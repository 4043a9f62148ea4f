"""May a pod run on a node: each reason alone, whether evictions may cure it, and sums of any size."""

from typing import Any

import msgspec
import pytest

from engine.feasibility import FITS, Feasibility, NodeRefusal
from engine.feasibility.plain import refusal
from engine.model.decision import NodeReason, Outcome
from engine.model.objects import (
    AffinityTerm,
    Claim,
    HostPort,
    Node,
    NodeSelectorTerm,
    Pod,
    Requirement,
    SpreadConstraint,
    Taint,
    Toleration,
    Volume,
)
from engine.model.snapshot import Snapshot
from engine.policies import priority
from tests.builders import NOW, ask, node, pod, refused

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
WEB = (Requirement("app", "In", ("web",)),)
IN_ZONE = {ZONE: "za", HOST: "n1"}


def near(key: str = ZONE) -> AffinityTerm:
    return AffinityTerm(key, WEB, ("ns",))


def web(name: str = "web", **settings: Any) -> Pod:
    return pod(name, node="n1", labels={"app": "web"}, **settings)


@pytest.mark.parametrize(
    ("asker", "on", "there", "reason", "curable"),
    [
        ({}, {"unread": True}, (), NodeReason.UNREAD, False),
        ({}, {}, (web(unread=True),), NodeReason.UNREAD, False),
        ({}, {"unschedulable": True}, (), NodeReason.UNSCHEDULABLE, False),
        ({}, {"taints": (Taint("a", "b", "NoExecute"),)}, (), NodeReason.TAINT, False),
        ({"node_selector": {ZONE: "zb"}}, {}, (), NodeReason.SELECTOR, False),
        ({"node_affinity": (NodeSelectorTerm(),)}, {}, (), NodeReason.AFFINITY, False),
        ({"host_ports": (HostPort(80),)}, {}, (web(host_ports=(HostPort(80, ip="10.0.0.1"),)),), "host-port", True),
        ({"cpu": 5}, {}, (), NodeReason.TOO_SMALL, False),
        ({"cpu": 4}, {}, (web(),), NodeReason.INSUFFICIENT, True),
        ({}, {"pods": 1}, (web(),), NodeReason.INSUFFICIENT, True),
        ({"claims": ("data",)}, {}, (), NodeReason.UNBOUND_CLAIM, False),
        ({"spread": (SpreadConstraint("rack"),)}, {}, (), NodeReason.SPREAD_KEY, False),
        ({"spread": (SpreadConstraint(ZONE, 1, WEB, 2),)}, {}, (web(), web("2")), NodeReason.SPREAD, True),
        ({"affinity": (near("rack"),)}, {}, (web(),), NodeReason.POD_AFFINITY, False),
        ({"affinity": (near(),)}, {}, (), NodeReason.POD_AFFINITY, False),
        ({"anti_affinity": (near(),)}, {}, (web(),), NodeReason.ANTI_AFFINITY, True),
        ({"labels": {"app": "web"}}, {}, (pod("x", node="n1", anti_affinity=(near(),)),), NodeReason.KEPT_OUT, True),
    ],
)
def test_each_reason_is_named(
    asker: dict[str, Any], on: dict[str, Any], there: tuple[Pod, ...], reason: NodeReason, curable: bool
) -> None:
    """By all nodes at once and the long way round alike; and whether the leaving of pods may cure it."""
    told = refused(ask("a", **asker), node("n1", labels=IN_ZONE, **on), *there)
    assert told is not None
    assert (told.reason, told.curable) == (reason, curable)


@pytest.mark.parametrize(
    ("asker", "on", "there"),
    [
        ({"tolerations": (Toleration(operator="Exists"),)}, {"taints": (Taint("a"),), "unschedulable": True}, ()),
        ({}, {"taints": (Taint("a", effect="PreferNoSchedule"),)}, ()),
        ({"host_ports": (HostPort(80, ip="10.0.0.2"),)}, {}, (web(host_ports=(HostPort(80, ip="10.0.0.1"),)),)),
        ({"host_ports": (HostPort(80, "UDP"),)}, {}, (web(host_ports=(HostPort(80),)),)),
        ({"affinity": (near(),)}, {}, (web(),)),
        ({"affinity": (near(),), "labels": {"app": "web"}}, {}, ()),
        ({"anti_affinity": (near("rack"),)}, {}, (web(),)),
        ({"spread": (SpreadConstraint(ZONE, 1, WEB),)}, {}, (web(), web("2"))),
    ],
)
def test_what_is_no_reason(asker: dict[str, Any], on: dict[str, Any], there: tuple[Pod, ...]) -> None:
    """Tolerated taints, other addresses, the first of its kind, topologies that the node is not in."""
    assert refused(ask("a", **asker), node("n1", labels=IN_ZONE, **on), *there) is None


def claimed(claim: Claim | None, *volumes: Volume, labels: dict[str, str]) -> NodeReason | None:
    """Why a pod with the claim ``data`` can't run on a node with these labels."""
    asker, on = ask("a", claims=("data",)), node("n1", labels=labels)
    at = Snapshot(
        now_ms=NOW,
        nodes=(on,),
        pods=(asker,),
        claims={("ns", "data"): claim} if claim else {},
        volumes={volume.name: volume for volume in volumes},
    )
    found = Feasibility(at, asker).on(0).refusal()
    assert found == refusal(at, asker, on)
    return found.reason if found else None


def test_a_volume_is_reached_from_its_own_nodes_only() -> None:
    """By the node affinity of a local one, by the zone label of a zonal one, also under the label of former days."""
    bound = Claim(namespace="ns", name="data", volume="v")
    here = NodeSelectorTerm((Requirement(HOST, "In", ("n1",)),))
    old = "failure-domain.beta.kubernetes.io/zone"
    zonal = Volume(name="v", zones=(Requirement(old, "In", ("za", "zb")),))
    assert claimed(bound, Volume(name="v", node_affinity=(here,)), labels=IN_ZONE) is None
    assert claimed(bound, Volume(name="v", node_affinity=(here,)), labels={HOST: "n2"}) is NodeReason.VOLUME
    assert claimed(bound, zonal, labels=IN_ZONE) is None
    assert claimed(bound, zonal, labels={old: "zc"}) is NodeReason.VOLUME_ZONE
    assert claimed(bound, zonal, labels={}) is None
    assert claimed(bound, labels={}) is NodeReason.UNBOUND_CLAIM
    assert claimed(None, labels={}) is NodeReason.UNBOUND_CLAIM


def test_sums_beyond_64_bits_are_exact() -> None:
    """A wrong sum would let the ask in, or evict for nothing."""
    huge = {"memory": 2**63 - 1, "pods": 1}
    on = Node(name="n1", allocatable={"memory": 2**63 - 1, "pods": 110})
    pods = tuple(Pod(uid=f"p{i}", namespace="ns", name=f"p{i}", node="n1", requests=huge, priority=i) for i in range(3))
    asker = Pod(uid="a", namespace="ns", name="a", requests={"memory": 1, "pods": 1}, priority=9)
    at = Snapshot(now_ms=NOW, nodes=(on,), pods=(*pods, asker))
    decision = priority.decide(at, None, asker)  # type: ignore[arg-type]
    assert decision.outcome is Outcome.PREEMPT
    assert len(decision.victims) == 3


@pytest.mark.parametrize(
    "asker",
    [
        ask("a", anti_affinity=(near(),), priority=9),
        ask("a", spread=(SpreadConstraint(ZONE, 1, WEB, 2),), labels={"app": "web"}, priority=9),
        ask("a", host_ports=(HostPort(80),), priority=9),
    ],
)
def test_more_pods_count_than_fit_into_a_byte(asker: Pod) -> None:
    """What each pod counts is kept in few bits, because there are very many; their sum is not."""
    there = tuple(web(f"web-{number:03}", cpu=0, host_ports=(HostPort(80),)) for number in range(256))
    at = Snapshot(now_ms=NOW, nodes=(node("n1", pods=300, labels=IN_ZONE),), pods=(*there, asker))
    assert Feasibility(at, asker).refusing()[0] != FITS
    decision = priority.decide(at, None, asker)  # type: ignore[arg-type]
    assert decision.outcome is Outcome.PREEMPT


def test_what_is_nominated_may_be_beyond_64_bits_too() -> None:
    """Whatever somebody asks for, the others are judged."""
    huge = {"memory": 2**63 - 1}
    waiting = (Pod(uid=f"w{i}", namespace="ns", name=f"w{i}", requests=huge, nominated_node="n1") for i in range(3))
    asker = Pod(uid="a", namespace="ns", name="a", requests={"memory": 1})
    at = Snapshot(now_ms=NOW, nodes=(Node(name="n1", allocatable={"memory": 2**60}),), pods=(*waiting, asker))
    assert Feasibility(at, asker).refusing()[0] != FITS
    assert Feasibility(at, msgspec.structs.replace(asker, priority=1)).refusing()[0] == FITS


def test_a_node_is_kept_for_a_pod_that_can_not_be_read() -> None:
    """Nobody knows how much room that needs; what a policy takes for free, the laws would not."""
    on, coming = node("n1"), ask("coming", nominated_node="n1", unread=True)
    assert refused(ask("a"), on, coming) == NodeRefusal(NodeReason.UNREAD)


def test_rules_without_end_cost_no_more_than_nodes_have_labels_and_resources() -> None:
    """Somebody's odd pod must not take the memory of everybody's engine."""
    apart = tuple(AffinityTerm(f"rack-{number}", WEB, ("ns",)) for number in range(1_000))
    asker = ask("a", anti_affinity=apart, resources={f"example.com/{number}": 1 for number in range(1_000)})
    there = web(anti_affinity=apart)
    at = Snapshot(now_ms=NOW, nodes=(node("n1", labels=IN_ZONE),), pods=(there, asker))
    assert len(Feasibility(at, asker).checks) < 10
