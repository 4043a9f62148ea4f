"""Wild cases: the same seed gives the same, they are mixed, and the scheduler does everything with them that it can."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.fidelity.generate import case, cases
from tests.fidelity.recorder import refused
from tests.fidelity.volumes import KINDS
from tests.fidelity.world import FEATURES

Manifest = dict[str, Any]
COUNT = 300


@pytest.fixture(scope="module")
def wild() -> list[Manifest]:
    return list(cases(1, COUNT))


def test_the_same_seed_gives_the_same_cases(wild: list[Manifest]) -> None:
    assert list(cases(1, 5)) == wild[:5]
    assert case(1, 42) == wild[42]
    assert case(2, 42) != wild[42] | {"name": "wild/2-42"}


def test_every_feature_occurs_and_several_in_one_case(wild: list[Manifest]) -> None:
    tags = [set(made["tags"]) for made in wild]
    assert set().union(*tags) == {*FEATURES, "mid-size", *(f"volumes-{kind}" for kind in KINDS)}
    assert sum(len(had) >= 8 for had in tags) > COUNT // 3


def test_every_object_has_a_name_of_its_own(wild: list[Manifest]) -> None:
    for made in wild:
        names = Counter((o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]) for o in made["objects"])
        assert names.most_common(1)[0][1] == 1, made["name"]
        assert len({o["metadata"]["uid"] for o in made["objects"]}) == len(made["objects"])


@pytest.mark.controlplane
def test_an_api_server_would_admit_every_object(wild: list[Manifest], record: object) -> None:
    assert [wrong for wrong in refused(wild) if wrong] == []


@pytest.mark.controlplane
def test_the_scheduler_decides_them_all_and_in_every_way(
    wild: list[Manifest], record: Callable[..., list[Manifest]]
) -> None:
    outcomes = Counter(answer["outcome"] for answer in record(wild))
    assert set(outcomes) == {"fits", "preempt", "no-candidate", "not-eligible"}
    assert outcomes["preempt"] > COUNT // 3
    assert min(outcomes.values()) >= COUNT // 50


@pytest.mark.controlplane
def test_it_decides_the_same_a_second_time(wild: list[Manifest], record: Callable[..., list[Manifest]]) -> None:
    assert record(wild[:100]) == record(wild[:100])
