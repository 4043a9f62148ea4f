"""Policy fence decides as the plain implementation does, to the byte: outcome, node, victims and trace."""

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.decision import encode
from engine.policies import fence
from engine.queues import QueueTree
from engine.snapshot import Node, Pod, Snapshot
from tests.builders import OPTED_OUT, snapshot
from tests.engine import plain_fence
from tests.engine.strategies import clusters, queue_trees

LAST_RESORTS = ("daemonset", "any", "never")


def same(at: Snapshot, tree: QueueTree, asker: Pod, last_resort: str = "daemonset") -> None:
    """The decision is the plain one."""
    parameters = fence.Parameters(last_resort=last_resort)  # type: ignore[arg-type]
    assert fence.decide(at, tree, asker, parameters) == plain_fence.decide(at, tree, asker, parameters)
    assert encode(fence.decide(at, tree, asker, parameters)) == encode(plain_fence.decide(at, tree, asker, parameters))


@given(tree=queue_trees(), objects=clusters(), last_resort=st.sampled_from(LAST_RESORTS))
@settings(max_examples=500, deadline=None)
def test_in_random_clusters(tree: QueueTree, objects: list[Node | Pod], last_resort: str) -> None:
    """For every ask of random clusters under random trees."""
    at = snapshot(tree, objects, OPTED_OUT)
    for asker in at.asks:
        same(at, tree, asker, last_resort)
