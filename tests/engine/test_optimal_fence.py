"""The least victims under policy fence: held against every set of pods of every node that the audit lets pass."""

from collections.abc import Iterator
from itertools import combinations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.analysis.optimum import MOST_CANDIDATES, Optimal, branch_and_bound
from engine.analysis.optimum import optimal as least_of
from engine.audit import AuditTerms, audit, failed_checks
from engine.model.decision import Decision, Outcome, Reason
from engine.model.objects import AffinityTerm, Node, Pod, Requirement
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import fence
from engine.policies.fence.optimum import FenceWeighing
from tests.builders import (
    NOW,
    OPTED_OUT,
    ask,
    daemonset_ask,
    named,
    node,
    pod,
    preempting,
    queue,
    snapshot,
    tree,
    victims_of,
)
from tests.engine.crowds import crowds
from tests.engine.plain_fence import entitled
from tests.engine.plain_fence.candidates import Claim, candidates_of, judge
from tests.engine.plain_fence.usage import ledger_of
from tests.engine.strategies import clusters, queue_trees
from tests.properties import examples

TREE = tree({"prod": queue("9"), "test": queue(), "far.away": queue()})
NEW = ask("new", queue="prod", cpu=2)
Cost = tuple[int, ...]


def optimal(at: Snapshot, name: str = "new", last_resort: str = "daemonset") -> tuple[Decision, Optimal | None]:
    """The policy's decision for the ask of that name, and the least victims beside it."""
    asker, parameters = named(at, name), {"last_resort": last_resort}
    decision = fence.decide(at, at.tree, asker, msgspec.convert(parameters, fence.Parameters))
    return decision, least_of(at, at.tree, asker, decision, parameters)


def test_where_the_policy_takes_the_least_that_is_said() -> None:
    """With its own victims; disruption budgets are not what it counts."""
    at = snapshot(TREE, node("n1", 2), pod("t", queue="test", cpu=2, node="n1"), NEW)
    _, found = optimal(at)
    assert found == Optimal(node="n1", victims=("ns/t",), same=True)


def test_its_distance_is_told() -> None:
    """Greedy takes the two nearer and younger ones, where the one far away alone would do."""
    at = snapshot(
        TREE, node("n1", 4),
        pod("far", queue="far.away", cpu=2, node="n1"),
        *(pod(name, queue="test", node="n1", created_ms=9) for name in ("a", "b")),
        NEW,
    )  # fmt: skip
    decision, found = optimal(at)
    assert victims_of(decision) == ["a", "b"]
    distance = {"originators": 1, "victims": 1, "tree_distance": 1, "work_lost_ms": NOW, "created_ms": -9}
    assert found == Optimal(node="n1", victims=("ns/far",), distance=distance)


def test_a_guarantee_bounds_it() -> None:
    """One pod of either queue may go, not two of one."""
    bound = tree({"prod": queue("9"), "a": queue("1"), "b": queue("1")})
    pods = [pod(f"{leaf}{i}", queue=leaf, node="n1", created_ms=i) for leaf in "ab" for i in range(2)]
    _, found = optimal(snapshot(bound, node("n1", 4), pods, NEW))
    assert found == Optimal(node="n1", victims=("ns/a1", "ns/b1"), same=True)


def test_a_pod_that_opted_out_is_in_it_only_as_the_last_resort() -> None:
    """For a DaemonSet's ask, and only where nothing else makes room."""
    keep = pod("keep", queue="test", node="n1", priority_class="keep", created_ms=5)
    other = pod("other", queue="test", node="n1")
    asker = daemonset_ask("new", on="n1", queue="prod")
    with_other = snapshot(TREE, node("n1", 2), keep, other, asker, OPTED_OUT)
    assert optimal(with_other)[1] == Optimal(node="n1", victims=("ns/other",), same=True)
    alone = snapshot(TREE, node("n1", 1), keep, asker, OPTED_OUT)
    assert optimal(alone)[1] == Optimal(node="n1", victims=("ns/keep",), same=True)
    assert optimal(alone, last_resort="never")[1] is None


def test_a_pod_that_the_ask_wants_to_be_near_is_not_in_it() -> None:
    near = AffinityTerm("host", (Requirement("app", "In", ("db",)),), ("ns",))
    at = snapshot(
        TREE, node("n1", 4, labels={"host": "n1"}),
        pod("db", queue="test", cpu=2, node="n1", labels={"app": "db"}, created_ms=5),
        pod("web", queue="test", cpu=2, node="n1"),
        msgspec.structs.replace(NEW, affinity=(near,)),
    )  # fmt: skip
    assert optimal(at)[1] == Optimal(node="n1", victims=("ns/web",), same=True)


def test_nodes_with_too_many_candidates_are_named_and_left_out() -> None:
    """The policy's own victims stand; where it has none, nothing is said but that."""
    many = [pod(f"p{number:02}", queue="test", cpu="100m", node="n1") for number in range(MOST_CANDIDATES + 1)]
    _, found = optimal(snapshot(TREE, node("n1", "3100m"), many, NEW))
    assert found is not None
    assert (found.same, found.left_out, len(found.victims)) == (True, ("n1",), 20)
    stuck = tree({"prod": queue("9"), "test": queue("2")})
    decision, found = optimal(snapshot(stuck, node("n1", "3100m"), many, NEW))
    assert decision.outcome is Outcome.NO_CANDIDATE
    assert found == Optimal(left_out=("n1",))


@pytest.mark.parametrize("steps", [0, 150])
def test_a_search_that_takes_too_long_names_the_nodes_that_it_left_out(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those after the one at which it was given up; what it found before stands."""
    monkeypatch.setattr(branch_and_bound, "_MOST_STEPS", steps)
    full = [[node(name, 2), pod(name, queue="test", cpu=2, node=name)] for name in ("n1", "n2", "n3")]
    _, found = optimal(snapshot(TREE, *full, NEW))
    left_out = ("n2", "n3") if steps else ("n1", "n2", "n3")
    assert found == Optimal(node="n1", victims=("ns/n1",), same=True, left_out=left_out)


def test_there_is_none_where_none_is_needed_or_may_be_taken() -> None:
    """It fits; its queue is promised nothing."""
    assert optimal(snapshot(TREE, node("n1", 4), NEW))[1] is None
    at = snapshot(TREE, node("n1", 1), pod("t", queue="test", node="n1"), ask("new", queue="far.away"))
    assert optimal(at)[1] is None


@given(crowd=crowds(), last_resort=st.sampled_from(("daemonset", "any", "never")))
@examples(60)
def test_no_lawful_set_on_any_node_costs_less(crowd: tuple[QueueTree, list[Node | Pod]], last_resort: str) -> None:
    """Where much is preempted; nodes with more than eight pods that may go are too many to try."""
    shape, objects = crowd
    at = snapshot(shape, objects, OPTED_OUT)
    for one in at.asks:
        _held_against_every_set(at, one, last_resort)


@given(shape=queue_trees(), objects=clusters(), last_resort=st.sampled_from(("daemonset", "any", "never")))
@examples(100)
def test_nor_under_queues_with_every_setting(shape: QueueTree, objects: list[Node | Pod], last_resort: str) -> None:
    """Fences, priorities, maxima, DaemonSets' asks."""
    at = snapshot(shape, objects, OPTED_OUT)
    for one in at.asks:
        _held_against_every_set(at, one, last_resort)


def _held_against_every_set(at: Snapshot, asker: Pod, last_resort: str) -> None:
    decision, found = optimal(at, asker.name, last_resort)
    if decision.outcome not in (Outcome.PREEMPT, Outcome.NO_CANDIDATE):
        assert found is None
        return
    on_nodes = _may_go(at, asker, last_resort)
    if max(map(len, on_nodes), default=0) > 8:
        return
    terms = AuditTerms(last_resort=last_resort)
    lawful = [pods for pods in _sets(on_nodes) if _lawful(at, asker, pods, terms)]
    costs = [_cost(at, asker, pods) for pods in lawful]
    bound = FenceWeighing(at.without_reservation(asker.uid), at.tree, asker, {"last_resort": last_resort}).bound()
    assert all(bound(at.columns.place[pods[0].node or ""]) <= cost for pods, cost in zip(lawful, costs, strict=True))
    assert (found is None) == (not costs)
    if found is not None:
        pods = {one.key: one for one in at.pods}
        least = [pods[key] for key in found.victims]
        assert _lawful(at, asker, least, terms)
        assert _cost(at, asker, least) == min(costs)
        own = [pods[one.pod.key] for one in decision.victims]
        assert found.same == (bool(own) and _cost(at, asker, own) == min(costs))


def _may_go(at: Snapshot, asker: Pod, last_resort: str) -> list[list[Pod]]:
    """Node by node, as the long way round has it."""
    leaf = asker.queue or ""
    claims = {} if asker.required_node else entitled(at.tree, leaf, asker)
    allowed = last_resort == "any" or (last_resort == "daemonset" and asker.required_node is not None)
    claim = Claim(ask=asker, leaf=leaf, fence=at.tree.fence(leaf), entitling=claims, opted_out=allowed)
    at = at.without_reservation(asker.uid)
    found = candidates_of(at, judge(at, at.tree, ledger_of(at, at.tree), claim))
    return [pods for name, pods in found.items() if name in at.columns.place]


def _sets(on_nodes: list[list[Pod]]) -> Iterator[tuple[Pod, ...]]:
    for pods in on_nodes:
        for count in range(1, len(pods) + 1):
            yield from combinations(pods, count)


def _lawful(at: Snapshot, asker: Pod, pods: list[Pod] | tuple[Pod, ...], terms: AuditTerms) -> bool:
    reason = Reason.LAST_RESORT if any(one.opted_out for one in pods) else Reason.BELOW_GUARANTEE
    chosen = preempting(at, asker.name, [one.name for one in pods], node=pods[0].node or "", reason=reason)
    if asker.required_node not in (None, pods[0].node):
        return False
    return not failed_checks(audit(at, at.tree, chosen, terms=terms))


def _cost(at: Snapshot, asker: Pod, pods: list[Pod] | tuple[Pod, ...]) -> Cost:
    started = [at.now_ms if one.started_ms is None else one.started_ms for one in pods]
    return (
        sum(one.opted_out for one in pods),
        sum(one.originator for one in pods),
        max(one.priority for one in pods),
        len(pods),
        sum(at.tree.distance(asker.queue or "", one.queue or "") for one in pods),
        sum(max(0, at.now_ms - one) for one in started),
        -min(one.created_ms for one in pods),
    )
