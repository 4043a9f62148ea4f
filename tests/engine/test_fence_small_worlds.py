"""Policy fence in every small world: on each node it finds victims exactly where there are lawful ones.

Every tree of up to three queues is whole: 2,083,828 worlds with up to four pods on up to two nodes, in the long suite;
else those with up to three pods. Beyond them are trees of three leaves and a queue above some: all worlds with up to
two pods, and of the other 23,924,610 with up to four random ones. ``small_worlds.worlds`` says which worlds are taken
for the same one.
"""

from itertools import chain
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.audit import audit, failed_checks
from engine.model.decision import Outcome, PodReason
from engine.model.queue_tree import PreemptionPolicy, Queue, QueueTree
from engine.policies import fence
from tests.builders import victims_of
from tests.engine.small_worlds.answers import Kind, answers, answers_in
from tests.engine.small_worlds.lawful_sets import pods_in
from tests.engine.small_worlds.side_by_side import SideBySide, node_name, pod_name
from tests.engine.small_worlds.worlds import (
    FOUR_QUEUES,
    MOST,
    NODES,
    THREE_QUEUES,
    Above,
    Ask,
    Shape,
    World,
    some_worlds,
)
from tests.engine.test_fence_guards import tables, without
from tests.properties import examples
from tests.runner.suites import sized

SHAPES = {**THREE_QUEUES, **FOUR_QUEUES}
Case = tuple[Shape, list[World], Above, Ask]


def cases() -> st.SearchStrategy[Case]:
    """Three random worlds of one shape, and what is put to them."""
    return st.builds(_case, st.sampled_from([*SHAPES.values()]), st.integers(0, 2**32))


def _case(shape: Shape, seed: int) -> Case:
    return shape, *some_worlds(Random(seed), shape, 3)


def alone(case: Case, number: int) -> tuple[SideBySide, QueueTree]:
    """One of the worlds for itself."""
    shape, worlds, above, ask = case
    side = SideBySide(shape, [worlds[number]])
    return side, side.tree(above, ask.size)


@pytest.mark.parametrize(
    ("shape", "most", "worlds"),
    [
        *sized(
            "worlds",
            usual=[
                ("flat", MOST - 1, 41_516),
                ("asker-deep", MOST - 2, 8_376),
                ("victims-deep", MOST - 2, 6_060),
                ("siblings", MOST - 2, 16_420),
            ],
            long=[
                ("flat", MOST, 379_234),
                ("asker-deep", MOST, 286_068),
                ("victims-deep", MOST, 301_278),
                ("siblings", MOST, 1_117_248),
                ("siblings-and-one", 2, 49_500),
                ("three-siblings", 2, 45_928),
            ],
        ),
        ("victims-are-siblings", 2, 16_236),
    ],
)
def test_victims_are_found_exactly_where_a_lawful_set_exists(shape: str, most: int, worlds: int) -> None:
    """All sets of the pods of each node are tried: one that may go exists, the chosen one may, and none within it.

    The audit has nothing against it either; of decisions in which it reads the same, the first is audited.
    """
    checked, audited = 0, set[Kind]()
    for found in answers(SHAPES[shape], most):
        assert not (why := found.wrong()), why
        assert not (why := found.refused(audited)), why
        checked += len(found.worlds)
    assert checked == worlds
    assert audited


GUARDS = [
    ("candidates", "GUARDS", PodReason.OUTSIDE_FENCE),
    ("candidates", "GUARDS", PodReason.HIGHER_PRIORITY),
    ("candidates", "GUARDS", PodReason.ENTITLED_SUBTREE),
    ("preemptable_amounts", "GUARDS", "guarantee"),
    ("constraints", "SOURCES", "node"),
    ("constraints", "SOURCES", "max"),
    ("victim_selection", "GUARDS", "minimal"),
]


@pytest.mark.parametrize(("module", "table", "name"), GUARDS, ids=[name for _, _, name in GUARDS])
def test_without_a_guard_some_small_world_is_wrong(
    module: str, table: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pods suffice for that."""
    guards = tables()[module, table]
    monkeypatch.setitem(guards, name, without((module, table), guards[name]))
    everywhere = chain.from_iterable(answers(shape, 2) for shape in THREE_QUEUES.values())
    assert any(found.wrong() for found in everywhere)


@given(case=cases())
@examples(400)
def test_worlds_side_by_side_are_decided_as_each_of_them_alone(case: Case) -> None:
    """By the whole policy: pods go where some node has a set, those of the set of its node, and no law is broken."""
    shape, worlds, above, ask = case
    found = answers_in(shape, worlds, above, ask)
    assert not (why := found.wrong()), why
    for number, chosen in enumerate(found.chosen):
        side, tree = alone(case, number)
        decision = fence.decide(side.snapshot, tree, side.asks[ask])
        assert decision.evicts == chosen.any()
        if decision.evicts:
            of_node = dict(zip((node_name(0, node) for node in NODES), chosen, strict=True))
            assert victims_of(decision) == [pod_name(0, pod) for pod in pods_in(of_node[decision.node or ""])]
            assert not failed_checks(audit(side.snapshot, tree, decision))


@given(case=cases(), more=st.integers(1, 9))
@examples(200)
def test_what_no_small_world_differs_in_makes_no_difference(case: Case, more: int) -> None:
    """A fence or a max on queues that only victims are in, and how much more the ask's own queue lacks."""
    side, tree = alone(case, 0)
    ask = side.asks[case[-1]]

    def other(queue: Queue) -> Queue:
        if queue.path == ask.queue:
            lacking = {name: amount + more for name, amount in queue.guaranteed.items()}
            return msgspec.structs.replace(queue, guaranteed=lacking)
        if queue.path in tree.lineage(ask.queue or ""):
            return queue
        return msgspec.structs.replace(queue, max={"cpu": more}, preemption_policy=PreemptionPolicy.FENCE)

    ways = (tree, QueueTree(map(other, tree.queues.values())))
    before, after = (fence.decide(side.snapshot, way, ask) for way in ways)
    assert (before.outcome, before.node, victims_of(before)) == (after.outcome, after.node, victims_of(after))


@given(case=cases())
@examples(100)
def test_nobody_goes_for_a_queue_that_has_what_it_is_promised(case: Case) -> None:
    """Nor for one that is promised nothing."""
    side, tree = alone(case, 0)
    ask = side.asks[case[3]]
    for promised in ({"cpu": side.used("a")}, {}):
        settled = [
            msgspec.structs.replace(queue, guaranteed=promised if queue.path == ask.queue else {})
            for queue in tree.queues.values()
        ]
        assert fence.decide(side.snapshot, QueueTree(settled), ask).outcome is Outcome.NOT_ELIGIBLE
