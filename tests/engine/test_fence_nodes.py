"""Nodes that policy fence passes over rather than evict in vain."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from engine.model.collections.cheapest import cheapest_first
from engine.model.columns.node_columns import Numbers
from engine.model.decision import NodeReason, Outcome, PodReason, Reason
from engine.model.objects import AffinityTerm, Requirement
from engine.planning.scheduling_pass import plan
from engine.policies import fence, policy
from tests.builders import OPTED_OUT, ask, named, node, pod, queue, reservation, snapshot, tree, victims_of

TREE = tree({"prod": queue("4"), "test": queue("0")})


def test_a_node_where_a_pod_that_stays_keeps_the_ask_away_is_passed_over() -> None:
    """Nobody is evicted where that would not let the ask in."""
    apart = AffinityTerm("kubernetes.io/hostname", (Requirement("app", "In", ("new",)),), ("ns",))
    lone = pod("lone", queue="prod", node="n1", cpu=1, anti_affinity=(apart,))
    at = snapshot(
        TREE, node("n1", 4, labels={"kubernetes.io/hostname": "n1"}), lone,
        pod("other", queue="test", node="n1", cpu=3), ask("new", queue="prod", cpu=2, labels={"app": "new"}),
    )  # fmt: skip
    decision = fence.decide(at, TREE, named(at, "new"))
    assert decision.outcome is Outcome.NO_CANDIDATE
    assert [verdict.reason for verdict in decision.trace.nodes] == [NodeReason.KEPT_OUT]


NEAR = AffinityTerm("host", (Requirement("app", "In", ("db",)),), ("ns",))


def test_a_pod_that_the_ask_wants_to_be_near_stays_though_it_would_go_first() -> None:
    """The least valuable of all: another goes in its place."""
    at = snapshot(
        TREE, node("n1", 4, labels={"host": "n1"}),
        pod("db", queue="test", node="n1", cpu=2, priority=0, labels={"app": "db"}),
        pod("web", queue="test", node="n1", cpu=2, priority=1),
        ask("new", queue="prod", cpu=2, priority=1, affinity=(NEAR,)),
    )  # fmt: skip
    decision = fence.decide(at, TREE, named(at, "new"))
    assert victims_of(decision) == ["web"]
    assert [(one.pod.name, one.reason) for one in decision.trace.reprieved] == [("db", PodReason.WANTED_NEAR)]


def test_of_several_that_it_wants_to_be_near_one_stays() -> None:
    """Whichever leaves room: here the smaller one, though it is the more expendable."""
    at = snapshot(
        TREE, node("n1", 4, labels={"host": "n1"}),
        pod("small", queue="test", node="n1", cpu=1, priority=0, labels={"app": "db"}),
        pod("large", queue="test", node="n1", cpu=3, priority=1, labels={"app": "db"}),
        ask("new", queue="prod", cpu=3, priority=1, affinity=(NEAR,)),
    )  # fmt: skip
    assert victims_of(fence.decide(at, TREE, named(at, "new"))) == ["large"]


def test_where_the_very_pod_that_it_wants_to_be_near_is_in_the_way_nobody_goes() -> None:
    """All candidates together would make room, but not for this ask."""
    at = snapshot(
        TREE, node("n1", 4, labels={"host": "n1"}),
        pod("db", queue="test", node="n1", cpu=3, labels={"app": "db"}),
        pod("web", queue="test", node="n1", cpu=1),
        ask("new", queue="prod", cpu=2, affinity=(NEAR,)),
    )  # fmt: skip
    decision = fence.decide(at, TREE, named(at, "new"))
    assert (decision.outcome, decision.reason) == (Outcome.NO_CANDIDATE, Reason.NO_ROOM)
    assert [verdict.reason for verdict in decision.trace.nodes] == [NodeReason.NOT_ENOUGH]


def test_a_node_that_is_kept_for_another_ask_is_passed_over() -> None:
    """Room that was made for one ask is not given to the next."""
    first = ask("first", queue="prod")
    at = snapshot(
        TREE, node("n1", 4), pod("old", queue="test", node="n1", cpu=4), first, ask("next", queue="prod"),
        reservation(first, node="n1"),
    )  # fmt: skip
    assert [v.reason for v in fence.decide(at, TREE, named(at, "next")).trace.nodes] == [NodeReason.RESERVED]


def test_an_asks_own_room_does_not_stand_against_it() -> None:
    """Decided again just before acting, the answer is the same."""
    asker = ask("new", queue="prod", cpu=4)
    objects = [node("n1", 4), pod("old", queue="test", node="n1", cpu=4), asker]
    at, again = snapshot(TREE, objects), snapshot(TREE, objects, reservation(asker, node="n1"))
    before, after = (fence.decide(one, TREE, named(one, "new")) for one in (at, again))
    assert before.reason is Reason.BELOW_GUARANTEE
    assert after == before


def test_where_the_last_resort_was_not_searched_to_its_end_nobody_says_that_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pods that opted out are all there are, and one set of them would have to be tried after the other."""
    monkeypatch.setattr("engine.policies.common.victim_search._TRIES", 0)
    queues = tree({"prod": queue("4"), "test": queue("3"), "test.a": queue("2"), "test.b": queue("1")})
    pods = [
        pod(f"p{number}", queue=f"test.{leaf}", node="n1", created_ms=number, priority=priority, priority_class="keep")
        for number, (leaf, priority) in enumerate([("a", 1), ("b", 1), ("a", 0), ("b", 0)])
    ]
    at = snapshot(queues, node("n1", 4), pods, ask("want", queue="prod", cpu=2, priority=5), OPTED_OUT)
    decision = policy("fence", "design", {"last_resort": "any"})(at, queues, named(at, "want"))
    assert decision.outcome is Outcome.SEARCH_LIMIT


@given(
    costs=arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(0, 12)), elements=st.integers(0, 2)),
    count=st.integers(1, 14),
)
def test_the_cheapest_nodes_are_the_first_of_all_in_order(costs: Numbers, count: int) -> None:
    """However many are equal in the criteria that come first; the place decides between equals."""
    by = np.concatenate([costs, [np.arange(costs.shape[1])]])
    assert cheapest_first(by, count).tolist() == cheapest_first(by)[:count].tolist()


def test_of_few_cheapest_nodes_that_are_all_reserved_the_next_ones_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thirty equal nodes, the first decisions of a pass take one after the other."""
    monkeypatch.setattr("engine.policies.fence.victims.node_costs._FIRST", 2)
    asks = [ask(f"new-{number:02}", queue="prod", cpu=2) for number in range(30)]
    nodes = [(node(f"n{number:02}", 2), pod(f"old-{number:02}", queue="test", node=f"n{number:02}", cpu=2))
             for number in range(30)]  # fmt: skip
    queues = tree({"prod": queue("100"), "test": queue("0")})
    at = snapshot(queues, list(chain.from_iterable(nodes)), asks)
    decisions = [one.decision for one in plan(at, queues, policy("fence", "design"))]
    assert [decision.node for decision in decisions] == [f"n{number:02}" for number in range(30)]
    assert [len(decision.trace.nodes) for decision in decisions] == [20] * 30
