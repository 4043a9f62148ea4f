"""Groups of pods are decided as kube-scheduler 1.37 does: by its recorded decisions, and by a plain implementation."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given

from engine.cli.decide import answer
from engine.model.objects import SchedulingGroup
from engine.model.snapshot import Snapshot
from engine.policies.priority.groups import decide_group
from tests.engine.group_worlds import worlds
from tests.fidelity import plain_groups
from tests.fidelity.agreement import group_disagreements
from tests.fidelity.recorded import FOLDER, read

RECORDED = FOLDER.parent / "kube-scheduler-1.37"


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.jsonl.gz")), ids=lambda path: path.name.split(".")[0])
def test_it_agrees_with_every_recorded_decision(path: Path) -> None:
    """For groups: outcome, each member's node, victims, violated budgets; for pods: also what would go on each node."""
    cases = read(path)
    assert cases
    told = {}
    for case in cases:
        given_alone = {name: value for name, value in case.items() if name != "expect"}
        told[case["name"]] = group_disagreements(case["expect"], answer(msgspec.json.encode(given_alone)))
    assert {name: why for name, why in told.items() if why} == {}


@given(worlds())
def test_it_decides_as_a_plain_implementation_does(world: tuple[Snapshot, SchedulingGroup]) -> None:
    """With everything that the generator knows: rules between pods, ports, budgets, nominations, both modes."""
    found, plain = decide_group(*world), plain_groups.decide_group(*world)
    victims = [pod for unit in found.victims for pod in unit.pods]
    assert (found.outcome, found.nodes) == (plain.outcome, plain.nodes)
    assert sorted(victims) == sorted(plain.victims)
    assert sum(unit.violations for unit in found.victims) == plain.violations
