"""Nodes that policy fence passes over rather than evict in vain."""

import pytest

from engine.model.decision import NodeReason, Outcome, PodReason, Reason
from engine.model.objects import AffinityTerm, Requirement
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
