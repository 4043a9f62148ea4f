"""Policy fence in every small world: it finds victims exactly where there are lawful ones."""

from itertools import groupby

import pytest

from engine.decision import Outcome
from engine.laws import audit, broken
from engine.policies import fence
from engine.queues import QueueTree
from tests.builders import named, victims_of
from tests.engine.small_worlds import (
    Shape,
    World,
    flat_shapes,
    flat_worlds,
    shapes_with_the_asker_deep,
    shapes_with_victims_deep,
    worlds,
)


def wrong(world: World, tree: QueueTree) -> str:
    """What is wrong with the decision in a world; empty when nothing is."""
    at = world.snapshot(tree)
    decision = fence.decide(at, tree, named(at, "ask"))
    lawful = world.lawful_sets()
    chosen = frozenset(victims_of(decision))
    if (decision.outcome is Outcome.PREEMPT) != bool(lawful):
        return f"{decision.outcome} {decision.reason}, lawful {sorted(map(sorted, lawful))}: {world}"
    if not lawful:
        return f"{sorted(chosen)} go without preemption: {world}" if chosen else ""
    if chosen not in lawful:
        return f"{sorted(chosen)} is not lawful: {world}"
    smaller = [sorted(other) for other in lawful if other < chosen]
    if smaller:
        return f"{sorted(chosen)} is more than {smaller[0]}: {world}"
    refused = broken(audit(at, tree, decision))
    return f"the audit refuses {[check.law for check in refused]}: {world}" if refused else ""


@pytest.mark.parametrize(
    ("shapes", "most"),
    [(flat_shapes(), 3), (shapes_with_the_asker_deep(), 2), (shapes_with_victims_deep(), 3)],
    ids=["flat", "asker-deep", "victims-deep"],
)
def test_victims_are_found_exactly_where_a_lawful_set_exists(shapes: list[Shape], most: int) -> None:
    """Against all subsets of pods of each node: existence, lawfulness and inclusion-minimality, in every world."""
    checked = 0
    for shape in shapes:
        tree = shape.tree()
        for world in worlds(shape, most):
            assert not (why := wrong(world, tree)), why
            checked += 1
    assert checked > 1000


@pytest.mark.parametrize(("leaves", "most"), [("ab", 4), ("abc", 2)], ids=["two-queues", "three-queues"])
def test_so_it_is_with_two_priorities(leaves: str, most: int) -> None:
    """An ask of the lower one takes nothing of the higher one, and has that as its neighbour."""
    checked = 0
    for shape, found in groupby(flat_worlds(leaves, most), key=lambda world: world.shape):
        tree = shape.tree()
        for world in found:
            assert not (why := wrong(world, tree)), why
            checked += 1
    assert checked > 1000
