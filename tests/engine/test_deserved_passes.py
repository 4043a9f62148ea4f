"""Policy ``deserved`` decides in a pass as it would from nothing, though it looks only at what changed since."""

from random import Random

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scenario_d import scenario_d
from engine.model.decision import apply_decision
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import deserved
from engine.policies.deserved.departures import DeparturesOn, RowChanges
from engine.policies.deserved.shares import amounts_by_path
from engine.policies.deserved.shares.amounts_by_path import AmountsByPath, changed_paths, same_paths
from tests.builders import NOW
from tests.engine.pod_worlds import world
from tests.properties import examples


def assert_decided_alike(snapshot: Snapshot, tree: QueueTree) -> int:
    """Decide for all pending pods in turn; return how many decisions evict pods."""
    evicting = 0
    for ask in sorted(snapshot.asks, key=lambda ask: ask.turn):
        decision = deserved.decide(snapshot, tree, ask)
        assert decision == deserved.decide(msgspec.structs.replace(snapshot), tree, ask)
        evicting += decision.evicts
        snapshot = apply_decision(snapshot, decision)
    return evicting


def test_in_scenario_d() -> None:
    """The one that is measured, where it is small; pods of ten pending pods' shapes alternate."""
    assert assert_decided_alike(*scenario_d(0.05)) > 0


@given(st.integers(0, 2**32))
@examples(60)
def test_in_random_clusters(seed: int) -> None:
    """Small ones."""
    random = Random(seed)
    state, tree = world(random)
    assert_decided_alike(state.snapshot(tree, now_ms=NOW, notices=dict.fromkeys(tree.queues, 0)), tree)


def test_when_shared_amounts_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a few changes already."""
    monkeypatch.setattr(amounts_by_path, "_MOST_CHANGES", 3)
    assert assert_decided_alike(*scenario_d(0.05)) > 0


def test_amounts_share_what_has_not_changed() -> None:
    """What changed is known from one moment to any other, and also once all entries were copied."""
    first = AmountsByPath({path: {"cpu": number} for number, path in enumerate("abcd")})
    second = first.with_changes({"a": {"cpu": 7}})
    third = second.with_changes({"b": {"cpu": 8}})
    assert third == {"a": {"cpu": 7}, "b": {"cpu": 8}, "c": {"cpu": 2}, "d": {"cpu": 3}}
    assert [changed_paths(first, second), changed_paths(second, third)] == [["a"], ["b"]]
    assert sorted(changed_paths(first, third)) == sorted(changed_paths(third, first)) == ["a", "b"]
    copied = AmountsByPath(dict(third))
    assert (changed_paths(third, copied), changed_paths(first, copied)) == ([], ["a", "b"])
    assert same_paths(first, third)
    assert not same_paths(first, {"a": {}})


def test_rows_that_changed_are_known_since_any_earlier_step() -> None:
    """Since none that came later, or that another pass took."""
    first = RowChanges()
    second = RowChanges(np.array([3, 1]), first)
    third = RowChanges(np.array([1, 7]), second)
    rows = third.since(first)
    assert rows is not None
    assert rows.tolist() == [1, 3, 7]
    assert third.since(third) is not None
    assert first.since(third) is None
    assert third.since(RowChanges()) is None


def test_some_nodes_are_looked_at_as_all_are() -> None:
    """A node without pods loses none."""
    snapshot, _ = scenario_d(0.01)
    columns = snapshot.columns
    leaving = columns.only([0, 1, 5])
    places = np.array([0, 3])
    departing = DeparturesOn(columns, places, leaving.take)
    assert departing.counts.tolist() == [sum(leaving[row] for row in columns.rows(place)) for place in (0, 3)]
    assert departing.of(columns.requests("cpu")).tolist() == [1_000 * count for count in departing.counts.tolist()]
