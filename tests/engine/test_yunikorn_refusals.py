"""Where YuniKorn's rules preempt nothing, and why; and what a lowered max takes."""

from typing import Any

import pytest

from engine.model.decision import Decision, Outcome, Reason
from engine.model.objects import Node, Pod
from engine.model.queue_tree import QueueTree
from engine.policies.yunikorn import Parameters, decide, enforce
from tests.builders import ask, node, pod, queue, snapshot, tree, victims_of

TREE = tree({"prod": queue({"cpu": 4}), "test": queue({"cpu": 1})})
FULL = (node("n1", 4), *(pod(f"t{n}", queue="test", node="n1") for n in range(4)))

CORDONED = node("n2", 9, unschedulable=True)


def decided(tree: QueueTree, *objects: Node | Pod, **parameters: Any) -> Decision:
    """For the only ask."""
    at = snapshot(tree, *objects)
    return decide(at, tree, at.asks[0], Parameters(**parameters))


def test_a_queue_below_its_guarantee_takes_from_one_above_its_own() -> None:
    decision = decided(TREE, *FULL, ask("a", queue="prod"))
    assert (decision.outcome, decision.reason, decision.node) == (Outcome.PREEMPT, Reason.BELOW_GUARANTEE, "n1")
    assert len(victims_of(decision)) == 1


@pytest.mark.parametrize(
    ("objects", "parameters", "outcome", "reason"),
    [
        ((*FULL, ask("a", queue="prod")), {"preemption": False}, Outcome.NOT_ELIGIBLE, Reason.TURNED_OFF),
        ((*FULL, ask("a", queue="prod", never_preempts=True)), {}, Outcome.NOT_ELIGIBLE, Reason.NEVER),
        ((*FULL, CORDONED, ask("a", queue="prod", cpu=5)), {}, Outcome.NOT_ELIGIBLE, Reason.OVER_GUARANTEE),
        ((*FULL, ask("a", queue="elsewhere")), {}, Outcome.NOT_ELIGIBLE, Reason.NO_QUEUE),
        ((*FULL, ask("a", queue="prod", unread_rules=("claims",))), {}, Outcome.NOT_ELIGIBLE, Reason.UNREAD_RULES),
        ((*FULL, pod("?", queue="test", node="n1", unread=True), ask("a", queue="prod")), {}, None, Reason.UNREAD),
        ((node("n1", 8), ask("a", queue="prod")), {}, Outcome.FITS, Reason.FITS),
        ((node("n1", 1), pod("t", queue="test", node="n1"), ask("a", queue="prod")), {}, None, Reason.NO_CANDIDATES),
    ],
)
def test_nothing_is_taken_and_the_reason_told(
    objects: tuple[Node | Pod, ...], parameters: dict[str, Any], outcome: Outcome | None, reason: Reason
) -> None:
    """Each of them by its name."""
    decision = decided(TREE, *objects, **parameters)
    assert not decision.victims
    assert outcome in (None, decision.outcome)
    assert decision.reason is reason


@pytest.mark.parametrize(("sibling", "reason"), [((), Reason.FENCE), (("b",), Reason.NO_CANDIDATES)])
def test_a_fence_is_named_only_where_it_is_what_leaves_nobody(sibling: tuple[str, ...], reason: Reason) -> None:
    """A sibling inside of it that is within its guarantee is no work of the fence's."""
    fenced = tree({"t": queue(fence=True), "t.a": queue({"cpu": 4}), "t.b": queue({"cpu": 4}), "test": queue()})
    within = [pod(name, queue="t.b", node="n1") for name in sibling]
    decision = decided(fenced, node("n1", 2), *within, pod("t", queue="test", cpu=2, node="n1"), ask("a", queue="t.a"))
    assert (decision.outcome, decision.reason) == (Outcome.NO_CANDIDATE, reason)


def test_the_delay_counts_from_the_creation_in_whole_seconds() -> None:
    """An ask of 10 s ago waits 20 s more."""
    at = snapshot(TREE, *FULL, ask("a", queue="prod", created_ms=1_700), now=11_700)
    decision = decide(at, TREE, at.asks[0])
    assert (decision.reason, decision.due_ms) == (Reason.DELAY, 31_000)


def test_the_delay_of_a_queue_above_is_inherited() -> None:
    """Unless the leaf has its own."""
    above = tree({"p": queue(delay_ms=5_000), "p.prod": queue({"cpu": 4}), "test": queue({"cpu": 1})})
    at = snapshot(above, *FULL, ask("a", queue="p.prod"), now=4_000)
    assert decide(at, above, at.asks[0]).due_ms == 5_000


class TestALoweredMax:
    """Pods go until the queue is under it."""

    OVER = tree({"a": queue({"cpu": 1}, max={"cpu": 2}, quota_delay_ms=60_000), "b": queue()})

    def test_takes_what_is_over_it(self) -> None:
        """Two of four."""
        at = snapshot(self.OVER, node("n1", 8), *(pod(f"p{n}", queue="a", node="n1") for n in range(4)))
        (found,) = enforce(at, self.OVER)
        assert (found.queue, found.preemptable, len(found.victims)) == ("root.a", {"cpu": 2000}, 2)

    def test_of_a_queue_without_a_delay_is_only_a_limit(self) -> None:
        """New pods wait, and nobody goes."""
        over = tree({"a": queue(max={"cpu": 2})})
        at = snapshot(over, node("n1", 8), *(pod(f"p{n}", queue="a", node="n1") for n in range(4)))
        assert enforce(at, over) == ()

    def test_is_never_undercut(self) -> None:
        """A pod that is larger than what is over it stays."""
        at = snapshot(self.OVER, node("n1", 8), pod("large", queue="a", cpu=3, node="n1"))
        (found,) = enforce(at, self.OVER)
        assert found.victims == ()

    def test_of_a_parent_is_shared_out_by_what_its_leaves_use_beyond_their_guarantees(self) -> None:
        """Three to one."""
        over = tree({"t": queue(max={"cpu": 4}, quota_delay_ms=1), "t.a": queue({"cpu": 1}), "t.b": queue({"cpu": 3})})
        pods = [
            *(pod(f"a{n}", queue="t.a", node="n1") for n in range(4)),
            *(pod(f"b{n}", queue="t.b", node="n1") for n in range(4)),
        ]
        (found,) = enforce(snapshot(over, node("n1", 8), *pods), over)
        assert found.shares == {"root.t.a": {"cpu": 3000}, "root.t.b": {"cpu": 1000}}
        assert sorted(one.queue or "" for one in found.victims) == ["root.t.a"] * 3 + ["root.t.b"]
