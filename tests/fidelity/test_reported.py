"""Public bug reports about preemption, rewritten as cases: what each should come to, whoever was right in them."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from engine.__main__ import main
from engine.cli.decide import answer

FOLDER = Path(__file__).parent / "reported"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
"""File -> case, or case and dialect -> what it comes to."""
CASES = [(file, name) for file, cases in EXPECTED.items() for name in cases]


def case(file: str, name: str) -> tuple[bytes, str | None]:
    """The line of a case, and the dialect that it is to be decided by, if it is not its own."""
    lines = gzip.decompress((FOLDER / f"{file}.gz").read_bytes()).splitlines()
    by_name = [(json.loads(line), line) for line in lines if line.strip()]
    own, _, dialect = name.rpartition(":")
    for one, line in by_name:
        if one["name"] == name:
            return line, None
    found = [line for one, line in by_name if one["name"].partition(":")[0] == own]
    assert found, f"{file} has no case {name}"
    return found[0], dialect


@pytest.mark.parametrize(("file", "name"), CASES)
def test_a_report_comes_to_what_is_right(file: str, name: str) -> None:
    """Its outcome, and the victims and the reason where they are told."""
    expected, (line, dialect) = EXPECTED[file][name], case(file, name)
    found = answer(line, dialect=dialect)
    if expected["outcome"] == "not preempt":
        assert found["outcome"] != "preempt"
        return
    told = {**expected, **({"victims": sorted(expected["victims"])} if "victims" in expected else {})}
    victims = sorted(victim["name"] for victim in found["victims"])
    assert {key: (victims if key == "victims" else found[key]) for key in told} == told


@pytest.mark.parametrize(
    ("objects", "tree", "policy", "victim", "ask"),
    [
        *(
            ("30-fair-share-objects.json", "30-fair-share-no-guarantee.yaml", by, "b/x1-1", "a/ask")
            for by in ("fence", "cohort", "fair-share", "deserved")
        ),
        *(
            ("32-root-guaranteed-objects.json", "32-root-guaranteed.yaml", by, "b/z-1", "a/ask")
            for by in ("fence", "cohort", "fair-share", "deserved")
        ),
        ("33-budget-of-zero-objects.json", "33-budget-of-zero-tree.json", "fence", "ns/b2", "ns/ask"),
    ],
)
def test_a_reported_forecast_makes_the_room_that_is_guaranteed(
    objects: str, tree: str, policy: str, victim: str, ask: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One pod goes, and the ask runs."""
    files = ["--manifests", str(FOLDER / objects), "--tree", str(FOLDER / tree)]
    assert main(["forecast", *files, "--policy", policy]) == 0
    said = capsys.readouterr().out
    assert f"  {ask} (" in said
    assert f"preempted for it: {victim} (" in said
    assert "Preempted pods: 1." in said
