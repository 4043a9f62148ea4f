"""Which guarantees a tree puts out of reach, and which asks it serves: told where a forecast comes to rest."""

from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.planning.forecast import Forecast, UnreachedGuarantee, difference, forecast, unreached_guarantees
from engine.planning.journal import PassInputs
from engine.policies import policy
from tests.builders import NOW, ask, node, pod, queue, tree
from tests.engine.test_journal import state_of

OPEN = tree({"prod": queue("4"), "test": queue("2")})
FENCED = tree({"prod": queue("4", fence=True), "test": queue("2")})


def full() -> ClusterState:
    """Test holds four cores of four; Prod asks for two under its guarantee."""
    tests = [pod(f"t{n}", queue="test", node="n1") for n in range(4)]
    return state_of(node("n1", 4), tests, ask("p", queue="prod", cpu=2))


def ahead(state: ClusterState, under: QueueTree) -> Forecast:
    return forecast(state, PassInputs(now_ms=NOW), under, policy("fence", "design"))


def test_a_guarantee_behind_a_fence_of_its_own_is_out_of_reach() -> None:
    assert unreached_guarantees(ahead(full(), OPEN), OPEN) == ()
    assert unreached_guarantees(ahead(full(), FENCED), FENCED) == (UnreachedGuarantee("root.prod", "cpu", 0, 4000),)


def test_nothing_is_out_of_reach_for_whom_nobody_waits() -> None:
    state = full()
    del state.pods["uid-p"]
    assert unreached_guarantees(ahead(state, FENCED), FENCED) == ()


def test_what_waits_for_another_resource_counts_for_that_alone() -> None:
    under = tree({"prod": queue({"cpu": 4, "memory": "1Gi"}, fence=True), "test": queue("2")})
    assert [one.resource for one in unreached_guarantees(ahead(full(), under), under)] == ["cpu"]


def test_a_cut_forecast_says_nothing_of_the_end() -> None:
    found = forecast(full(), PassInputs(now_ms=NOW), FENCED, policy("fence", "design"), passes=1)
    assert unreached_guarantees(found, FENCED) == ()


def test_an_ask_that_only_one_tree_serves_is_told() -> None:
    served, fenced = ahead(full(), OPEN), ahead(full(), FENCED)
    assert [one.ask.name for one in difference(fenced, served).served] == ["p"]
    assert [one.ask.name for one in difference(served, fenced).unserved] == ["p"]
    assert difference(served, served).served == ()


def test_victims_that_come_back_to_room_are_not_served() -> None:
    state = state_of(
        node("n1", 4),
        node("n2", 1, labels={"only": "t"}),
        [pod(f"t{n}", queue="test", node="n1") for n in range(4)],
        ask("p", queue="prod", cpu=1, node_selector={"kubernetes.io/hostname": "n1"}),
    )
    found = difference(ahead(state, FENCED), ahead(state, OPEN))
    assert {one.ask.name for one in found.served} <= {"p"}
