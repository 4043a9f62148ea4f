"""Where enforce is limited to some queues and namespaces, victims are chosen there, and all else is only told."""

from typing import Any

import msgspec
import pytest

from engine.audit import Invariant, audit, failed_checks
from engine.explain import held_back
from engine.model.decision import Decision, PodReason
from engine.model.objects import PriorityClass
from engine.model.snapshot import Safeguards, Snapshot
from engine.policies import policy
from tests.builders import ask, budget, named, node, pod, queue, snapshot, tree, victims_of
from tests.engine.test_explain import whole

TREE = tree({"prod": queue("8"), "test.a": queue(), "test.b": queue()})
WAYS = [("fence", "design"), ("priority", "kube-scheduler"), ("deserved", "arbitrator")]
everybody = pytest.mark.parametrize("way", WAYS, ids=lambda way: way[0])


def world(**limits: Any) -> Snapshot:
    """Two full nodes, of which the policy would take the young pod's."""
    return snapshot(
        TREE,
        node("n1", 1),
        node("n2", 1),
        pod("young", queue="test.a", namespace="a", node="n1", created_ms=2),
        pod("old", queue="test.b", namespace="b", node="n2", created_ms=1),
        ask("want", queue="prod", namespace="p", priority=10),
        PriorityClass(name=""),
        notices={"root.test.a": 0, "root.test.b": 0},
        safeguards=Safeguards(**limits),
    )


def decided(way: tuple[str, str], at: Snapshot) -> Decision:
    """What the ask comes to."""
    return policy(*way, {})(at, at.tree, named(at, "want"))


@everybody
def test_without_a_limit_any_of_them_goes(way: tuple[str, str]) -> None:
    """Else the tests below would show nothing."""
    assert len(victims_of(decided(way, world()))) == 1


@everybody
@pytest.mark.parametrize("victim", ["young", "old"])
@pytest.mark.parametrize("by", ["queues", "namespaces"])
def test_a_victim_is_chosen_where_enforce_acts(way: tuple[str, str], victim: str, by: str) -> None:
    """Whichever the policy would rather take."""
    letter = {"young": "a", "old": "b"}[victim]
    limits = {"queues": ("root.prod", f"root.test.{letter}")} if by == "queues" else {"namespaces": ("p", letter)}
    at = world(**limits)
    decision = decided(way, at)
    assert victims_of(decision) == [victim]
    assert not decision.safeguard
    checks = audit(at, at.tree, decision)
    assert Invariant.SCOPE in {check.law for check in checks}
    assert not failed_checks(checks)


@everybody
def test_an_ask_elsewhere_is_told_what_would_be_and_gets_nothing(way: tuple[str, str]) -> None:
    """The best set of all, held back by the limit, which is told with its queue."""
    decision = decided(way, world(queues=("root.test",)))
    assert victims_of(decision) == victims_of(decided(way, world()))
    assert decision.safeguard
    assert (decision.safeguard.interlock, decision.safeguard.detail) == ("out-of-scope", "root.prod")
    assert whole(held_back(decision, "out-of-scope")) == (
        "On hold: Enforce is limited to some queues and namespaces, and prod is outside them."
    )


@everybody
def test_an_ask_elsewhere_is_told_of_victims_that_budgets_let_go(way: tuple[str, str]) -> None:
    """The limit keeps it from being served, and is no reason to name a victim that could not be evicted anyway."""
    (usual,) = victims_of(decided(way, world()))
    (other,) = {"young", "old"} - {usual}
    at = world(queues=("root.test",))
    covered = next(one for one in at.pods if one.name == usual)
    guarded = at.with_budgets((msgspec.structs.replace(budget(0), namespace=covered.namespace),))
    assert victims_of(decided(way, guarded)) == [other]


@everybody
def test_where_nobody_within_makes_room_it_is_told_who_would_outside(way: tuple[str, str]) -> None:
    """With the queue that would have to be named, too."""
    decision = decided(way, world(queues=("root.prod",)))
    assert decision.safeguard
    assert decision.safeguard.detail in ("root.test.a", "root.test.b")


def test_who_stays_as_enforce_does_not_act_there_is_told_so() -> None:
    """In the table of a node's pods, and counted."""
    extra = pod("extra", queue="test.a", namespace="a", node="n2", cpu=0)
    base = world()
    at = snapshot(
        TREE,
        base.nodes,
        [*base.pods, extra],
        notices=base.notices,
        safeguards=Safeguards(queues=("root.prod", "root.test.b")),
    )
    decision = decided(WAYS[0], at)
    verdict = next(one for one in decision.trace.excluded if one.pod.name == "extra")
    assert verdict.reason is PodReason.OUTSIDE_SCOPE
    assert decision.trace.excluded_counts["outside-scope"] == 2


@pytest.mark.parametrize(
    ("queues", "told"),
    [
        ((), {"root.test.a", "root.test.b"}),
        (("root.prod", "root.test.a"), {"root.test.a"}),
        (("root.test.a",), set()),
    ],
)
def test_under_deserved_nobody_outside_is_told_to_give_back(queues: tuple[str, ...], told: set[str]) -> None:
    """Nor for an ask outside: it would be told of what is not done."""
    base = world()
    at = snapshot(TREE, base.nodes, list(base.pods), safeguards=Safeguards(queues=queues))
    decision = decided(("deserved", "arbitrator"), at)
    assert {one.queue for one in decision.notices} == told
