"""The dialect ``yunikorn`` decides as YuniKorn does, on its recorded decisions."""

import json
from pathlib import Path

import pytest

from engine import offline
from tests.fidelity.recorded import read
from tests.fidelity.yunikorn import FOLDER, disagreements


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.jsonl.gz")), ids=lambda path: path.name.split(".")[0])
def test_it_agrees_with_every_recorded_decision(path: Path) -> None:
    """Outcome, node, victims, and what of every queue may be preempted and is left of its guarantee."""
    cases = read(path)
    told = {case["name"]: disagreements(case["expect"], offline.answer(json.dumps(case).encode())) for case in cases}
    assert {name: why for name, why in told.items() if why} == {}
