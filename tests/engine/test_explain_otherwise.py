"""What would have been otherwise, the least victims and what people stumble over: a whole sentence for each."""

import msgspec
import pytest
from hypothesis import given

from engine.analysis.anomalies import find_anomalies
from engine.analysis.counterfactuals import Counterfactual, Then
from engine.analysis.optimum import Optimal, optimal
from engine.explain import anomaly_sentence, change_sentence, optimal_messages, wasted_preemption
from engine.explain.change_texts import DISTANCE
from engine.model.change import Change
from engine.model.objects import DisruptionBudget, Requirement
from tests.builders import node, pod
from tests.engine.priority_worlds import worlds
from tests.engine.test_counterfactual import ASK, changes, cluster, decide
from tests.engine.test_explain import whole
from tests.properties import examples

CHOSEN = decide(cluster(node("n1", 3), pod("a", cpu=3, node="n1"), ASK), ASK)
NONE = decide(cluster(node("n1", 3), pod("a", cpu=3, node="n1", priority=2000), ASK), ASK)


def test_a_smaller_request_is_told_as_people_say_it():
    at = cluster(node("n3", 4), pod("b", cpu="2500m", node="n3"), ASK)
    told = [whole(change_sentence(one)) for one in changes(at, ASK)]
    assert "It would fit on n3 without preemption if it requested 1500m cpu less." in told
    assert "b would be spared if the pending pod requested 1500m cpu less." in told


def test_a_budget_is_told_with_how_many_it_would_have_to_allow():
    web = DisruptionBudget(namespace="ns", name="web", expressions=(Requirement("app", "In", ("web",)),), allowed=0)
    at = cluster(node("n1", 4), pod("a", cpu=4, labels={"app": "web"}, node="n1"), ASK, budgets=[web])
    told = [whole(change_sentence(one)) for one in changes(at, ASK)]
    assert "No victim would exceed its disruption budget if ns/web allowed 1 disruption." in told


def test_several_of_a_thing_are_listed():
    """Resources, and budgets."""
    both = Counterfactual(then=Then.FITS, change=Change.REQUEST, smaller={"cpu": 500, "memory": 2**30}, node="n1")
    assert whole(change_sentence(both)).endswith("if it requested cpu 500m, memory 1Gi less.")
    budgets = Counterfactual(then=Then.NO_VIOLATION, change=Change.BUDGET, budgets={"ns/a": 1, "ns/b": 2})
    assert whole(change_sentence(budgets)).endswith("this many disruptions: ns/a 1, ns/b 2.")


def test_fragmentation_is_told_in_numbers():
    at = cluster(
        *(node(f"n{n}", 4) for n in range(3)), *(pod(f"p{n}", cpu="2500m", node=f"n{n}") for n in range(3)), ASK
    )
    (first, *_) = find_anomalies(at, ASK, decide(at, ASK))
    assert whole(anomaly_sentence(first)) == (
        "4500m cpu is free on the 3 suitable nodes in total, but no node has more than 1500m free."
    )


def test_the_least_victims_are_told_beside_those_chosen():
    """With the first thing in which they are better."""
    found = Optimal(node="n4", victims=("ns/search-7",), pdb_violations=0, same=False, distance={"victims": 1})
    told = [whole(message) for message in optimal_messages(found, CHOSEN)]
    assert told == ["Lowest possible cost: 1 pod (search-7) on n4.", "The choice made evicts 1 more pod."]


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ("priority", "it removes all pods with a lower priority before it tries"),
        ("fence", "it tries only a few sets of pods"),
    ],
)
def test_why_a_policy_finds_no_room_where_there_is_some_is_told(policy, why):
    found, none = Optimal(node="n4", victims=("ns/search-7",)), msgspec.structs.replace(NONE, policy=policy)
    (told,) = (whole(message) for message in optimal_messages(found, none))
    assert told.startswith("Room could be made on n4 by evicting 1 pod (search-7).")
    assert why in told


def test_where_not_every_node_was_searched_no_more_is_said_than_is_known():
    found = Optimal(node="n", victims=("ns/a",), pdb_violations=0, same=True, left_out=("n", "m"))
    left_out = "2 nodes were not checked because it would take too long."
    told = [whole(message) for message in optimal_messages(found, CHOSEN)]
    assert told == ["None of the sets of pods that were tried would have cost less.", left_out]
    assert [whole(message) for message in optimal_messages(Optimal(left_out=("n", "m")), NONE)] == [left_out]


@pytest.mark.parametrize("name", DISTANCE)
@pytest.mark.parametrize("amount", [1, 3])
def test_every_distance_has_a_sentence(name, amount):
    found = Optimal(node="n", victims=("ns/a",), pdb_violations=0, same=False, distance={name: amount}, left_out=("m",))
    assert len([whole(message) for message in optimal_messages(found, CHOSEN)]) == 3


@pytest.mark.parametrize("ending", ["capacity-taken", "pod-gone", "bound-elsewhere"])
def test_what_went_in_vain_is_told(ending):
    assert whole(wasted_preemption(ending, "n1")).startswith("Its victims were evicted in vain")


def test_nothing_went_in_vain_where_the_ask_came():
    assert wasted_preemption("bound", "n1") is None


@examples(100)
@given(worlds())
def test_whatever_is_found_has_a_sentence(world):
    """With every parameter filled in."""
    at, asker = world
    decision = decide(at, asker)
    for one in changes(at, asker):
        assert whole(change_sentence(one)).endswith(".")
    for one in find_anomalies(at, asker, decision):
        assert whole(anomaly_sentence(one)).endswith(".")
    found = optimal(at, at.tree, asker, decision)
    for message in optimal_messages(found, decision) if found else ():
        assert whole(message).endswith(".")
