"""Guarantees that no preemption can ever satisfy: named where there are any, and nowhere else."""

import time

import pytest
from hypothesis import example, given

from engine.explain import reason
from engine.model.decision import Outcome, Reason
from engine.model.placement_rules import Rule, RuleName
from engine.model.queue_tree import PriorityPolicy, Queue, QueueTree
from engine.policies import fence
from engine.tree.lint import lint
from engine.tree.lint.dynamic import with_samples
from engine.tree.reach import border, claims
from tests.builders import ask, named, node, pod, queue, snapshot, tree
from tests.engine.linted import findings, under
from tests.engine.strategies import growing_tree, growing_trees, queue_trees

NEVER = "No preemption can ever fulfill its guarantee: "
FIRST = {"priority_policy": PriorityPolicy.FENCE, "priority_offset": 10}


@pytest.mark.parametrize(
    ("queues", "why"),
    [
        (
            {"t": queue(fence=True), "t.a": queue(2), "b": queue(2)},
            "preemption_policy: It is the only leaf queue inside the fence of root.t, so it can’t preempt.",
        ),
        (
            {"t": queue(fence=True), "t.a": queue(2), "t.b": queue(disabled=True), "c": queue(2)},
            f"guaranteed: {NEVER}preemption is disabled in every queue that it could preempt.",
        ),
        (
            {"t": queue(4, fence=True), "t.a": queue(), "t.b": queue(), "c": queue(2)},
            (
                f"guaranteed: {NEVER}the guarantee is that of root.t, "
                "and every queue that it could preempt is also below root.t."
            ),
        ),
        (
            {"t": queue(fence=True), "t.a": queue(2, priority_policy=PriorityPolicy.FENCE), "t.b": queue(2, **FIRST)},
            (
                f"guaranteed: {NEVER}priority fences, such as that of root.t.b, "
                "rank all possible victims above its pending pods."
            ),
        ),
        (
            {"t": queue(fence=True, max={"pods": 3}), "t.a": queue(2), "t.b": queue({"cpu": 1, "pods": 3})},
            f"guaranteed: {NEVER}the max of root.t has no room for another pod, even after evictions.",
        ),
        (
            {"t": queue(fence=True), "t.a": queue(2, max={"pods": 0}), "t.b": queue(2)},
            f"guaranteed: {NEVER}the max of root.t.a has no room for another pod, even after evictions.",
        ),
        (
            {"t": queue(4, fence=True), "t.a": queue(), "t.b": queue(disabled=True), "t.c": queue()},
            f"guaranteed: {NEVER}no queue that it could preempt is within reach, for different reasons.",
        ),
        (
            {"t.a": queue({"cpu": 2, "pods": 0}), "b": queue(2)},
            (
                "guaranteed: Its guarantee is 0 pods. A pending pod counts as a pod, so no other "
                "guarantee can be claimed either."
            ),
        ),
        (
            {"t": queue(4), "t.a": queue(max=0), "b": queue(2)},
            f"guaranteed: {NEVER}a guarantee or max of 0 leaves nothing to claim.",
        ),
        (
            {"t": queue(4), "t.a": queue(0), "b": queue(2)},
            f"guaranteed: {NEVER}a guarantee or max of 0 leaves nothing to claim.",
        ),
        (
            {"t.a": queue(0), "b": queue(2)},
            "guaranteed: It has no guarantee, so its pods can’t preempt and can all be preempted.",
        ),
    ],
)
def test_it_says_why_nothing_is_in_reach(queues: dict[str, Queue], why: str) -> None:
    """A fence, a priority, a max; a guarantee that is shared with all who could give."""
    assert f"warning root.t.a {why}" in findings(queues)


def test_a_fence_around_the_only_leaf_of_a_tree_is_not_told() -> None:
    """Wherever the fence were, there is nobody to take from."""
    assert findings({"t": queue(fence=True), "t.a": queue(2)}) == findings({"t": queue(), "t.a": queue(2)})


def test_a_queue_that_may_come_into_being_is_one_to_take_from() -> None:
    """Alone inside its fence, until somebody's pods bring a leaf beside it."""
    queues = {"t": queue(fence=True, parent_declared=True), "t.a": queue(2), "b": queue(2)}
    assert any("only leaf queue inside the fence" in one for one in findings(queues))
    users = Rule(name=RuleName.USER, create=True, parent=Rule(name=RuleName.FIXED, value="root.t"))
    provided = Rule(name=RuleName.PROVIDED)
    assert not any("only leaf queue inside the fence" in one for one in findings(queues, None, provided, users))


def test_in_yunikorns_own_dialect_it_is_not_told() -> None:
    """What may take from what is another matter there."""
    queues = {"t": queue(fence=True), "t.a": queue(2), "t.b": queue(disabled=True), "c": queue(2)}
    assert not any(NEVER in one for one in findings(queues, dialect="yunikorn"))


def unreachable(shape: QueueTree) -> set[str]:
    """Leaves below a guarantee, without a fence of their own, that can take from no other leaf, each pair asked."""
    whole = with_samples(shape)
    return {
        leaf
        for leaf in shape.leaves
        if any(amount for above in shape.lineage(leaf) for amount in shape[above].guaranteed.values())
        if shape.fence(leaf) != leaf and not shape.disabled_by(leaf)
        if (len(whole.leaves) > 1 or not claims(shape, leaf))
        if not any(border(whole, leaf, other).allowed for other in whole.leaves)
    }


@given(queue_trees() | growing_trees())
@example(growing_tree(8660170))
def test_it_is_told_of_exactly_those_that_can_take_from_nobody(shape: QueueTree) -> None:
    """Held against the borders of all pairs of leaves."""
    texts = (NEVER, "Its guarantee is 0 pods.", "It is the only leaf queue inside")
    assert {one.path for one in lint(shape, under()) if one.text.startswith(texts)} == unreachable(shape)


def test_a_thousand_queues_with_nothing_in_reach_take_no_long_look() -> None:
    """One shared guarantee, or all others switched off: it stays below what an editor may take for a keystroke."""
    for others in (queue(), queue(disabled=True)):
        shape = tree({"root": queue(5000), **{f"q{number}": others for number in range(1000)}, "a": queue(1)})
        began = time.process_time()
        lint(shape, under())
        assert time.process_time() - began < 3


def test_a_guarantee_above_that_stands_in_the_way_of_a_nearer_one_is_told() -> None:
    """The leaf is short of cpu; what it may not have is memory, as its parent has all of that."""
    shape = {"t": queue({"memory": "4Gi"}), "t.a": queue(4), "t.b": queue(), "c": queue()}
    why = (
        "guaranteed: Its pods can preempt only while root.t is also below its guarantee "
        "of memory, because no nearer queue has a guarantee of that."
    )
    assert [one for one in findings(shape) if why in one] == [f"warning root.t.a {why}"]
    nearer = shape | {"t.a": queue({"cpu": 4, "memory": "1Gi"})}
    assert [one for one in findings(nearer) if "Its pods can preempt only while" in one] == []
    small = {"memory": "1Gi"}
    world = snapshot(
        tree(shape),
        node(cpu=4, resources={"memory": "8Gi"}),
        pod("full", queue="root.t.b", node="n1", cpu=1, resources={"memory": "4Gi"}),
        pod("rest", queue="root.c", node="n1", cpu=3, resources=small),
        ask("a", queue="root.t.a", cpu=1, resources=small),
    )
    decided = fence.decide(world, tree(shape), named(world, "a"))
    assert (decided.outcome, decided.reason) == (Outcome.NOT_ELIGIBLE, Reason.AT_GUARANTEE)
    assert reason(decided).params["queue"] == "t"
