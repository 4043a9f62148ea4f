"""An ask that asks otherwise than it did is decided as in a cluster that nobody has looked at before."""

from collections.abc import Callable
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.decision import Decision, encode
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import deserved, fence, known_dialects, policy
from tests.builders import NOW
from tests.engine import reclaim_worlds
from tests.engine.pod_worlds import world
from tests.properties import examples

Decide = Callable[[Snapshot, QueueTree, Pod], Decision]


def otherwise(ask: Pod, random: Random) -> Pod:
    """The same pod with more to ask for, another priority, or a try of the scheduler's that it had not had."""
    more = {name: amount * random.randint(1, 3) for name, amount in ask.requests.items()}
    priority = ask.priority + random.randint(-1, 1)
    return msgspec.structs.replace(ask, requests=more, priority=priority, unschedulable_ms=random.randint(0, NOW))


def same_as_cold(snapshot: Snapshot, tree: QueueTree, decide: Decide, random: Random) -> None:
    """Of each ask in turn, once all that a snapshot works out has been."""
    for ask in snapshot.asks:
        decide(snapshot, tree, ask)
    for ask in snapshot.asks:
        later = snapshot.asking(asking := otherwise(ask, random))
        cold = msgspec.structs.replace(later)  # which knows nothing yet
        assert later.asks == cold.asks
        assert encode(decide(later, tree, asking)) == encode(decide(cold, tree, asking))


@pytest.mark.parametrize("name", [deserved.POLICY, fence.POLICY])
@given(seed=st.integers(0, 2**32))
@examples(60)
def test_among_pods_of_many_priorities(name: str, seed: int) -> None:
    state, tree = world(random := Random(seed))
    decide = policy(name, known_dialects()[name][0])
    same_as_cold(state.snapshot(tree, now_ms=NOW), tree, decide, random)


@given(st.integers(0, 2**32))
@examples(60)
def test_where_queues_use_more_than_they_deserve(seed: int) -> None:
    snapshot, tree, parameters = reclaim_worlds.world(random := Random(seed))
    same_as_cold(snapshot, tree, policy(deserved.POLICY, deserved.DIALECT, msgspec.to_builtins(parameters)), random)
