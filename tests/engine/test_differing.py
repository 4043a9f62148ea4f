"""Where YuniKorn's queues are other than ours, each with both figures; and nothing where they are the same."""

from typing import Any

import pytest

from engine.formats.yunikorn.rest import TheirQueue
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.observation.yunikorn_diff import Aspect, QueueDifference, queue_differences
from tests.builders import amounts, node, pod, queue, snapshot, tree

TREE = tree({"a": queue("2", max="4"), "b": queue(fence=True)})


def theirs(path: str, **said: Any) -> TheirQueue:
    """A queue as YuniKorn has it: with nothing, unless it is said."""
    plain = {"leaf": path != "root", "fence": False, "disabled": False, "delay_ms": 30_000}
    figures = {name: amounts(said.pop(name, None)) for name in ("allocated", "guaranteed", "max", "preempting")}
    return TheirQueue(path=path, **plain | figures | said)


SAME = (theirs("root", max="64"), theirs("root.a", guaranteed="2", max="4"), theirs("root.b", fence=True))


def cluster(*pods: Pod) -> Snapshot:
    return snapshot(TREE, node("n1", 8), *pods)


def found(*queues: TheirQueue, of: Snapshot | None = None, under: QueueTree = TREE) -> list[tuple[Any, ...]]:
    """What differs of these queues, all others being the same: queue, aspect, resource, ours, theirs."""
    known = {one.path: one for one in (*SAME, *queues)}
    told = queue_differences(of or cluster(), under, known.values())
    return [(one.queue, one.aspect, one.resource, one.ours, one.theirs) for one in told]


def test_where_both_say_the_same_nothing_differs():
    """What the root may hold YuniKorn takes from the nodes: no tree says it."""
    assert found() == []


def test_amounts_differ_by_resource():
    """As people type them; a dash where one of them says nothing."""
    assert found(theirs("root.a", guaranteed={"cpu": "1500m", "memory": "1Gi"})) == [
        ("root.a", Aspect.GUARANTEED, "cpu", "2", "1500m"),
        ("root.a", Aspect.GUARANTEED, "memory", "", "1Gi"),
        ("root.a", Aspect.MAX, "cpu", "4", ""),
    ]


def test_a_guarantee_of_nothing_is_none_but_a_max_of_nothing_is_a_max():
    """The one promises nothing, the other allows nothing."""
    assert found(theirs("root.b", fence=True, guaranteed="0", max="0")) == [("root.b", Aspect.MAX, "cpu", "", "0")]


def test_usage_differs_where_pods_are_counted_elsewhere():
    """Rolled up on both sides."""
    running = cluster(pod("p", queue="a", node="n1", cpu=2))
    same = {"cpu": "2", "pods": "1"}
    assert found(*_using(same), of=running) == []
    assert found(theirs("root", max="64", allocated=same), of=running) == [
        ("root.a", Aspect.USED, "cpu", "2", ""),
        ("root.a", Aspect.USED, "pods", "1", ""),
    ]


def _using(used: Any) -> tuple[TheirQueue, ...]:
    return theirs("root", max="64", allocated=used), theirs("root.a", guaranteed="2", max="4", allocated=used)


def test_what_it_counts_as_being_preempted_and_runs_on_here_differs():
    """More on its way out here is no difference: pods go for many reasons."""
    going = cluster(pod("p", queue="b", node="n1", terminating=True))
    used = {"cpu": "1", "pods": "1"}
    above = theirs("root", max="64", allocated=used)
    assert found(theirs("root.b", fence=True, allocated=used, preempting="1"), above, of=going) == []
    assert found(theirs("root.b", fence=True, allocated=used, preempting="3"), above, of=going) == [
        ("root.b", Aspect.PREEMPTING, "cpu", "1", "3")
    ]


@pytest.mark.parametrize(
    ("said", "aspect", "ours", "others"),
    [
        ({"fence": False}, Aspect.FENCE, "true", "false"),
        ({"disabled": True}, Aspect.DISABLED, "false", "true"),
        ({"delay_ms": 90_000}, Aspect.DELAY, "30s", "1m30s"),
    ],
)
def test_settings_differ(said: dict[str, Any], aspect: Aspect, ours: str, others: str):
    """Fence, preemption at all, and how long a leaf's asks wait."""
    assert found(theirs("root.b", **{"fence": True} | said)) == [("root.b", aspect, "", ours, others)]


def test_what_is_inherited_counts_and_what_has_no_effect_does_not():
    """A delay is a leaf's; preemption that is turned off above is off."""
    under = tree({"a": queue("2", max="4"), "b": queue(disabled=True), "b.c": queue()})
    told = found(
        theirs("root.b", leaf=False, disabled=True, delay_ms=1), theirs("root.b.c", disabled=True), under=under
    )
    assert told == []
    assert found(theirs("root.a", guaranteed="2", max="4", delay_ms=None)) == []


def test_queues_of_one_side_alone_are_named():
    """As its dynamic ones, and those that it was never told of."""
    told = queue_differences(cluster(), TREE, [SAME[0], SAME[1], theirs("root.dynamic")])
    assert told == (
        QueueDifference(queue="root.dynamic", aspect=Aspect.UNKNOWN_HERE),
        QueueDifference(queue="root.b", aspect=Aspect.UNKNOWN_THERE),
    )
