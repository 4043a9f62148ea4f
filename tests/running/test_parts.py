"""`make test` runs every test once, whichever part it is in, and fails as any part does."""

import json
from pathlib import Path

import pytest

from tests.parts import NOTHING_THERE, SITE, SOAK, WAITING, failures, parts, verdict

BASE = Path(__file__).parents[2]


def test_what_is_in_no_other_part_is_in_one_of_its_own() -> None:
    """Folders that are there: one that was renamed would be in none. None is in two."""
    named = [*WAITING, *SITE, *SOAK]
    assert [folder for folder in named if not (BASE / folder).is_dir()] == []
    assert len(set(named)) == len(named)
    waiting, site, rest, soak = ([told for told in part if "tests/" in told] for part in parts())
    assert [*waiting, *site, *soak] == named
    assert rest == [f"--ignore={folder}" for folder in named]


@pytest.mark.parametrize(
    ("codes", "want"),
    [
        ([0, 0, 0], 0),
        ([0, 1, 0], 1),
        ([1, 0, 0], 1),
        ([0, 0, -9], -9),
        ([0, NOTHING_THERE, 0], 0),
        ([NOTHING_THERE, 0, 2], 2),
        ([NOTHING_THERE, NOTHING_THERE, NOTHING_THERE], NOTHING_THERE),
    ],
)
def test_a_failure_of_any_is_a_failure(codes: list[int], want: int) -> None:
    """A part in which nothing is wanted is none."""
    assert verdict(codes) == want


def test_the_failures_of_all_are_named_last(tmp_path: Path) -> None:
    """Whoever reads the end of a long log finds what to look at."""
    caches = (".pytest_cache", ".pytest_cache/site", ".pytest_cache/rest", ".pytest_cache/soak")
    for cache, name in zip(
        caches, ("tests/a.py::one", "tests/b.py::two", "tests/c.py::three", "tests/d.py::four"), strict=True
    ):
        folder = tmp_path / cache / "v/cache"
        folder.mkdir(parents=True)
        (folder / "lastfailed").write_text(json.dumps({name: True}))
    assert list(failures(tmp_path)) == ["tests/a.py::one", "tests/b.py::two", "tests/c.py::three", "tests/d.py::four"]
    assert list(failures(tmp_path / "elsewhere")) == []
