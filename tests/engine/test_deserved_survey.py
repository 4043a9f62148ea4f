"""Policy ``deserved`` looks at few nodes and asks one of many pods that are alike: it leaves nothing out."""

from collections import Counter
from collections.abc import Iterable
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.decision import PodReason
from engine.model.objects import DisruptionBudget, Pod, Requirement
from engine.policies.deserved import Parameters, node_candidates
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.budget_coverage import BudgetCoverage
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.node_bounds import bounds, hopeless_places
from engine.policies.deserved.node_candidates import search_below_deserved, search_nodes
from engine.policies.deserved.shares.balances import ShareBalances
from engine.policies.deserved.victim_selection import NodeVictims, victims_on_node
from tests.builders import NOW, ask, node, pod, queue, snapshot, tree
from tests.engine.pod_worlds import world
from tests.properties import examples

SEEDS = st.integers(0, 2**32)


def attempts(random: Random) -> list[ReclaimAttempt]:
    """Of every ask of a small crowded cluster, some of whose pods are the system's, shielded or in a budget."""
    state, tree = world(random)
    state.pods.update({uid: _odd(pod, random) for uid, pod in state.pods.items()})
    names = tuple(random.sample(sorted(pod.name for pod in state.pods.values()), 2)) if len(state.pods) > 1 else ()
    budget = DisruptionBudget(namespace="default", name="some", allowed=random.randint(0, 2), disrupted=names)
    state.budgets = {("ns", "some"): budget} if random.random() < 0.5 else {}
    snapshot = state.snapshot(tree, now_ms=NOW)
    if running := [pod for pod in snapshot.pods if pod.node and not pod.terminating]:
        snapshot = snapshot.expecting(random.sample(running, 1))
    ranks = Parameters(high_priority=("high",))
    return [ReclaimAttempt(snapshot, tree, pod, ranks) for pod in snapshot.asks]


def _odd(pod: Pod, random: Random) -> Pod:
    changed = random.choice(
        [{}, {}, {}, {"namespace": "kube-system"}, {"controller": "DaemonSet/d"}, {"priority_class": "high"}]
    )
    return msgspec.structs.replace(pod, created_ms=random.randint(0, 3), **changed)


@given(SEEDS)
@examples(100)
def test_a_node_that_is_not_looked_at_would_be_dearer(seed: int) -> None:
    """And whoever goes is the cheapest of all."""
    for attempt in attempts(Random(seed)):
        found = search_nodes(attempt, Candidates(attempt))
        for place in found.dearer.nonzero()[0].tolist():
            closer = victims_on_node(attempt, found.candidates, place)
            assert found.best is not None
            assert closer is None or closer.cost > found.best.cost
        for least, place in bounds(attempt, found.candidates, found.useful):
            if found.best is None or least <= found.best.cost:
                assert not found.dearer[place]


@given(SEEDS)
@examples(100)
def test_a_node_that_is_given_up_at_once_would_give_no_room(seed: int) -> None:
    """Not where pods of a queue ask for different things either."""
    for attempt in attempts(Random(seed)):
        candidates = Candidates(attempt)
        for place in hopeless_places(attempt, candidates).nonzero()[0].tolist():
            assert victims_on_node(attempt, candidates, place) is None


def test_nodes_that_were_passed_over_before_the_best_are_not_called_dearer() -> None:
    """The last of some equal queues has a node with room for most of the pod: there one victim is enough."""
    names = ["q0", "q1", "q2", "q3"]
    under = tree({**{name: queue() for name in names}, "b": queue()})
    nodes = [*(node(f"n{number}", 10) for number in range(3)), node("n3", 18)]
    pods = [pod(f"p{of}{at}", queue=name, node=f"n{of}") for of, name in enumerate(names) for at in range(10)]
    at = snapshot(under, nodes, pods, ask("x", queue="b", cpu=9))
    attempt = ReclaimAttempt(at, under, at.asks[0], Parameters())
    found = search_nodes(attempt, Candidates(attempt))
    assert found.best is not None
    assert (found.best.place, len(found.best.victims), found.dearer.any()) == (3, 1, False)


def test_where_queues_give_too_little_for_any_node_only_the_first_one_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of ten queues has one pod too many, and all ten of its pods on a node of its own."""
    looks: list[int] = []
    closely = victims_on_node

    def counted(
        attempt: ReclaimAttempt, candidates: Candidates, place: int, *, below: bool = False
    ) -> NodeVictims | None:
        looks.append(place)
        return closely(attempt, candidates, place, below=below)

    under = tree({**{f"q{number}": queue() for number in range(10)}, "b": queue()})
    nodes = [node(f"n{number}", 10) for number in range(10)]
    pods = [pod(f"p{of}{at}", queue=f"q{of}", node=f"n{of}") for of in range(10) for at in range(10)]
    at = snapshot(under, nodes, pods, ask("x", queue="b", cpu=9))
    attempt = ReclaimAttempt(at, under, at.asks[0], Parameters())
    monkeypatch.setattr(node_candidates, "victims_on_node", counted)
    found = search_nodes(attempt, Candidates(attempt))
    assert (found.best, looks, found.counts.tolist()) == (None, [0], [10] * 10)
    assert not found.dearer.any()
    found = search_below_deserved(found)
    assert found.best is not None
    assert (len(found.best.victims), looks) == (9, [0, 0])


@given(SEEDS)
@examples(100)
def test_who_may_go_is_said_of_each_pod_as_if_it_were_asked_alone(seed: int) -> None:
    """And why the others may not is counted."""
    for attempt in attempts(Random(seed)):
        candidates = Candidates(attempt)
        pods = attempt.nodes.columns.pods
        why = {row: candidates.why_not(pod) for row, pod in enumerate(pods)}
        for path, number in attempt.nodes.pod_index.number.items():
            for name, overused in attempt.overused.items():
                assert overused[number] == candidates.balances.overused(path, name)
        assert candidates.preemptable.nonzero()[0].tolist() == [row for row in why if why[row] is None]
        assert +candidates.counts == Counter(one.reason for one in why.values() if one)


def test_pods_that_nothing_that_counts_tells_apart_are_asked_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though each is of a job of its own, with labels of its own, beneath a disruption budget."""
    asked: list[Pod] = []
    allow = BudgetCoverage.allow

    def counted(self: BudgetCoverage, those: Iterable[Pod]) -> bool:
        found = list(those)
        asked.extend(found)
        return allow(self, found)

    monkeypatch.setattr(BudgetCoverage, "allow", counted)
    first = pod("p", queue="a", node="n1")  # who read them, shares what they request
    jobs = [
        msgspec.structs.replace(
            first, uid=str(at), name=f"p{at}", controller=f"Job/{at}", labels={"app": "a", "job": str(at)}
        )
        for at in range(30)
    ]
    under = tree({"a": queue(), "b": queue()})
    at = snapshot(under, node("n1", 30), jobs, ask("x", queue="b"))
    budget = DisruptionBudget(namespace="ns", name="all", expressions=(Requirement("app", "In", ("a",)),), allowed=2)
    found = Candidates(ReclaimAttempt(at.with_budgets((budget,)), under, at.asks[0], Parameters()))
    assert (found.count, len(asked)) == (30, 1)
    shut = msgspec.structs.replace(budget, allowed=0)
    found = Candidates(ReclaimAttempt(at.with_budgets((shut,)), under, at.asks[0], Parameters()))
    assert (found.count, len(asked), +found.excluded_by_kind) == (0, 2, {PodReason.OVER_BUDGET: 30})


def test_without_node_fit_only_the_queue_whose_turn_it_is_is_put_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a thousand queues few ever come to that, and each has many pods."""
    sums: list[Pod] = []
    free = ShareBalances.below_reserved

    def counted(self: ShareBalances, one: Pod) -> str:
        sums.append(one)
        return free(self, one)

    under = tree({**{f"q{number}": queue() for number in range(10)}, "b": queue()})
    nodes = [node(f"n{number}", 10) for number in range(10)]
    pods = [pod(f"p{of}{at}", queue=f"q{of}", node=f"n{at}") for of in range(10) for at in range(10)]
    at = snapshot(under, nodes, pods, ask("x", queue="b", cpu=4))
    attempt = ReclaimAttempt(at, under, at.asks[0], Parameters(node_fit=False))
    candidates = Candidates(attempt)
    monkeypatch.setattr(ShareBalances, "below_reserved", counted)
    best = search_nodes(attempt, candidates).best
    assert best is not None
    assert len(best.victims) == len(sums) == 4
