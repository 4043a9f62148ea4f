"""Every long suite is run every few landings, and what each is for stands in CONTRIBUTING.md."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runner.selection import APP, APP_TESTED_BY, BASE, FURTHER, TESTED_BY
from tests.runner.suites import BY_HAND, SUITES, VARIABLE, due, main, sized

TEXT = (BASE / "CONTRIBUTING.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading, row by row."""
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_suites_take_turns() -> None:
    """Of so many commits in a row as there are suites, each is due after one."""
    for first in (0, 871):
        assert sorted(due(first + number) for number in range(len(SUITES))) == sorted(SUITES)


def test_the_one_that_is_due_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """It is one of them, and the same for the same commit."""
    assert main(["next"]) == 0
    assert capsys.readouterr().out.strip() in SUITES


def test_what_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything runs."""
    assert main(["soak", "nothing"]) == 2
    assert "no suite nothing" in capsys.readouterr().err


def test_every_suite_is_marked_or_sized_somewhere() -> None:
    """A name that no test knows would run nothing more than make test does."""
    texts = [path.read_text(encoding="utf-8") for path in (BASE / "tests").rglob("*.py")]
    known = {name for text in texts for name in re.findall(r"(?:mark\.suite|sized)\(\s*\"([\w-]+)\"", text)}
    own = {name for name, suite in SUITES.items() if suite.builds or "tests.runner.on_postgres" in suite.command}
    assert known | own >= set(SUITES)
    assert known <= {*SUITES, *BY_HAND}


def test_every_file_that_a_suite_names_exists() -> None:
    """pytest would run nothing at all if one did not."""
    named = [part for suite in (SUITES | BY_HAND).values() for part in suite.command if part.startswith("tests/")]
    assert named
    assert [part for part in named if not (BASE / part).exists()] == []


def test_a_suite_runs_every_test_that_it_makes_larger() -> None:
    """It would stay as small as in make test otherwise."""
    for name, suite in SUITES.items():
        places = [BASE / part for part in suite.command if part.startswith("tests/")]
        sized_by_it = re.compile(rf"sized\(\s*\"{name}\"")
        for path in (BASE / "tests").rglob("test_*.py") if places else ():
            if path != Path(__file__) and sized_by_it.search(path.read_text(encoding="utf-8")):
                assert any(path.is_relative_to(place) for place in places), f"{name} does not run {path}"


def test_a_test_is_as_large_as_its_suite_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small in all others."""
    monkeypatch.delenv(VARIABLE, raising=False)
    assert sized("fuzz", usual=1, long=2) == 1
    monkeypatch.setenv(VARIABLE, "fuzz")
    assert sized("fuzz", usual=1, long=2) == 2
    assert sized("soak", usual=1, long=2) == 1


def test_tests_of_a_suite_alone_are_left_out_elsewhere(tmp_path: Path) -> None:
    """And are run in it."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/soak/test_soak.py"]
    for suite, wanted in (("", False), ("soak", True), ("fuzz", False)):
        environment = {"PATH": str(tmp_path), VARIABLE: suite}
        done = subprocess.run(command, cwd=BASE, env=environment, capture_output=True, text=True, check=False)
        assert ("faults_at_random" in done.stdout) is wanted, done.stdout + done.stderr


def test_the_table_of_suites_is_complete() -> None:
    """With the name of each, in their order."""
    assert [cells[0].strip("`") for cells in rows("The long suites")] == list(SUITES)


def test_the_map_of_directories_is_that_of_quick() -> None:
    """Row by row."""
    found = {
        tuple(re.findall(r"`([^`]+)`", cells[0])): tuple(re.findall(r"`([^`]+)`", cells[1]))
        for cells in rows("Which tests look at what")
    }
    apps = {f"scheduler_admin/{app}/": tests for app, tests in FURTHER.items()}
    others = {area: tests for area, tests in TESTED_BY.items() if not area.startswith("scheduler_admin/")}
    assert found == {(area,): tests for area, tests in {APP: APP_TESTED_BY, **apps, **others}.items()}
