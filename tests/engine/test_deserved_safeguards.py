"""Under ``deserved`` a set that every law allows is found whenever there is one, in whosever turn it would come."""

from collections.abc import Iterator
from itertools import combinations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.audit import Invariant, audit, failed_checks
from engine.model.decision import Decision, Outcome, Reason
from engine.model.snapshot import Safeguards, Snapshot
from engine.policies import policy
from tests.builders import ask, budget, named, node, pod, queue, snapshot, tree
from tests.engine.safeguard_worlds import world
from tests.engine.test_deserved_laws import taking
from tests.properties import examples

TREE = tree({"prod": queue("3"), "test": queue("1"), "test.a": queue("1"), "test.b": queue()})
TOLD = {"root.test.a": 0, "root.test.b": 0}
DECIDE = policy("deserved", "arbitrator")


def sets(at: Snapshot) -> Iterator[Decision]:
    """Every set of pods of a node, taken for the ask."""
    for one in at.nodes:
        pods = [each.name for each in at.pods_by_node[one.name]]
        for count in range(1, len(pods) + 1):
            yield from (taking(at, "want", chosen, TREE, one.name) for chosen in combinations(pods, count))


def is_allowed(at: Snapshot, decision: Decision) -> bool:
    """Whether no law is broken, those on safeguards included; that some victim could stay is no matter here."""
    return {check.law for check in failed_checks(audit(at, TREE, decision))} <= {Invariant.MINIMAL}


@given(seed=st.integers(0, 2**32))
@examples(400)
def test_an_allowed_set_is_chosen_whenever_there_is_one(seed: int) -> None:
    """Every set of every node is tried, and held against the audit, which counts all of it by itself."""
    at = world(seed, TREE, spare=1, notices=TOLD)
    decision = DECIDE(at, TREE, named(at, "want"))
    if decision.outcome is Outcome.FITS:
        return
    held = decision.safeguard is not msgspec.UNSET
    exists = any(is_allowed(at, one) for one in sets(at))
    assert exists == (decision.evicts and not held)
    if exists:
        assert not failed_checks(audit(at, TREE, decision))


def test_where_whoever_has_most_gives_first_another_set_is_tried() -> None:
    """The younger, smaller pod would use the only disruption up that its budget allows, and make too little room."""
    pods = [
        pod("small", queue="test.b", node="n1", cpu=1, created_ms=2, labels={"app": "x"}),
        pod("large", queue="test.b", node="n1", cpu=3, created_ms=1, labels={"app": "x"}),
    ]
    at = snapshot(
        TREE,
        node("n1", 4),
        pods,
        ask("want", queue="prod", cpu=3),
        budget(1, app="x"),
        safeguards=Safeguards(),
        notices=TOLD,
    )
    decision = DECIDE(at, TREE, named(at, "want"))
    assert [victim.pod.name for victim in decision.victims] == ["large"]


def test_where_not_all_sets_are_tried_nobody_says_that_there_is_none() -> None:
    """Sixty nodes on which a disruption budget keeps every set from going."""
    nodes = [node(f"n{number}", 4) for number in range(60)]
    pods = [
        pod(f"p{number}{place}", queue="test.b", node=f"n{number}", cpu=1, labels={"app": f"a{number}"})
        for number in range(60)
        for place in range(4)
    ]
    budgets = [budget(1, f"b{number}", app=f"a{number}") for number in range(60)]
    wide = tree({"prod": queue("3"), "test.a": queue(), "test.b": queue()})
    at = snapshot(wide, nodes, pods, ask("want", queue="prod", cpu=3), budgets, safeguards=Safeguards(), notices=TOLD)
    decision = DECIDE(at, wide, named(at, "want"))
    assert (decision.outcome, decision.reason) == (Outcome.SEARCH_LIMIT, Reason.SEARCH_LIMIT)
