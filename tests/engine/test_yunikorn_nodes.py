"""Why YuniKorn passed other nodes over: by what it rates them, or by a rule that it looked at late."""

from typing import TYPE_CHECKING

from hypothesis import given

from engine.model.decision import NodeReason, NodeVerdict, Outcome
from engine.model.objects import AffinityTerm, Node, Pod, Requirement
from engine.model.queue_tree import QueueTree
from engine.policies.yunikorn import Parameters, decide
from tests.builders import OPTED_OUT, ask, named, node, pod, queue, snapshot, tree
from tests.engine.strategies import clusters, queue_trees
from tests.properties import examples

if TYPE_CHECKING:
    from engine.model.snapshot import Snapshot

TREE = tree({"prod": queue("8"), "test": queue("0")})


def passed(*objects: Node | Pod, asking: Pod) -> list[NodeVerdict]:
    """The nodes that were passed over for an ask."""
    at = snapshot(TREE, objects, OPTED_OUT, asking)
    return list(decide(at, TREE, named(at, asking.name)).trace.nodes)


def of_test(name: str, on: str, cpu: int = 2, **settings: object) -> Pod:
    """A pod that may go."""
    return pod(name, queue="test", node=on, cpu=cpu, **settings)


def dearer(node: str, by: str, victims: int) -> NodeVerdict:
    """A node that loses."""
    return NodeVerdict(node=node, reason=NodeReason.DEARER, detail=by, victims=victims)


def test_a_node_with_more_victims_is_said_to_take_more() -> None:
    """Two small ones there, one large one here."""
    pods = (of_test("one", "n1"), of_test("a", "n2", 1), of_test("b", "n2", 1))
    assert passed(node("n1", 2), node("n2", 2), *pods, asking=ask("new", queue="prod", cpu=2)) == [
        dearer("n2", "victims", 2)
    ]


def test_a_node_with_as_many_victims_loses_by_its_name_and_is_not_said_to_take_more() -> None:
    """One here, one there."""
    pods = (of_test("one", "n1"), of_test("other", "n2"))
    assert passed(node("n1", 2), node("n2", 2), *pods, asking=ask("new", queue="prod", cpu=2)) == [
        dearer("n2", "name", 1)
    ]


def test_a_node_where_one_goes_that_opted_out_loses_by_that() -> None:
    """Though it has no more victims, and the first name."""
    pods = (of_test("kept", "n1", priority_class="keep"), of_test("other", "n2"))
    assert passed(node("n1", 2), node("n2", 2), *pods, asking=ask("new", queue="prod", cpu=2)) == [
        dearer("n1", "opted-out", 1)
    ]


def test_a_node_that_a_rule_keeps_it_off_is_not_said_to_cost_more() -> None:
    """There is no plan for it: a pod that stays keeps the ask away."""
    apart = AffinityTerm("host", (Requirement("app", "In", ("new",)),), ("ns",))
    stays = pod("stays", queue="prod", node="n1", cpu=1, anti_affinity=(apart,))
    pods = (stays, of_test("one", "n1"), of_test("a", "n2", 1), of_test("b", "n2", 1))
    nodes = (node("n1", 3, labels={"host": "n1"}), node("n2", 2, labels={"host": "n2"}))
    asking = ask("new", queue="prod", cpu=2, labels={"app": "new"})
    assert passed(*nodes, *pods, asking=asking) == [NodeVerdict(node="n1", reason=NodeReason.KEPT_OUT, detail="host")]
    assert passed(nodes[0], *pods[:2], asking=asking) == [
        NodeVerdict(node="n1", reason=NodeReason.KEPT_OUT, detail="host")
    ]


@examples(200)
@given(queue_trees(), clusters())
def test_where_no_node_was_taken_none_is_said_to_cost_more(queues: QueueTree, objects: list[Node | Pod]) -> None:
    """And each node of a small cluster is counted once, under the reason that is told of it."""
    at: Snapshot = snapshot(queues, *objects)
    for asking in at.asks:
        found = decide(at, queues, asking, Parameters(check_delay=False))
        counted = found.trace.node_counts
        if found.outcome is Outcome.NO_CANDIDATE and not found.detail:
            assert NodeReason.DEARER not in counted
        if len(at.nodes) <= 20 and counted:
            told = [str(one.reason) for one in found.trace.nodes]
            assert {reason: told.count(reason) for reason in told} == counted
