"""`make test` runs every test once, whichever half it is in, and fails as either half does."""

import json
from pathlib import Path

import pytest

from tests.halves import NOTHING_THERE, WAITING, failures, halves, verdict

BASE = Path(__file__).parents[2]


def test_what_is_not_in_one_half_is_in_the_other() -> None:
    """Folders that are there: one that was renamed would be in neither."""
    waiting, working = halves()
    assert [folder for folder in WAITING if not (BASE / folder).is_dir()] == []
    assert [f"--ignore={folder}" for folder in waiting] == [told for told in working if told.startswith("--ignore")]


@pytest.mark.parametrize(
    ("codes", "want"),
    [
        ([0, 0], 0),
        ([0, 1], 1),
        ([1, 0], 1),
        ([-9, 0], -9),
        ([0, NOTHING_THERE], 0),
        ([NOTHING_THERE, 2], 2),
        ([NOTHING_THERE, NOTHING_THERE], NOTHING_THERE),
    ],
)
def test_a_failure_of_either_is_a_failure(codes: list[int], want: int) -> None:
    """A half in which nothing is wanted is none."""
    assert verdict(codes) == want


def test_the_failures_of_both_are_named_last(tmp_path: Path) -> None:
    """Whoever reads the end of a long log finds what to look at."""
    for cache, name in ((".pytest_cache", "tests/a.py::one"), (".pytest_cache/working", "tests/b.py::two")):
        folder = tmp_path / cache / "v/cache"
        folder.mkdir(parents=True)
        (folder / "lastfailed").write_text(json.dumps({name: True}))
    assert list(failures(tmp_path)) == ["tests/a.py::one", "tests/b.py::two"]
    assert list(failures(tmp_path / "elsewhere")) == []
