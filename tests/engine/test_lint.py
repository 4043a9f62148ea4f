"""What a tree's lint finds, and what it leaves in peace."""

from typing import Any

import pytest
from hypothesis import given

from engine.formats.notes import Severity
from engine.lint import errors, lint
from engine.queues import Queue, QueueTree
from tests.builders import amounts, queue, tree
from tests.engine.strategies import queue_trees


def findings(queues: dict[str, Queue], capacity: Any = None) -> list[str]:
    """Severity, queue, field and sentence of every finding."""
    found = lint(tree(queues), amounts(capacity) if capacity else None)
    return [f"{one.severity} {one.path} {one.field}: {one.text}" for one in found]


GOOD = {"a": queue(2), "b": queue(2)}


@pytest.mark.parametrize(
    ("queues", "finding"),
    [
        (
            {"a": queue({"memory": "8Gi"}, max={"memory": "4Gi"})},
            "error root.a guaranteed/memory: Guaranteed memory 8Gi is above the max of root.a, 4Gi: it can't be kept.",
        ),
        (
            {"t": queue(max=4), "t.a": queue(5), "t.b": queue(1)},
            "error root.t.a guaranteed/cpu: Guaranteed cpu 5 is above the max of root.t, 4: it can't be kept.",
        ),
        (
            {"t": queue(4), "t.a": queue(3), "t.b": queue(2)},
            (
                "warning root.t guaranteed/cpu: It is guaranteed 4 cpu, and the queues below it 5 together: "
                "they can't all claim what they were promised."
            ),
        ),
        (
            {"root": queue(fence=True)},
            (
                "warning root preemption_policy: "
                "The root's preemption policy has no effect: there is nothing outside of it."
            ),
        ),
        (
            {"t": queue(delay_ms=1), "t.a": queue(1), "t.b": queue(1)},
            "warning root.t delay: A delay has no effect on a queue that holds queues: set it on its leaves.",
        ),
        (
            {"t": queue(namespaces=("x",)), "t.a": queue(1), "t.b": queue(1)},
            "warning root.t namespaces: Namespaces have no effect on a queue that holds queues: give them to a leaf.",
        ),
        (
            {"t": queue(max=4), "t.a": queue(1, max=5)},
            "warning root.t.a max/cpu: Max cpu 5 is never reached: root.t above has 4.",
        ),
        (
            {"a": queue()},
            (
                "warning root.a guaranteed: "
                "It has no guarantee: it may preempt nothing, and all that it runs may be preempted."
            ),
        ),
        (
            {"a": queue(1, fence=True)},
            (
                "warning root.a preemption_policy: Its own fence lets nothing out: it can preempt nothing, "
                "its guarantee helps only while room is free."
            ),
        ),
        (
            {"t": queue(fence=True), "t.a": queue(1)},
            (
                "warning root.t.a preemption_policy: "
                "It is the only leaf inside the fence of root.t, so it can preempt nothing."
            ),
        ),
        (
            {"t": queue(disabled=True), "t.a": queue(1)},
            (
                "warning root.t.a preemption_policy: root.t turns preemption off: "
                "its guarantee helps only while room is free."
            ),
        ),
        ({"t": queue(parent_declared=True)}, "warning root.t : It holds no queue, so no pod can run in it."),
        (
            {"a": queue(1, namespaces=("x",)), "b": queue(1, namespaces=("y", "x"))},
            "warning root.b namespaces/1: Namespace x belongs to root.a, which stands before it.",
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
        "info root : Guarantees fit: 4 / 5 cpu, 1 / 1 nvidia.com/gpu."
    ]
    assert findings(deep, {"cpu": 3}) == [
        "warning root guaranteed/cpu: Guarantees don't fit: 4 cpu of 3.",
        "warning root guaranteed/nvidia.com~1gpu: Guarantees don't fit: 1 nvidia.com/gpu of 0.",
    ]


@given(queue_trees())
def test_errors_come_first_and_are_the_same_without_a_cluster(shape: QueueTree) -> None:
    """What keeps a tree from being published does not depend on where it is used."""
    found = lint(shape, {"cpu": 1000})
    severities = [list(Severity).index(one.severity) for one in found]
    assert severities == sorted(severities)
    assert errors(shape) == tuple(one for one in found if one.severity is Severity.ERROR)


def test_a_very_deep_tree_is_no_trouble() -> None:
    """As deep as a path may be long."""
    path = ".".join("a" * 247)
    assert len(lint(tree({path: queue(1)}))) == 0
