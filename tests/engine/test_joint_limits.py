"""Pods that may go one by one, but not together: what stops them is told with its amounts."""

from hypothesis import given

from engine.analysis.pending_reasons import Tier, TierName, pending_reasons_of
from engine.explain import node_verdict, reason, remedy_sentence, tier_sentence
from engine.model.decision import Decision, JointLimit, Outcome, Reason, decode, encode
from engine.model.objects import Node, Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Safeguards, Snapshot
from engine.policies import fence
from tests.builders import ask, budget, named, node, pod, queue, snapshot, tree
from tests.engine.strategies import clusters, queue_trees
from tests.engine.test_explain import whole
from tests.properties import examples

GI = 1024**3
TEAM = tree(
    {
        "t1": queue({"memory": "36Gi"}),
        "t1.a": queue({"cpu": 4, "memory": "28Gi"}),
        "t1.b": queue(),
    }
)
"""A team whose memory is guaranteed as a whole, and all of it is used."""


NODES = (node("n1", 0, resources={"memory": "24Gi"}), node("n3", 6, resources={"memory": "12Gi"}))


def team() -> Snapshot:
    """Any of the three on n3 may go, as the ask brings its memory back; two may not."""
    three = [pod(f"b{number}", queue="t1.b", node="n3", cpu=2, resources={"memory": "4Gi"}) for number in range(3)]
    rest = pod("rest", queue="t1.a", node="n1", cpu=0, resources={"memory": "24Gi"})
    return snapshot(TEAM, *NODES, three, rest, asker())


def asker() -> Pod:
    """One that needs two of them gone."""
    return ask("new", queue="t1.a", cpu=3, resources={"memory": "4Gi"})


def decided(at: Snapshot, queues: QueueTree = TEAM) -> Decision:
    """What the policy says of the ask."""
    return fence.decide(at, queues, named(at, "new"))


def node_tier(at: Snapshot, queues: QueueTree = TEAM) -> Tier:
    """The tier that is about nodes."""
    return next(
        one for one in pending_reasons_of(at, queues, named(at, "new"), "fence").tiers if one.name is TierName.NODE
    )


def limits(decision: Decision) -> list[tuple[str, JointLimit]]:
    """The nodes with a limit."""
    return [(one.node, one.limit) for one in decision.trace.nodes if one.limit]


def test_the_parents_guarantee_that_stops_a_second_victim_is_told_with_its_amounts() -> None:
    """Though none of the pods' own queues is guaranteed anything."""
    decision = decided(team())
    assert (decision.outcome, decision.reason) == (Outcome.NO_CANDIDATE, Reason.NO_ROOM)
    limit = JointLimit(queue="root.t1", resource="memory", guaranteed=36 * GI, used=36 * GI, left=4 * GI, held=8 * GI)
    assert limits(decision) == [("n3", limit)]
    assert decode(encode(decision)) == decision


def test_the_node_table_the_reason_and_the_tier_all_name_the_queue_and_the_amount() -> None:
    """In whole sentences."""
    decision = decided(team())
    assert whole(node_verdict(decision.trace.nodes[0])) == (
        "room needs all 3 of its pods that can be preempted, but t1 can lose only 4Gi "
        "memory of the 8Gi they use: it uses 36Gi with a guarantee of 36Gi"
    )
    assert whole(reason(decision)) == (
        "No node can free cpu 3, memory 4Gi: too few pods can be preempted together. On "
        "n3, t1 can lose only 4Gi memory of 8Gi, because it uses 36Gi with a guarantee "
        "of 36Gi."
    )
    assert whole(tier_sentence(node_tier(team()), 0)) == (
        "No node has room, and no pods can be preempted together to make it. On n3, t1 "
        "can lose only 4Gi memory of 8Gi, because it uses 36Gi with a guarantee of 36Gi."
    )


def test_a_smaller_guarantee_of_that_queue_is_told_as_what_would_help() -> None:
    """Just so much smaller that the second one may go."""
    at = team()
    found = node_tier(at).remedies
    assert [whole(remedy_sentence(one)) for one in found] == [
        "It would get room if it requested 1 core less.",
        "It would get room if the guarantee of t1 were only memory 32Gi.",
    ]


def test_a_budget_that_stops_a_second_victim_is_told() -> None:
    """Where no guarantee does."""
    queues = tree({"prod": queue("4"), "test": queue()})
    pods = [pod(f"web{number}", queue="test", node="n1", cpu=2, labels={"app": "web"}) for number in range(2)]
    web = budget(1, "web", app="web")
    at = snapshot(queues, node("n1", 4), pods, ask("new", queue="prod", cpu=4), web, safeguards=Safeguards())
    told = node_tier(at, queues)
    assert told.limit == JointLimit(budget="ns/web", left=1, held=2)
    assert whole(tier_sentence(told, 0)) == (
        "No node has room, and no pods can be preempted together to make it. On n1, the "
        "disruption budget ns/web allows only 1 eviction."
    )


def test_where_all_together_make_no_room_no_limit_is_told() -> None:
    """What stops nothing is not named."""
    at = snapshot(TEAM, node("n3", 2), pod("b", queue="t1.b", node="n3", cpu=2), asker())
    assert not limits(decided(at))


@examples(150)
@given(queue_trees(), clusters())
def test_what_is_told_to_stop_pods_does_stop_every_set_that_would_make_the_room(
    queues: QueueTree, objects: list[Node | Pod]
) -> None:
    """Where the queue may lose as much as is told, and no more."""
    at = snapshot(queues, *objects)
    for asking in at.asks[:2]:
        for name, limit in limits(fence.decide(at, queues, asking)):
            assert limit.left < limit.held
            assert queues[limit.queue].guaranteed[limit.resource] == limit.guaranteed
            shared = limit.queue in queues.lineage(asking.queue or "")
            back = asking.requests.get(limit.resource, 0) if shared else 0
            beyond = limit.used - limit.guaranteed
            assert limit.left == max(0, (max(0, beyond) if shared else beyond) + back), name
