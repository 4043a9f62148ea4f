"""Nobody deserves more than the ResourceQuotas of its namespace let it have."""

from collections.abc import Mapping
from random import Random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.audit import audit, failed_checks
from engine.model.decision import Outcome, Reason
from engine.model.objects import Namespace, Node, Pod
from engine.model.quantities import Amounts
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Snapshot
from engine.model.snapshot.resource_quotas import cap_by_quotas
from engine.planning.journal import PassInputs
from engine.policies import deserved
from tests.builders import ask, named, node, pod, queue, tree
from tests.engine.strategies import queue_trees
from tests.properties import examples

SHAPE = tree({"a": queue(2, namespaces=("a",)), "b": queue(namespaces=("b",))})


def state(*objects: Node | Pod, namespaces: tuple[str, ...] = ("a", "b")) -> ClusterState:
    """A cluster of these, in which every namespace is known."""
    found = ClusterState()
    for one in objects:
        if isinstance(one, Node):
            found.nodes[one.name] = one
        else:
            found.pods[one.uid] = one
    found.namespaces |= {name: Namespace(name=name) for name in namespaces}
    return found


def seen(quotas: Mapping[str, Amounts], *objects: Node | Pod, shape: QueueTree = SHAPE) -> Snapshot:
    """As a pass sees it."""
    return PassInputs(now_ms=10**9, quotas=dict(quotas)).snapshot(state(*objects), shape)


def crowd(name: str, many: int, on: str | None = "n1") -> list[Pod]:
    """Pods of one core in a namespace that has its leaf."""
    return [
        pod(f"{name}{number}", namespace=name, node=on, **({} if on else {"unschedulable_ms": 0}))
        for number in range(many)
    ]


def test_a_namespace_deserves_no_more_than_its_quota() -> None:
    """Though it asks for more and is promised more; what it leaves is divided among the others."""
    objects = [node("n1", 8), *crowd("a", 6, None), *crowd("b", 8)]
    free, narrow = (seen(quotas, *objects) for quotas in ({}, {"a": {"cpu": 1000}}))
    shares = [deserved.share_statuses(one, one.tree) for one in (free, narrow)]
    assert [(one["root.a"].deserved["cpu"], one["root.b"].deserved["cpu"]) for one in shares] == [
        (4000, 4000),
        (1000, 7000),
    ]
    assert shares[1]["root.a"].reserved == {"cpu": 1000}


def test_an_ask_beyond_the_quota_takes_from_nobody() -> None:
    """Where without it somebody would be told to give back."""
    objects = [node("n1", 8), *crowd("a", 1, "n1"), *crowd("b", 7), ask("a9", namespace="a")]
    outcomes = []
    for quotas in ({}, {"a": {"cpu": 1000}}):
        at = seen(quotas, *objects)
        decision = deserved.decide(at, at.tree, named(at, "a9"))
        outcomes.append((decision.outcome, decision.reason))
        assert failed_checks(audit(at, at.tree, decision)) == ()
    assert outcomes == [
        (Outcome.NOT_ELIGIBLE, Reason.GRACE),
        (Outcome.NOT_ELIGIBLE, Reason.BEYOND_DESERVED),
    ]


def test_a_leaf_that_several_namespaces_share_is_nobodys() -> None:
    """No quota is for all of them."""
    shared = tree({"a": queue(namespaces=("a", "b"))})
    namespaces = {name: Namespace(name=name) for name in ("a", "b")}
    assert cap_by_quotas(shared, namespaces, {"a": {"cpu": 1}}) is shared


def test_the_tree_stays_the_same_while_no_quota_changes() -> None:
    """So what was worked out for it is still good in the next pass."""
    kept = state(node("n1", 8))
    trees = [
        PassInputs(now_ms=now, quotas={"a": {"cpu": cpu}}).snapshot(kept.copy(), SHAPE).tree
        for now, cpu in ((1, 1000), (2, 1000), (3, 2000))
    ]
    assert trees[0] is trees[1]
    assert trees[1] is not trees[2]


@given(queue_trees(), st.integers(0, 10**6))
@examples(50)
def test_in_no_tree_anybody_deserves_more(shape: QueueTree, seed: int) -> None:
    """Whatever runs and waits, by either way of dividing."""
    random = Random(seed)
    spaces = {leaf: f"ns{number}" for number, leaf in enumerate(shape.leaves)}
    owned = [
        msgspec.structs.replace(one, namespaces=(spaces[path],) if path in spaces else ())
        for path, one in shape.queues.items()
    ]
    pods = [
        pod(f"p{number}", namespace=random.choice([*spaces.values()]), node="n1" if number < 6 else None)
        for number in range(12)
    ]
    quotas = {name: {"cpu": random.randint(0, 4) * 1000} for name in spaces.values()}
    found = state(node("n1", 8), *pods, namespaces=tuple(spaces.values()))
    at = PassInputs(now_ms=10**9, quotas=quotas).snapshot(found, QueueTree(owned))
    for method in deserved.Method:
        stands = deserved.share_statuses(at, at.tree, method)
        assert all(stands[leaf].deserved.get("cpu", 0) <= quotas[name]["cpu"] for leaf, name in spaces.items())
