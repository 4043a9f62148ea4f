"""Policies ``cohort`` and ``fair-share`` decide as the plain implementation does: who is taken, put back, and goes."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scenario_k import scenario_k
from engine.cli.cases import quota_situation, read_case
from engine.model.quota import ClusterQueue, Cohort, FlavorQuota, QuotaCluster, Workload
from engine.policies import cohort
from engine.policies.cohort import STRATEGIES, Strategy
from engine.policies.cohort.search import bulk_removal
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


@given(crowds(), st.sampled_from(FAIR))
@examples(100)
def test_where_workloads_are_removed_a_few_at_once(world: World, strategies: Strategies) -> None:
    """Usage is followed from one block of workloads to the next."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk_removal, "_FEWEST", 2)
        patch.setattr(bulk_removal, "_GROWTH", 2)
        assert alike(world, strategies)


@given(crowds(), st.sampled_from(FAIR))
@examples(100)
def test_where_amounts_do_not_fit_into_64_bits(world: World, strategies: Strategies) -> None:
    """Neither amounts nor shares."""
    assert alike(enlarged(world, {"cpu": 10**18 + 9, "mem": 10**18 + 7}), strategies)


def enlarged(world: World, factors: dict[str, int]) -> World:
    """The same world with all amounts multiplied, each resource's by its own factor."""
    cluster, ask = world

    def quota(one: FlavorQuota, by: int) -> FlavorQuota:
        return FlavorQuota(*(None if amount is None else by * amount for amount in msgspec.structs.astuple(one)))

    def queue(one: ClusterQueue | Cohort) -> Any:
        quotas = {of: quota(each, factors.get(of[1], 10**18)) for of, each in one.quotas.items()}
        return msgspec.structs.replace(one, quotas=quotas)

    def workload(one: Workload) -> Workload:
        usage = {of: factors.get(of[1], 10**18) * amount for of, amount in one.usage.items()}
        sets = (
            {name: factors.get(name, 10**18) * amount for name, amount in each.requests.items()}
            for each in one.pod_sets
        )
        pod_sets = (msgspec.structs.replace(each, requests=of) for each, of in zip(one.pod_sets, sets, strict=True))
        return msgspec.structs.replace(one, usage=usage, pod_sets=tuple(pod_sets))

    return msgspec.structs.replace(
        cluster,
        queues={name: queue(one) for name, one in cluster.queues.items()},
        cohorts={name: queue(one) for name, one in cluster.cohorts.items()},
        workloads=tuple(map(workload, cluster.workloads)),
    ), workload(ask)


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


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.jsonl.gz")), ids=lambda path: path.name.split(".")[0])
def test_on_recorded_cases_with_amounts_beyond_64_bits(path: Path) -> None:
    """Nobody recorded these, but both answer the same."""
    for case in some(read(path)):
        cluster, ask, strategies = quota_situation(read_case(json.dumps(case).encode()))
        assert alike(enlarged((cluster, ask), {}), strategies), case["name"]
