"""A change runs the tests that it can break, the nearest first, and says how many it left out."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.runner import quick
from tests.runner.selection import BASE, PACKAGES, TESTED_BY, nearest


def test_every_folder_of_the_map_is_there() -> None:
    """One that was renamed would select nothing."""
    places = {*TESTED_BY, *(place for places in TESTED_BY.values() for place in places)}
    assert [place for place in places if not (BASE / place).exists()] == []


def test_every_source_has_tests_in_the_map() -> None:
    """A new app or package is put into the map."""
    sources = [
        str(path.relative_to(BASE))
        for package in PACKAGES[:-1]
        for path in (BASE / package).rglob("*.py")
        if path.parent != BASE / "scheduler_admin"
    ]
    assert [name for name in sources if not any(name.startswith(area) for area in TESTED_BY)] == []


@pytest.mark.parametrize(
    ("changed", "test", "distance"),
    [
        ("tests/queues/test_copying.py", "tests/queues/test_copying.py", 0),
        ("engine/analysis/optimum/__init__.py", "tests/engine/test_optimal.py", 1),
        ("tests/worker/conftest.py", "tests/usage/test_usage.py", 2),
        ("tests/builders.py", "tests/engine/test_optimal.py", 1),
        ("templates/queues/queues.html", "tests/pages/queues/test_queues.py", 2),
        ("locale/zh_Hans/LC_MESSAGES/django.po", "tests/test_catalogues.py", 2),
        ("tests/simulator/life.py", "tests/simulator/test_life_pods.py", 1),
    ],
)
def test_a_change_reaches_the_tests_that_look_at_it(changed: str, test: str, distance: int) -> None:
    """By its own imports, by a fixture, by a template: the fewer steps the nearer."""
    assert (BASE / changed).exists()
    assert nearest([changed])[test] == distance


def test_what_nothing_looks_at_reaches_nothing() -> None:
    """No test is run for it."""
    assert nearest(["LICENSE"]) == {}


@pytest.mark.parametrize(
    ("distances", "took_s", "want"),
    [
        ({"far": 2, "near": 1, "own": 0}, {}, ["own", "near", "far"]),
        ({"slow": 1, "fast": 1}, {"slow": 20.0, "fast": 2.0}, ["fast", "slow"]),
        ({"slow": 1, "fast": 1}, {"slow": 29.0, "fast": 2.0}, ["fast"]),
        ({"own": 0, "near": 1}, {"own": 100.0}, ["own"]),
        ({"first": 0, "second": 0}, {"first": 100.0, "second": 200.0}, ["first", "second"]),
    ],
)
def test_tests_are_chosen_until_the_time_is_used_up(
    distances: Mapping[str, int], took_s: Mapping[str, float], want: list[str]
) -> None:
    """The nearest, then the fastest; what has changed itself is always run."""
    assert quick.chosen(distances, took_s) == want


def test_what_is_not_committed_is_the_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New files too; where all is committed, the last commit is."""
    monkeypatch.setattr(quick, "BASE", tmp_path)
    for command in (["init", "-q"], ["config", "user.email", "a@example.com"], ["config", "user.name", "A"]):
        quick._git(*command)
    for name in ("first", "second"):
        (tmp_path / name).write_text(name)
        quick._git("add", name)
        quick._git("commit", "-qm", name)
    assert quick.changed() == ["second"]
    (tmp_path / "first").write_text("changed")
    (tmp_path / "third").write_text("new")
    assert quick.changed() == ["first", "third"]
    assert quick.changed("HEAD~1") == ["first", "second", "third"]


def test_quick_checks_what_make_lint_checks() -> None:
    """What passes before a commit passes in CI; a commit runs it by the hook."""
    recipes = (BASE / "Makefile").read_text(encoding="utf-8").split("\nlint:")[1].split("\n\n.PHONY: fuzz")[0]
    quickly = " ".join(" ".join(command) for _, command in quick.commands([]))
    django = ("djade --check --target-version 5.2", "djlint --lint", "makemigrations --check --dry-run")
    for tool in ("ruff check", "ruff format", "mypy", "lint-imports", *django):
        assert tool in recipes, tool
        assert tool in quickly, tool
    hooks = yaml.safe_load((BASE / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    assert [hook["entry"] for hook in hooks] == ["make quick"]
