"""A pass decides for ask after ask, each on what the former left, as if every one of them were looked at afresh."""

import msgspec
import pytest
from hypothesis import given

from engine.audit import audit
from engine.model.decision import apply_decision, encode
from engine.model.objects import Node, Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.planning.scheduling_pass import plan, plan_steps
from engine.policies import fence, known_dialects, policy
from tests.builders import OPTED_OUT, ask, node, pod, queue, reservation, snapshot, tree
from tests.engine import plain_fence
from tests.engine.strategies import clusters, queue_trees
from tests.properties import examples


def afresh(at: Snapshot) -> Snapshot:
    """The same with nothing worked out yet."""
    return msgspec.structs.replace(at, pods=tuple(at.pods))


def twins(objects: list[Node | Pod]) -> list[Node | Pod]:
    """Every ask three times: asks of one shape share what is worked out for it."""
    asks = [one for one in objects if isinstance(one, Pod) and one.node is None]
    again = [msgspec.structs.replace(one, uid=f"{one.uid}-{i}", name=f"{one.name}-{i}") for one in asks for i in (1, 2)]
    return [*objects, *again]


@given(tree=queue_trees(), objects=clusters())
@examples(300)
def test_what_a_pass_shares_changes_no_decision(tree: QueueTree, objects: list[Node | Pod]) -> None:
    """Every decision of a pass, and its audit, is the one that a snapshot of its own gives."""
    for at, found in plan_steps(snapshot(tree, twins(objects), OPTED_OUT), tree, fence.decide):
        asker = next(pod for pod in at.asks if pod.uid == found.decision.ask.uid)
        assert encode(found.decision) == encode(plain_fence.decide(afresh(at), tree, asker))
        assert found.laws == audit(afresh(at), tree, found.decision)


@pytest.mark.parametrize(
    ("name", "dialect"), [(name, one) for name, known in known_dialects().items() for one in known]
)
def test_without_nodes_nobody_goes(name: str, dialect: str) -> None:
    """Also while pods are still bound to those that were lost."""
    shape = tree({"prod": queue("7"), "test": queue()})
    left = [pod("t", queue="test", node="lost"), ask("a", queue="prod")]
    for at in (snapshot(shape, left), snapshot(shape, left[1])):
        (found,) = plan(at, shape, policy(name, dialect))
        assert not found.decision.evicts


def test_asks_of_one_shape_go_to_node_after_node() -> None:
    """Each finds the former ones' nodes kept, the last one that its queue has what it was promised."""
    shape = tree({"prod": queue("7"), "test": queue()})
    nodes = [node(f"n{i}", 1) for i in range(8)]
    running = [pod(f"t{i}", queue="test", node=f"n{i}") for i in range(8)]
    at = snapshot(shape, nodes, running, [ask(f"a{i}", queue="prod") for i in range(8)])
    assert [one.decision.node for one in plan(at, shape, fence.decide)] == [*(f"n{i}" for i in range(7)), None]
    for moment, found in plan_steps(at, shape, fence.decide):
        again = next(one for one in moment.asks if one.uid == found.decision.ask.uid)
        assert encode(found.decision) == encode(fence.decide(afresh(moment), shape, again))


def test_a_snapshot_carried_on_is_the_snapshot_with_other_pods() -> None:
    """Whatever was worked out before is as if it were worked out now."""
    shape = tree({"prod": queue("2"), "test": queue()})
    running = [pod(f"t{i}", queue="test", node="n1") for i in range(2)]
    at = snapshot(shape, node("n1", 2), running, ask("a", queue="prod"))
    for one in (at.pods_by_node, at.nominated, at.unread, at.keeping_apart, at.columns, at.asks):
        assert one is not None
    decision = fence.decide(at, shape, at.asks[0])
    later = apply_decision(at, decision)
    again = afresh(later)
    assert later == again
    assert later.pods_by_node == again.pods_by_node
    assert list(later.columns.terminating) == list(again.columns.terminating)
    assert [one.terminating for one in later.columns.pods] == [one.terminating for one in again.columns.pods]
    assert later.pod(decision.victims[0].pod.uid).terminating
    assert not at.pod(decision.victims[0].pod.uid).terminating


def test_moments_are_carried_on_one_from_the_other() -> None:
    """However many there are, each is as if it were worked out now, and those before it stay as they were."""
    running = [pod(f"t{i}", queue="test", node=f"n{i % 2}") for i in range(4)]
    at = snapshot(tree({"test": queue()}), node("n0", 2), node("n1", 2), running)
    assert at.columns
    assert at.pods_by_node
    moments = [at]
    for one in running:
        moments.append(moments[-1].expecting([one]).reserving(reservation(one, node="n0")))
    for number, moment in enumerate(moments):
        again = afresh(moment)
        assert list(moment.pods_by_node.items()) == list(again.pods_by_node.items())
        assert list(moment.columns.terminating) == list(again.columns.terminating)
        assert moment.kept_for == again.kept_for == {one.uid for one in running[:number]}


def test_a_moment_knows_who_began_to_leave_since_an_earlier_one() -> None:
    """Of a moment that it does not come from it knows nothing."""
    running = [pod(f"t{i}", queue="test", node="n0") for i in range(3)]
    at = snapshot(tree({"test": queue()}), node("n0", 3), running)
    assert at.columns
    first, other = at.expecting([running[0]]), at.expecting([running[1]])
    both = first.expecting([running[2]])
    since = both.columns.since(first.columns)
    assert [both.columns.pods[row].name for row in since] == ["t2"]
    assert len(both.columns.since(at.columns)) == 2
    assert both.columns.since(other.columns) is None
    assert first.columns.since(both.columns) is None
    assert both.columns.since(afresh(at).columns) is None
