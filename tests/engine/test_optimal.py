"""The least victims: held against every set of pods of every node, and against what the policy takes."""

from itertools import combinations

import msgspec
import pytest
from hypothesis import given

from engine.analysis.optimum import MOST_CANDIDATES, Optimal
from engine.analysis.optimum import optimal as least_of
from engine.feasibility.plain import refusal
from engine.model.decision import Outcome
from engine.model.objects import AffinityTerm, DisruptionBudget, Requirement
from engine.policies.priority.attempt import PriorityAttempt
from engine.policies.priority.optimum import PriorityWeighing
from tests.builders import ask, node, pod
from tests.engine.priority_worlds import worlds
from tests.engine.test_counterfactual import ASK, cluster, decide
from tests.properties import examples

WEB = DisruptionBudget(namespace="ns", name="web", expressions=(Requirement("app", "In", ("web",)),), allowed=0)


def optimal(at, asker) -> Optimal | None:
    return least_of(at, at.tree, asker, decide(at, asker))


def test_where_the_policy_takes_the_least_that_is_said():
    """With its own victims."""
    at = cluster(
        node("n1", 4),
        pod("a", cpu=1, priority=30, node="n1"),
        pod("b", cpu="1500m", priority=30, node="n1", started_ms=1),
        pod("c", cpu="1500m", priority=30, node="n1", started_ms=2),
        asker := ask("ask", cpu="1500m", priority=1000),
    )
    found = optimal(at, asker)
    assert [one.pod.name for one in decide(at, asker).victims] == ["c"]
    assert found.same
    assert found.victims == ("ns/c",)


def test_its_distance_is_told():
    """Two pods where one would do."""
    at = cluster(
        node("n1", 6),
        pod("a", cpu=3, priority=5, node="n1"),
        pod("b", cpu=2, priority=5, node="n1", started_ms=1),
        pod("c", cpu=1, priority=5, node="n1", started_ms=2),
        ASK,
    )
    found = optimal(at, ASK)
    assert {one.pod.name for one in decide(at, ASK).victims} == {"b", "c"}
    assert (found.victims, found.same, found.distance) == (
        ("ns/a",),
        False,
        {"priority_sum": 5, "victims": 1, "started_ms": -1},
    )


def test_it_may_find_room_where_the_policy_finds_none():
    """The policy takes away the very pod that the ask wants to be near."""
    near = AffinityTerm("host", (Requirement("app", "In", ("db",)),), ("ns",))
    asker = msgspec.structs.replace(ASK, affinity=(near,))
    at = cluster(
        node("n1", 4, labels={"host": "n1"}),
        pod("db", cpu=1, labels={"app": "db"}, node="n1"),
        pod("web", cpu=3, node="n1"),
        asker,
    )
    assert decide(at, asker).outcome is Outcome.NO_CANDIDATE
    found = optimal(at, asker)
    assert (found.node, found.victims, found.same, found.distance) == ("n1", ("ns/web",), False, {})


def test_violations_are_counted_as_the_policy_counts_them():
    """A budget is spent on all candidates of the node, the most important first, whether or not they go."""
    labels = {"app": "web"}
    at = cluster(
        node("n1", 4),
        pod("a", cpu=2, priority=2, labels=labels, node="n1"),
        pod("b", cpu=2, priority=1, labels=labels, node="n1"),
        asker := ask("ask", cpu=2, priority=1000),
        budgets=[msgspec.structs.replace(WEB, allowed=1)],
    )
    found = optimal(at, asker)
    assert (found.victims, found.pdb_violations) == (("ns/a",), 0)


def test_a_node_with_too_many_candidates_is_named_and_left_out():
    many = [pod(f"p{number:02}", cpu="100m", node="n1") for number in range(MOST_CANDIDATES + 1)]
    at = cluster(node("n1", "3100m"), *many, node("n2", 4), pod("z", cpu=4, node="n2"), ASK)
    found = optimal(at, ASK)
    assert (found.node, found.victims, found.left_out) == ("n2", ("ns/z",), ("n1",))


@pytest.mark.parametrize("asker", [ask("ask", cpu=1, priority=1000), ask("ask", cpu=4, priority=0)])
def test_there_is_none_where_none_is_needed_or_none_helps(asker):
    at = cluster(node("n1", 4), pod("a", cpu=3, node="n1"), asker)
    assert optimal(at, asker) is None


@examples(150)
@given(worlds())
def test_no_set_of_pods_on_any_node_costs_less(world):
    """All of them tried one by one, with the filters of the long way round."""
    at, asker = world
    found = optimal(at, asker)
    if decide(at, asker).outcome not in (Outcome.PREEMPT, Outcome.NO_CANDIDATE):
        assert found is None
        return
    costs = list(_every_cost(at, asker))
    least = min((cost for _, cost in costs), default=None)
    bound = PriorityWeighing(at, at.tree, asker, {}).bound()
    assert all(bound(place) <= cost for place, cost in costs)
    assert (found is None) == (least is None)
    if found is None:
        return
    pods = {one.key: one for one in at.pods}
    assert _cost(at, asker, found.node, [pods[key] for key in found.victims]) == least
    decision = decide(at, asker)
    if found.same:
        assert (decision.node, tuple(one.pod.key for one in decision.victims)) == (found.node, found.victims)
    elif decision.victims:
        own = [pods[one.pod.key] for one in decision.victims]
        assert _cost(at, asker, decision.node, own) > least


def _every_cost(at, asker):
    seen = PriorityAttempt(at, asker)
    for place, one in enumerate(at.nodes):
        if not seen.curable[place]:
            continue
        there = [pod for pod in at.pods_by_node[one.name] if pod.priority < asker.priority]
        for count in range(1, len(there) + 1):
            for chosen in combinations(there, count):
                if refusal(at, asker, one, {pod.uid for pod in chosen}, miscounting=True) is None:
                    yield place, _cost(at, asker, one.name, chosen)


def _cost(at, asker, name, chosen):
    seen = PriorityAttempt(at, asker)
    over = {seen.columns.pods[row].uid for row in seen.budgets.overdrawn(seen.columns.place[name])}
    top = max(pod.priority for pod in chosen)
    starts = [at.now_ms if pod.started_ms is None else pod.started_ms for pod in chosen if pod.priority == top]
    total = sum(pod.priority + 2**31 for pod in chosen)
    return sum(pod.uid in over for pod in chosen), top, total, len(chosen), -min(starts)
