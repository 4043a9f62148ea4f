"""The dialect ``yunikorn`` decides as YuniKorn does, on its recorded decisions."""

import json
from pathlib import Path

import pytest

from engine.audit import audit, failed_checks
from engine.cli import decide as offline
from engine.cli.cases import read_case, situation
from engine.policies.yunikorn import decide, effects
from tests.fidelity.recorded import read, some
from tests.fidelity.yunikorn import FOLDER, disagreements


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.jsonl.gz")), ids=lambda path: path.name.split(".")[0])
def test_it_agrees_with_every_recorded_decision(path: Path) -> None:
    """Outcome, node, victims, and what of every queue may be preempted and is left of its guarantee."""
    cases = read(path)
    told = {case["name"]: disagreements(case["expect"], offline.answer(json.dumps(case).encode())) for case in cases}
    assert {name: why for name, why in told.items() if why} == {}


def test_what_breaks_a_law_of_the_design_has_a_departure_to_blame() -> None:
    """One that the decision would have been another without, for each of the recorded ones."""
    unexplained, breaking = [], 0
    recorded = (case for path in sorted(FOLDER.glob("*.jsonl.gz")) for case in read(path) if case["asker"])
    for case in some(recorded):
        at = situation(read_case(json.dumps(case).encode()))
        decision = decide(at.snapshot, at.tree, at.ask)
        if failed_checks(audit(at.snapshot, at.tree, decision)):
            breaking += 1
            unexplained += [] if effects(at.snapshot, at.tree, at.ask, decision) else [case["name"]]
    assert unexplained == []
    assert breaking > 20
