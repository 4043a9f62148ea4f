"""What looks wrong in decisions by priority is recognised where it is so, with its numbers, and nowhere else."""

import msgspec
import pytest
from hypothesis import given

from engine.analysis.anomalies import Anomaly, AnomalyKind, find_anomalies
from engine.explain import anomaly_sentence, wasted_preemption
from engine.feasibility.plain import refusal
from engine.model.objects import AffinityTerm, DisruptionBudget, Node, Requirement, Taint
from tests.builders import amounts, node, pod
from tests.engine.priority_worlds import worlds
from tests.engine.test_counterfactual import ASK, cluster, decide
from tests.properties import examples

WEB = {"app": "web"}
IS_WEB = (Requirement("app", "In", ("web",)),)


def recognised(at, asker, trouble: AnomalyKind) -> list[Anomaly]:
    return [one for one in find_anomalies(at, asker, decide(at, asker)) if one.trouble is trouble]


def test_enough_is_free_in_all_but_on_no_node():
    """How much, on how many, and the most on one."""
    names = ("n1", "n2", "n3")
    at = cluster(*(node(one, 4) for one in names), *(pod(f"p-{one}", cpu="2500m", node=one) for one in names), ASK)
    (found,) = recognised(at, ASK, AnomalyKind.FRAGMENTED)
    assert (found.total, found.most, found.count) == (amounts("4500m")["cpu"], amounts("1500m")["cpu"], 3)
    assert found.resource == "cpu"


def test_what_is_free_where_the_ask_may_not_run_does_not_count():
    at = cluster(
        node("n1", 4), node("n2", 4, unschedulable=True), pod("a", cpu=2, node="n1"), pod("b", cpu=2, node="n2"), ASK
    )
    assert recognised(at, ASK, AnomalyKind.FRAGMENTED) == []


def test_lower_ones_that_stay_are_told_by_why():
    """On another node, for a budget's sake, or as it fits beside them."""
    budget = DisruptionBudget(namespace="ns", name="web", expressions=IS_WEB, allowed=0)
    at = cluster(
        node("n1", 5),
        node("n2", 2),
        pod("high", cpu=3, priority=50, node="n1"),
        pod("covered", cpu=1, priority=5, labels=WEB, node="n1"),
        pod("small", cpu=1, priority=4, node="n1"),
        pod("elsewhere", cpu=1, priority=1, node="n2"),
        ASK,
        budgets=[budget],
    )
    assert [one.pod.name for one in decide(at, ASK).victims] == ["high"]
    told = {trouble: recognised(at, ASK, trouble)[0].pods for trouble in AnomalyKind if trouble.startswith("lower")}
    assert told == {
        AnomalyKind.LOWER_ELSEWHERE: ("ns/elsewhere",),
        AnomalyKind.LOWER_PROTECTED: ("ns/covered",),
        AnomalyKind.LOWER_NO_HELP: ("ns/small",),
    }


def test_victims_beyond_their_budget_and_their_time_to_leave_are_told():
    budget = DisruptionBudget(namespace="ns", name="web", expressions=IS_WEB, allowed=0)
    at = cluster(node("n1", 4), pod("a", cpu=4, labels=WEB, grace_s=90, node="n1"), ASK, budgets=[budget])
    (over,), (grace,) = recognised(at, ASK, AnomalyKind.OVER_BUDGET), recognised(at, ASK, AnomalyKind.GRACE)
    assert (over.count, over.names, over.pods) == (1, ("web",), ("ns/a",))
    assert (grace.most, grace.pods) == (90, ("ns/a",))


def test_a_budget_with_an_empty_selector_is_told_where_it_was_to_protect_a_victim():
    """In its namespace, and where it would have let fewer go."""
    pods = [pod("a", cpu=2, node="n1"), pod("b", cpu=2, node="n1")]
    budgets = [
        DisruptionBudget(namespace="ns", name="all", allowed=1),
        DisruptionBudget(namespace="ns", name="wide", allowed=2),
        DisruptionBudget(namespace="other", name="all", allowed=0),
    ]
    at = cluster(node("n1", 4), *pods, ASK, budgets=budgets)
    (found,) = recognised(at, ASK, AnomalyKind.EMPTY_BUDGET)
    assert (found.names, found.pods, found.count) == (("ns/all",), ("ns/a", "ns/b"), 1)
    assert recognised(cluster(node("n1", 4), *pods, ASK, budgets=budgets[1:]), ASK, AnomalyKind.EMPTY_BUDGET) == []


def test_pods_that_request_nothing_and_stay_are_told():
    """Those that may go; one of a higher priority, or on another node, surprises nobody."""
    at = cluster(
        node("n1", 4),
        node("n2", 1),
        pod("busy", cpu=4, priority=5, node="n1"),
        pod("idle", cpu=0, priority=5, node="n1"),
        pod("proxy", cpu=0, priority=2_000_000_000, node="n1"),
        pod("far", cpu=0, node="n2"),
        ASK,
    )
    (found,) = recognised(at, ASK, AnomalyKind.BEST_EFFORT)
    assert (found.pods, found.count, found.node) == (("ns/idle",), 1, "n1")


NOT_READY = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")


@pytest.mark.parametrize(
    ("new", "told"),
    [
        (node("n2", 4, taints=(NOT_READY,), ready=False), True),
        (node("n2", 2, taints=(NOT_READY,), ready=False), False),
        (node("n2", 4, taints=(NOT_READY, Taint("team", "a", "NoSchedule")), ready=False), False),
        (node("n2", 4, taints=(Taint("node.kubernetes.io/unreachable", "", "NoSchedule"),), ready=False), False),
    ],
)
def test_a_node_that_is_about_to_have_room_is_told(new: Node, told: bool):
    """Not one that is too small, is for others, or is not heard of any more."""
    at = cluster(node("n1", 4), new, pod("a", cpu=4, node="n1"), ASK)
    assert [one.names for one in recognised(at, ASK, AnomalyKind.NOT_READY)] == ([("n2",)] if told else [])


def test_every_trouble_has_its_sentence():
    """With each number that it names."""
    for one in AnomalyKind:
        found = Anomaly(trouble=one, count=2, pods=("ns/a",), names=("x", "y"), resource="cpu", total=5, most=3)
        message = anomaly_sentence(found)
        assert message.plural % message.params


def test_who_came_to_where_room_was_made_is_told_where_it_was_seen():
    """Else that others did."""
    assert wasted_preemption("capacity-taken", "n1", "vip (2000)").params == {"node": "n1", "pods": "vip (2000)"}
    assert wasted_preemption("capacity-taken", "n1").params == {"node": "n1"}
    assert wasted_preemption("bound", "n1", "n1") is None


def zoned(*pods, asker):
    labels = [{"zone": "z1", "host": name} for name in ("n1", "n2")]
    return cluster(node("n1", 4, labels=labels[0]), node("n2", 4, labels=labels[1]), *pods, asker)


def test_pods_on_other_nodes_that_would_have_to_go_are_told():
    """Under anti-affinity over a zone."""
    asker = msgspec.structs.replace(ASK, anti_affinity=(AffinityTerm("zone", IS_WEB, ("ns",)),))
    at = zoned(pod("a", cpu=1, labels=WEB, node="n1"), pod("b", cpu=1, labels=WEB, node="n2"), asker=asker)
    (found,) = recognised(at, asker, AnomalyKind.OTHER_NODES)
    assert (found.node, found.pods, found.names) == ("n1", ("ns/b",), ("zone", "z1"))


def test_they_are_not_where_a_pod_elsewhere_may_not_go_or_more_is_in_the_way():
    """Nothing is told that would not come true."""
    apart = (AffinityTerm("zone", IS_WEB, ("ns",)),)
    asker = msgspec.structs.replace(ASK, anti_affinity=apart)
    high = pod("b", cpu=1, labels=WEB, priority=2000, node="n2")
    assert (
        recognised(zoned(pod("a", cpu=1, labels=WEB, node="n1"), high, asker=asker), asker, AnomalyKind.OTHER_NODES)
        == []
    )
    near = msgspec.structs.replace(asker, affinity=(AffinityTerm("zone", IS_WEB, ("ns",)),))
    at = zoned(pod("a", cpu=1, labels=WEB, node="n1"), pod("b", cpu=1, labels=WEB, node="n2"), asker=near)
    assert recognised(at, near, AnomalyKind.OTHER_NODES) == []


def test_nothing_is_recognised_of_an_ask_that_fits():
    at = cluster(node("n1", 4), ASK)
    assert find_anomalies(at, ASK, decide(at, ASK)) == ()


@examples(150)
@given(worlds())
def test_what_would_have_to_go_elsewhere_makes_room_if_it_does(world):
    """Held against the filters of the long way round, on a cluster without all that may go in the topology."""
    at, asker = world
    for found in recognised(at, asker, AnomalyKind.OTHER_NODES):
        key, value = found.names
        inside = {one.name for one in at.nodes if one.labels.get(key) == value}
        where = next(one for one in at.nodes if one.name == found.node)
        lower = {one.uid for one in at.pods if one.node and one.priority < asker.priority}
        here = {one.uid for one in at.pods_by_node[found.node]} & lower
        assert refusal(at, asker, where, here, miscounting=True) is not None
        left = tuple(one for one in at.pods if one.node not in inside or one.uid not in lower)
        without = msgspec.structs.replace(at, pods=left)
        assert refusal(without, asker, where, miscounting=True) is None


def test_a_class_above_all_others_is_told_as_one_that_may_be_too_high():
    """By the name of the class; not where another pod ranks as high, nor of the system's own."""
    low, mid = pod("low", cpu=4, node="n1", priority=1), pod("mid", cpu=4, node="n2", priority=5)
    system = pod("dns", cpu=0, node="n2", priority=2_000_000_000)

    def asking(**settings: object) -> list[Anomaly]:
        asker = msgspec.structs.replace(ASK, **settings)
        return recognised(cluster(node("n1", 4), node("n2", 4), low, mid, system, asker), asker, AnomalyKind.TOP_CLASS)

    (found,) = asking(priority=6, priority_class="urgent")
    assert (found.names, found.most, found.pods) == (("urgent",), 6, ("ns/low",))
    assert asking(priority=5, priority_class="urgent") == []
    assert asking(priority=6, priority_class="") == []
    assert asking(priority=2_000_001_000, priority_class="system-node-critical") == []
