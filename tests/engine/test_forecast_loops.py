"""Under `design` no cluster takes from itself for ever; where another policy would, the loop is found and named."""

from random import Random
from typing import Any

import pytest

from engine.audit.audit_state import AuditState
from engine.model.decision import Decision
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Snapshot
from engine.planning.forecast import ClusterChange, EvictionCount, Forecast, Loop, Settling, forecast
from engine.planning.forecast.signature import Shapes
from engine.planning.journal import PassInputs
from engine.policies import Decide, policy
from tests.builders import NOW, ask, node, pod, queue, tree
from tests.engine.strategies import busy_world
from tests.engine.test_journal import state_of
from tests.runner.suites import sized

DESIGN = policy("fence", "design")
YUNIKORN = policy("fence", "yunikorn")
MOMENT = PassInputs(now_ms=NOW)
LATER = 90
"""Rounds enough for every small world."""


def prod_and_test(prod: int, test: int, asks: int) -> ClusterState:
    """A full node of pods of 2 cores, and Prod's asks; who goes is made again."""
    return state_of(
        node("n1", prod + test),
        [pod(f"p{i}", queue="prod", app="p", cpu=2, node="n1") for i in range(prod // 2)],
        [pod(f"t{i}", queue="test", app="t", cpu=2, node="n1") for i in range(test // 2)],
        [ask(f"want{i}", queue="prod", app="p", cpu=2) for i in range(asks)],
    )


def ends(found: Forecast, shape: QueueTree) -> tuple[int, int]:
    """What Prod and Test use in the end, in cores."""
    used = found.end.snapshot(shape, now_ms=NOW).usage(shape)
    return used["root.prod"]["cpu"] // 1000, used["root.test"]["cpu"] // 1000


@pytest.mark.parametrize(
    ("guarantees", "runs", "asks", "toll", "end"),
    [
        (("5", "5"), (4, 8), 2, 1, (6, 6)),
        (("5", "5"), (4, 6), 2, 0, (4, 6)),
        (("10", "2"), (4, 8), 6, 3, (10, 2)),
    ],
    ids=["one goes, both at or above", "none may go", "one at a time until all is kept"],
)
def test_the_scenarios_of_the_design_end(
    guarantees: tuple[str, str], runs: tuple[int, int], asks: int, toll: int, end: tuple[int, int]
) -> None:
    """Source: YuniKorn's design of preemption, its scenarios of loops."""
    shape = tree(dict(zip(("prod", "test"), map(queue, guarantees), strict=True)))
    found = forecast(prod_and_test(*runs, asks), MOMENT, shape, DESIGN)
    assert (found.settles, found.loop, found.total.pods, ends(found, shape)) == (Settling.STABLE, None, toll, end)


def swapping() -> tuple[QueueTree, ClusterState]:
    """Two teams that are promised less than their leaves together, and one place that both leaves B want."""
    shape = tree(
        {team: queue("2") for team in ("x", "y")}
        | {f"{team}.{leaf}": queue("2", delay_ms=1) for team in ("x", "y") for leaf in ("a", "b")}
    )
    pods = [pod(f"{team}-a{i}", queue=f"{team}.a", priority=1, node="n1") for team in ("x", "y") for i in range(2)]
    state = state_of(node("n1", 5), pods, pod("x-b", queue="x.b", node="n1"), ask("y-b", queue="y.b"))
    return shape, state


def test_what_yunikorn_does_for_ever_is_named_with_its_queues() -> None:
    """A leaf below its guarantee may be taken from where its parent is above its own; then the other way round."""
    shape, state = swapping()
    found = forecast(state, MOMENT, shape, YUNIKORN, foreign=True)
    assert found.settles is Settling.LOOP
    assert found.loop is not None
    assert (found.loop.passes, set(found.loop.queues)) == (2, {"root.x.b", "root.y.b"})
    assert {one.name.partition("~")[0] for one in found.loop.asks} == {"x-b", "y-b"}


def test_the_design_does_nothing_there() -> None:
    """Law 2: what is below its guarantee is not touched."""
    shape, state = swapping()
    found = forecast(state, MOMENT, shape, DESIGN)
    assert (found.settles, found.total) == (Settling.STABLE, EvictionCount(0, 0))


def test_a_loop_of_pods_that_are_alike_is_known_by_what_they_are() -> None:
    """Not by their names: which replica waits is another one each time."""
    shape, state = swapping()
    for number in range(3):
        one = ask(f"y-b{number}", queue="y.b", app="yb", unschedulable_ms=0)
        state.pods[one.uid] = one
    found = forecast(state, MOMENT, shape, YUNIKORN, foreign=True)
    assert found.settles is Settling.LOOP


@pytest.mark.parametrize("own", [{"workload": "w"}, {"checkpoint_ms": 1}, {"odd_checkpoint": "soon"}])
def test_what_no_policy_looks_at_is_no_part_of_a_state(own: dict[str, Any]) -> None:
    """A pod that says so is the same to all of them; one of another priority is not."""
    shapes, one = Shapes(), pod("one", app="a", node="n1")
    assert shapes.signature([one]) == shapes.signature([pod("other", app="a", node="n1", **own)])
    assert shapes.signature([one]) != shapes.signature([pod("third", app="a", node="n1", priority=1)])


def test_for_one_ask_another_scheduler_preempts_but_once() -> None:
    """Two victims at most, which make no room for it: it would have them killed again and again. Source: triggered."""
    shape = tree({"prod": queue("3"), "test": queue("1")})
    state = state_of(
        node("n1", 4),
        [pod(f"t{i}", queue="test", app="t", node="n1") for i in range(4)],
        ask("big", queue="prod", cpu=3),
    )
    found = forecast(state, MOMENT, shape, YUNIKORN, foreign=True)
    assert (found.settles, found.total.pods) == (Settling.STABLE, 2)


def test_what_comes_about_besides_comes_in_its_round() -> None:
    """Pods end and give room, asks arrive and take it; there is no end before the last of that."""
    shape = tree({"prod": queue("2"), "test": queue("2")})
    happenings = [
        ClusterChange(round=3, ends=("uid-t0",)),
        ClusterChange(round=5, arrives=(ask("late", queue="prod", cpu=2),)),
    ]
    state = state_of(node("n1", 4), [pod(f"t{i}", queue="test", app="t", node="n1") for i in range(4)])
    found = forecast(state, MOMENT, shape, DESIGN, changes=happenings)
    assert [(one.round, one.victim.queue) for one in found.evictions] == [(6, "root.test")]
    assert [(one.round, one.ask.name) for one in found.placed] == [(6, "late")]
    assert found.settles is Settling.STABLE


def test_the_queues_of_a_loop_are_told_once_askers_first() -> None:
    """However often they take."""
    shape, state = swapping()
    found = forecast(state, MOMENT, shape, YUNIKORN, foreign=True)
    assert Loop.of(found.rounds).queues == tuple(dict.fromkeys(["root.y.b", "root.x.b"]))


def missing(snapshot: Snapshot, shape: QueueTree) -> int:
    """Law 8's sum: what all queues lack of their guarantees, by the audit's own books."""
    ledger = AuditState(snapshot, shape)
    nobody = Pod(uid="", namespace="", name="")
    return sum(
        max(0, promised - ledger.settled(path, resource, nobody))
        for path in shape.walk()
        for resource, promised in shape[path].guaranteed.items()
    )


def watched(sums: list[int]) -> Decide:
    """The design's policy, which writes down law 8's sum before each decision that evicts but for a DaemonSet."""

    def decide(snapshot: Snapshot, grown: QueueTree, one: Pod) -> Decision:
        decision = DESIGN(snapshot, grown, one)
        if decision.evicts and one.required_node is None:
            sums.append(missing(snapshot, grown))
        return decision

    return decide


TREES = sized("worlds", usual=150, long=10_000)


def test_no_tree_of_many_loops_and_evictions_are_bounded() -> None:
    """Law 8's sum falls with every decision for which it must: so there are at most as many as it is at first.

    Each world is grown from its number, so that a failing one can be looked at.
    """
    evicted = 0
    for number in range(TREES):
        random = Random(number)
        shape, objects, happenings = busy_world(random)
        state, sums = state_of(*objects), list[int]()
        found = forecast(state, MOMENT, shape, watched(sums), passes=LATER, changes=happenings)
        assert found.settles is Settling.STABLE, number
        after = sums[1:]
        assert happenings or all(later < before for before, later in zip(sums, after, strict=False)), number
        evicted += found.total.pods
    assert evicted > TREES // 10
