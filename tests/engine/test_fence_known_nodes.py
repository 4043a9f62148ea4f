"""Pending pods of a pass that request the same share the choice of victims on the nodes that look alike to them."""

from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.decision import apply_decision, encode
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import policy
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.fence.parameters import Parameters
from engine.policies.fence.victims import known_nodes
from engine.policies.fence.victims.preemptable_amounts import AmountsByQueue
from engine.policies.fence.victims.victim_selection import NodeCandidateOrder, VictimSelection, select_victims
from tests.builders import OPTED_OUT, ask, budget, named, node, pod, queue, snapshot, tree, victims_of
from tests.engine import plain_fence
from tests.engine.strategies import LEAVES, queue_trees

DECIDE = policy("fence", "design", {"last_resort": "any"})


def crowd(random: Random, shape: QueueTree) -> Snapshot:
    """Many nodes with a few pods of any queue each, and pods of several queues that wait and request the same."""

    def settings() -> dict[str, object]:
        return {
            "queue": random.choice(LEAVES),
            "cpu": random.randint(1, 2),
            "priority": random.randint(0, 1),
            "app": random.choice(["a", "b"]),
            "priority_class": random.choice(["", "", "", "keep"]),
            "created_ms": random.randint(0, 3),
        }

    nodes = [node(f"n{number}", random.randint(4, 6)) for number in range(random.randint(2, 9))]
    running = [
        pod(f"p{number}-{one.name}", node=one.name, terminating=random.random() < 0.05, **settings())  # type: ignore[arg-type]
        for one in nodes
        for number in range(random.randint(2, 4))
    ]
    wait = [
        ask(f"new-{number}", queue=random.choice(LEAVES), cpu=random.choice([2, 3]), priority=random.randint(1, 2))
        for number in range(random.randint(2, 8))
    ]
    budgets = [budget(random.randint(0, 2), app="a")] if random.random() < 0.3 else []
    return snapshot(shape, nodes, running, wait, budgets, OPTED_OUT)


@given(shape=queue_trees(), random=st.randoms(use_true_random=False))
def test_a_pass_decides_as_if_each_pod_were_the_first(shape: QueueTree, random: Random) -> None:
    """Whatever happened on nodes in between, and whichever pods are nearer to one queue than to another."""
    at = crowd(random, shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_nodes, "_MANY", 1)
        patch.setattr("engine.policies.fence.victims.node_costs._FIRST", random.choice([1, 2, 4_096]))
        for one in sorted(at.asks, key=lambda pod: pod.turn):
            decision = DECIDE(at, shape, one)
            anew = msgspec.structs.replace(at, pods=tuple(at.pods))
            assert encode(decision) == encode(plain_fence.decide(anew, shape, one, Parameters(last_resort="any")))
            at = apply_decision(at, decision)


TREE = tree({"a": queue(), "a.x": queue("9"), "a.y": queue("0"), "b": queue(), "b.x": queue("9"), "test": queue("0")})


def test_only_nodes_with_pods_of_nearer_queues_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of twenty nodes, one has a pod that is nearer to the first pending pod than to the second."""
    nodes = [node(f"n{number:02}", 2) for number in range(20)]
    running = [pod(f"old-{number:02}", queue="test", node=f"n{number:02}", cpu=2) for number in range(19)]
    near = pod("near", queue="a.y", node="n19", cpu=2)
    at = snapshot(TREE, nodes, running, near, ask("first", queue="a.x", cpu=2), ask("second", queue="b.x", cpu=2))
    looked_at = []

    def looking(attempt: PreemptionAttempt, order: NodeCandidateOrder, amounts: AmountsByQueue) -> VictimSelection:
        looked_at.append(order.places.tolist())
        return select_victims(attempt, order, amounts)

    monkeypatch.setattr(known_nodes, "select_victims", looking)
    first, second = (DECIDE(at, TREE, named(at, name)) for name in ("first", "second"))
    assert [victims_of(first), victims_of(second)] == [["near"], ["old-00"]]
    assert looked_at == [list(range(20)), [19]]
