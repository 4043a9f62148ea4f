"""What victims cost on all nodes, found at once, is what a look at each node finds."""

from random import Random

import msgspec
import pytest

from benchmarks.scenario_g import under_shares
from engine.model.snapshot import Snapshot
from engine.policies.common.groups.placing import MemberShapes
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.groups.costs_at_once import UNKNOWN, CostsAtOnce
from engine.policies.deserved.groups.node_options import NodeOptions
from engine.policies.deserved.groups.search_state import SearchState
from engine.policies.deserved.groups.terms import MemberTerms
from engine.policies.deserved.parameters import Parameters
from tests.builders import budget


def shuffled(at: Snapshot, random: Random) -> Snapshot:
    """The same cluster with running pods of other queues, priorities and ages."""
    queues = ("root.test", "root.test", "root.batch", "root.web")
    pods = tuple(
        msgspec.structs.replace(
            pod,
            queue=pod.queue if pod.scheduling_group else random.choice(queues),
            priority=random.choice((0, 10, 20)),
            created_ms=random.randrange(50),
            labels={"kept": "yes"} if random.random() < 0.03 else {},
        )
        if pod.node
        else pod
        for pod in at.pods
    )
    return msgspec.structs.replace(at, pods=pods)


@pytest.mark.parametrize("seed", range(8))
def test_costs_found_at_once_are_those_of_a_look_at_each_node(seed: int) -> None:
    """A node with pods under a disruption budget is left to a look."""
    at, tree, ask = under_shares(0.006, 4)
    at = shuffled(at, Random(seed))
    if seed % 2:
        at = msgspec.structs.replace(at, budgets=(budget(1, kept="yes"),))
    attempt = ReclaimAttempt(at, tree, ask, Parameters())
    terms = MemberTerms(attempt, at.groups["ns", "gang"])
    shapes = MemberShapes(at, (ask,))
    checks = shapes.without(attempt.nodes.leaving, ~attempt.nodes.open).checks
    state = SearchState({ask.uid: terms}, shapes, checks, ())
    looked = {place: cost[1:4] for cost, place, _units in NodeOptions(state, below=False).of(ask)}
    at_once = CostsAtOnce(terms.candidates, terms.units.units, terms.units.may_go)
    assert at_once.known
    lacks = {name: amount - attempt.free[name] for name, amount in attempt.wanted.items()}
    costs = at_once.least(lacks)
    found = {place: tuple(costs[:, place].tolist()) for place in looked if costs[0, place] != UNKNOWN}
    assert len(found) > (2 if at.budgets else 10)
    assert found == {place: looked[place] for place in found}
