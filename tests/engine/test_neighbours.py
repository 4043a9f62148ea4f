"""The borders around a queue are those that looking at each pair of leaves finds, whichever leaves are alike."""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.queue_tree import QueueTree
from engine.policies import reach_of
from engine.tree.reach import Border, Neighbour, Reach, neighbours
from tests.builders import queue, tree
from tests.engine.pod_worlds import world as quota_world
from tests.engine.reclaim_worlds import world as shares_world
from tests.engine.test_reach import grown
from tests.properties import examples

SEEDS = st.integers(0, 10**6)


def plain_neighbours(within: QueueTree, path: str, rules: Reach) -> tuple[Neighbour, ...]:
    """The same, pair by pair."""
    inside = [leaf for leaf in within.leaves if within.contains(path, leaf)]
    return tuple(
        Neighbour(
            path=other,
            out=foremost(rules.border(within, leaf, other) for leaf in inside),
            into=foremost(rules.border(within, other, leaf) for leaf in inside),
        )
        for other in within.leaves
        if inside and not within.contains(path, other)
    )


def foremost(borders: Iterable[Border]) -> Border:
    """The first open one, else the first of those whose reason is the most frequent."""
    every = list(borders)
    reason, _times = Counter((each.reason, each.queue) for each in every).most_common(1)[0]
    return next((each for each in every if each.allowed), None) or next(
        each for each in every if (each.reason, each.queue) == reason
    )


_SETTINGS = (
    "guaranteed",
    "max",
    "preemption_policy",
    "priority_policy",
    "priority_offset",
    "take_within",
    "take_reclaim",
    "take_borrowing",
)


def widened(narrow: QueueTree, chance: random.Random) -> QueueTree:
    """The same tree with more leaves that are like others: in all, or in all but one setting, or but amounts."""
    more = []
    others = [*narrow.queues.values(), *grown(chance).queues.values()]
    for leaf in narrow.leaves[1:]:
        like = narrow[leaf]
        for number in range(chance.randrange(4)):
            copy = msgspec.structs.replace(like, path=f"{leaf}-{number}")
            setting = chance.choice((*_SETTINGS, ""))
            if setting:
                copy = msgspec.structs.replace(copy, **{setting: getattr(chance.choice(others), setting)})
            more.append(msgspec.structs.replace(copy, guaranteed=thrice(copy.guaranteed, chance)))
    return QueueTree([*narrow.queues.values(), *more])


def thrice(amounts: dict[str, int], chance: random.Random) -> dict[str, int]:
    """Some of the amounts three times as much."""
    return {name: amount * chance.choice((1, 3)) for name, amount in amounts.items()}


def by_guarantees(chance: random.Random) -> QueueTree:
    return grown(chance)


def by_quota(chance: random.Random) -> QueueTree:
    return quota_world(chance)[1]


def by_shares(chance: random.Random) -> QueueTree:
    return shares_world(chance)[1]


@pytest.mark.parametrize(
    ("name", "parameters", "made"),
    [
        ("fence", {}, by_guarantees),
        ("priority", {}, by_guarantees),
        ("deserved", {}, by_shares),
        ("cohort", {"guarantees": "nested", "reclaim": "Any"}, by_quota),
        ("cohort", {"guarantees": "kueue", "reclaim": "Any", "while_borrowing": True}, by_quota),
        ("fair-share", {"guarantees": "kueue", "reclaim": "Any"}, by_quota),
    ],
)
@given(SEEDS)
@examples(1000)
def test_they_are_those_of_each_pair(
    name: str, parameters: dict[str, Any], made: Callable[[random.Random], QueueTree], seed: int
) -> None:
    """Of every queue, whatever is in it."""
    chance = random.Random(seed)
    wide, rules = widened(made(chance), chance), reach_of(name, parameters)
    for path in wide.walk():
        assert neighbours(wide, path, rules) == plain_neighbours(wide, path, rules)


def test_leaves_with_other_amounts_of_pods_are_not_alike() -> None:
    """A max in pods leaves no room beside what is guaranteed to one of them."""
    limited = queue({}, max={"pods": 5})
    narrow = tree({"t": limited, "t.a": queue("2"), "t.b": queue({"pods": 5}), "t.c": queue({"pods": 1})})
    rules = reach_of("fence", {})
    found = neighbours(narrow, "root.t.a", rules)
    assert [each.out.allowed for each in found] == [False, True]
    assert found == plain_neighbours(narrow, "root.t.a", rules)


def test_of_many_leaves_that_are_alike_one_is_looked_at() -> None:
    """A tree of 20,000 queues has as many pairs as nobody waits for."""
    looked_at = []
    rules = reach_of("fence", {})

    def border(within: QueueTree, preemptor: str, victim: str) -> Border:
        looked_at.append((preemptor, victim))
        return rules.border(within, preemptor, victim)

    wide = tree({f"{parent}.{leaf}": queue("2") for parent in range(4) for leaf in range(30)})
    found = neighbours(wide, "root.0", msgspec.structs.replace(rules, border=border))
    assert (len(found), len(looked_at)) == (90, 6)
