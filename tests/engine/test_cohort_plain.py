"""Policies ``cohort`` and ``fair-share`` decide as the plain implementation does: who is taken, put back, and goes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scenario_k import scenario_k
from engine.cli.cases import quota_situation, read_case
from engine.model.quota import QuotaCluster, Workload
from engine.policies import cohort
from engine.policies.cohort import STRATEGIES, Strategy
from tests.engine import plain_cohort
from tests.engine.quota_worlds import FAIR, crowds, worlds
from tests.fidelity.kueue import FOLDER
from tests.fidelity.recorded import read, some
from tests.properties import examples

World = tuple[QuotaCluster, Workload]
Strategies = tuple[Strategy, ...] | None


def alike(world: World, strategies: Strategies) -> bool:
    """Whether both answer the same, and so they do when asked again: nothing is left of a search."""
    cluster, ask = world
    plain = plain_cohort.decide(cluster, ask, strategies)
    return all(cohort.decide(cluster, ask, strategies) == plain for _ in range(2))


@given(worlds(), st.sampled_from(FAIR))
@examples(400)
def test_in_random_cohorts(world: World, strategies: Strategies) -> None:
    """Small ones, with every setting there is."""
    assert alike(world, strategies)


@given(crowds(), st.sampled_from(FAIR))
@examples(300)
def test_where_many_go(world: World, strategies: Strategies) -> None:
    """Many workloads, of few sizes, in cohorts that lend nearly everything."""
    assert alike(world, strategies)


@pytest.mark.parametrize("strategies", [None, STRATEGIES], ids=["classic", "fair"])
@pytest.mark.parametrize("quarter", [False, True], ids=["small", "quarter"])
def test_in_scenario_k(quarter: bool, strategies: Strategies) -> None:
    """The one that is measured, where it is small; somebody goes."""
    world = scenario_k(0.01, quarter=quarter)
    assert alike(world, strategies)
    assert cohort.decide(*world, strategies).search.targets


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.jsonl.gz")), ids=lambda path: path.name.split(".")[0])
def test_on_recorded_cases(path: Path) -> None:
    """What Kueue was asked."""
    for case in some(read(path)):
        cluster, ask, strategies = quota_situation(read_case(json.dumps(case).encode()))
        assert alike((cluster, ask), strategies), case["name"]
