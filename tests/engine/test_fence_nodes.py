"""Nodes that policy fence passes over rather than evict in vain."""

from engine.decision import NodeReason, Outcome, Reason
from engine.policies import fence
from engine.snapshot import AffinityTerm, Requirement
from tests.builders import ask, named, node, pod, queue, reservation, snapshot, tree

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
