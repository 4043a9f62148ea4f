"""With what of its own a pod that is to give back what its queue does not deserve would have stayed."""

import msgspec

from engine.analysis.counterfactuals import Again, counterfactuals_of_victim
from engine.model.change import Change
from engine.policies import policy
from tests.builders import ask, named, node, pod, queue, snapshot, tree

BOTH = tree({"giver": queue("1"), "taker": queue()})


def test_a_queue_with_more_reserved_or_more_weight_keeps_its_pod() -> None:
    """The giver uses 4 and deserves 2; it would stay with all but what nobody reserved, or a weight to deserve it."""
    pods = [pod(f"g{number}", queue="giver", node="n1", created_ms=number) for number in range(4)]
    at = snapshot(BOTH, node("n1", 4), pods, ask("t", queue="taker"))
    at = msgspec.structs.replace(at, notices={"root.giver": 0})
    again = Again(at, BOTH, named(at, "t"), policy("deserved", "arbitrator"))
    decision = again.as_it_was()
    assert [one.pod.name for one in decision.victims] == ["g3"]
    told = {one.change: one for one in counterfactuals_of_victim(again, decision, "uid-g3")}
    assert told[Change.GUARANTEE].amounts == {"cpu": 3_001}
    assert told[Change.WEIGHT].weight == 3_001 * 10**6
    assert (told[Change.PRIORITY].priority, told[Change.PRIORITY].victims) == (1, ("ns/g2",))
    for one in (told[Change.GUARANTEE], told[Change.WEIGHT]):
        assert one.victims == ()
