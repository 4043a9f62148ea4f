"""What a tree's lint finds, and what it leaves in peace."""

import pytest
from hypothesis import given

from engine.model.notes import Severity
from engine.model.queue_tree import Queue, QueueTree
from engine.tree.lint import errors, lint
from engine.tree.lint.room import ClusterRoom
from tests.builders import queue, tree
from tests.engine.linted import findings, under
from tests.engine.strategies import growing_trees, queue_trees

GOOD = {"a": queue(2), "b": queue(2)}


@pytest.mark.parametrize(
    ("queues", "finding"),
    [
        (
            {"a": queue({"memory": "8Gi"}, max={"memory": "4Gi"})},
            (
                "error root.a guaranteed/memory: The guarantee of 8Gi memory is above the max of "
                "root.a, 4Gi, so it can’t be fulfilled."
            ),
        ),
        (
            {"t": queue(max=4), "t.a": queue(5), "t.b": queue(1)},
            (
                "error root.t.a guaranteed/cpu: The guarantee of 5 cpu is above the max of "
                "root.t, 4, so it can’t be fulfilled."
            ),
        ),
        (
            {"t": queue(4), "t.a": queue(3), "t.b": queue(2)},
            (
                "warning root.t guaranteed/cpu: Its guarantee is 4 cpu, but the queues below it "
                "have 5 in total, so not all of them can claim their guarantee."
            ),
        ),
        (
            {"t": queue(max=4), "t.a": queue(3), "t.b": queue(2)},
            (
                "warning root.t max/cpu: Its max is 4 cpu, but the queues below it have "
                "guarantees of 5 in total, so not all of them can be fulfilled."
            ),
        ),
        (
            {"t": queue(disabled=True), "t.a": queue(1, fence=True), "b": queue(1)},
            (
                "warning root.t.a preemption_policy: Its preemption policy has no effect: root.t "
                "disables preemption for all queues below it."
            ),
        ),
        (
            {"t": queue(fence=True), "t.a": queue(disabled=True), "t.b": queue(1), "t.c": queue(1)},
            (
                "info root.t.a preemption_policy: Preemption is disabled here, inside the fence "
                "of root.t. Even the queues inside that fence can’t preempt it, and it can’t "
                "preempt them."
            ),
        ),
        (
            {"t": queue(max={"pods": 0}), "t.a": queue(1), "b": queue(1)},
            "warning root.t.a : The max of root.t is 0 pods, so no pod can run in it.",
        ),
        (
            {"root": queue(fence=True)},
            (
                "warning root preemption_policy: The root’s preemption policy has no effect: "
                "nothing is outside the root."
            ),
        ),
        (
            {"t": queue(delay_ms=1), "t.a": queue(1), "t.b": queue(1)},
            "warning root.t delay: A delay has no effect on a parent queue. Set it on its leaf queues.",
        ),
        (
            {"t": queue(namespaces=("x",)), "t.a": queue(1), "t.b": queue(1)},
            "warning root.t namespaces: Namespaces have no effect on a parent queue. Assign them to a leaf queue.",
        ),
        (
            {"t": queue(max=4), "t.a": queue(1, max=5)},
            "warning root.t.a max/cpu: The max of 5 cpu is never reached: the parent queue root.t has 4.",
        ),
        (
            {"a": queue()},
            "warning root.a guaranteed: It has no guarantee, so its pods can’t preempt and can all be preempted.",
        ),
        (
            {"a": queue(1, fence=True)},
            (
                "info root.a preemption_policy: Its own fence lets nothing out, so it can’t "
                "preempt, regardless of its guarantee."
            ),
        ),
        (
            {"t": queue(fence=True), "t.a": queue(1), "b": queue(1)},
            (
                "warning root.t.a preemption_policy: It is the only leaf queue inside the fence "
                "of root.t, so it can’t preempt."
            ),
        ),
        (
            {"t": queue(disabled=True), "t.a": queue(1)},
            (
                "warning root.t.a preemption_policy: root.t disables preemption, so its "
                "guarantee helps only while room is free."
            ),
        ),
        ({"t": queue(parent_declared=True)}, "warning root.t : It contains no queue, so no pod can run in it."),
        (
            {"a": queue(1, namespaces=("x",)), "b": queue(1, namespaces=("y", "x"))},
            "warning root.b namespaces/1: Namespace x belongs to root.a, which comes before it.",
        ),
    ],
)
def test_what_contradicts_itself_or_has_no_effect_is_found(queues: dict[str, Queue], finding: str) -> None:
    """At its field, in one sentence."""
    assert finding in findings(queues)


def test_a_good_tree_has_nothing_to_find() -> None:
    """Two queues with guarantees, each in reach of the other."""
    assert findings(GOOD) == []


def test_guarantees_are_held_against_the_cluster() -> None:
    """They fit, which is said too, or they don't; a parent that says nothing promises what its queues do."""
    deep = {"t.a": queue({"cpu": 2, "nvidia.com/gpu": 1}), "t.b": queue(2)}
    assert findings(deep, {"cpu": 5, "nvidia.com/gpu": 1}) == [
        "info root : The guarantees fit: 4 / 5 cpu, 1 / 1 nvidia.com/gpu."
    ]
    assert findings(deep, {"cpu": 3}) == [
        "warning root guaranteed/cpu: The guarantees exceed the capacity: 4 of 3 cpu.",
        "warning root guaranteed/nvidia.com~1gpu: The guarantees exceed the capacity: 1 of 0 nvidia.com/gpu.",
        (
            "warning root.t.a guaranteed/nvidia.com~1gpu: The guarantee of 1 nvidia.com/gpu "
            "exceeds the capacity of all nodes, 0."
        ),
    ]


@given(queue_trees())
def test_errors_come_first_and_are_the_same_without_a_cluster(shape: QueueTree) -> None:
    """What keeps a tree from being published does not depend on where it is used."""
    found = lint(shape, under(), ClusterRoom({"cpu": 1000}))
    severities = [list(Severity).index(one.severity) for one in found]
    assert severities == sorted(severities)
    assert errors(shape, under()) == tuple(one for one in found if one.severity is Severity.ERROR)


@given(growing_trees())
def test_every_finding_says_what_to_do_about_it(shape: QueueTree) -> None:
    """At a queue of the tree, in sentences that are whole; what holds leaves nothing to do."""
    for one in lint(shape, under(), ClusterRoom({"cpu": 1000})):
        assert one.path in shape
        assert "%(" not in f"{one.text}{one.remedy}"
        assert bool(one.remedy) != one.text.startswith("The guarantees fit:")


@given(growing_trees())
def test_under_another_policy_nothing_is_said_of_guarantees(shape: QueueTree) -> None:
    """Policy priority knows none, nor fences: what is left is about where pods run, and nothing keeps it back."""
    found = lint(shape, under("priority"), ClusterRoom({"cpu": 1000}))
    assert not [one for one in found if "guarantee" in f"{one.text}{one.remedy}".lower() or "fence" in one.text]
    assert {one.field.partition("/")[0] for one in found} <= {"", "namespaces", "max"}
    assert errors(shape, under("priority")) == ()


def test_a_very_deep_tree_is_no_trouble() -> None:
    """As deep as a path may be long."""
    path = ".".join("a" * 247)
    assert len(lint(tree({path: queue(1)}), under())) == 0


def test_by_yunikorns_own_rules_what_is_above_reaches_further_and_disabled_less() -> None:
    """Leaves inherit a delay, and pods below a queue that turned preemption off still preempt, fenced or not."""
    queues = {
        "t": queue(delay_ms=1, fence=True),
        "t.off": queue(disabled=True),
        "t.off.fenced": queue(fence=True),
        "t.off.fenced.a": queue(1),
        "own": queue(1, fence=True),
    }
    fields = ("delay:", "preemption_policy:")
    ours, theirs = (
        [one for one in findings(queues, dialect=dialect) if any(field in one for field in fields)]
        for dialect in ("design", "yunikorn")
    )
    said = {one.split()[1] for one in ours}
    assert said == {"root.t", "root.t.off", "root.t.off.fenced", "root.t.off.fenced.a", "root.own"}
    fenced = "Its own fence lets nothing out, so it can’t preempt, regardless of its guarantee."
    assert theirs == [f"info root.own preemption_policy: {fenced}"]


def test_an_amount_of_a_flavor_needs_a_policy_that_knows_flavors() -> None:
    """Else it would promise and limit nothing."""
    queues = {"a": queue({"cpu@spot": "2"}), "b": queue(max={"nvidia.com/gpu@a100": 1})}
    for policy in ("fence", "priority"):
        wrong = [line for line in findings(queues, policy=policy) if line.startswith("error")]
        assert wrong == [
            f"error root.a guaranteed/cpu@spot: cpu of flavor spot: the policy {policy} does not support flavors.",
            (
                "error root.b max/nvidia.com~1gpu@a100: nvidia.com/gpu of flavor a100: "
                f"the policy {policy} does not support flavors."
            ),
        ]
    assert not findings(queues, policy="cohort")
