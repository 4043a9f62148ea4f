"""Policies ``cohort`` and ``fair-share`` decide as Kueue does, on its recorded decisions."""

import json
from pathlib import Path

import pytest

from engine.cli import decide as offline
from tests.fidelity.kueue import FOLDER, disagreements
from tests.fidelity.recorded import read


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.jsonl.gz")), ids=lambda path: path.name.split(".")[0])
def test_it_agrees_with_every_recorded_decision(path: Path) -> None:
    """Mode, flavors, how high it borrows, targets with their reasons and order, and the shares before anybody goes."""
    cases = read(path)
    told = {case["name"]: disagreements(case["expect"], offline.answer(json.dumps(case).encode())) for case in cases}
    assert {name: why for name, why in told.items() if why} == {}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.jsonl.gz")), ids=lambda path: path.name.split(".")[0])
def test_the_order_of_what_is_given_does_not_matter(path: Path) -> None:
    """An API server lists its objects in any order."""
    for case in read(path)[::7]:
        backwards = {**case, "objects": case["objects"][::-1]}
        answers = [offline.answer(json.dumps(one).encode()) for one in (case, backwards)]
        assert answers[0] == answers[1], case["name"]
