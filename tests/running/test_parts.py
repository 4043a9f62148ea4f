"""`make test` runs every test once, whichever part it is in, and fails as any part does."""

import json
from pathlib import Path

import pytest

from tests.runner.parts import NOTHING_THERE, PARTS, failures, parts, verdict
from tests.runner.selection import BASE


def test_what_is_in_no_other_part_is_in_one_of_its_own() -> None:
    """Folders that are there: one that was renamed would be in none. None is in two."""
    named = [folder for folders in PARTS.values() for folder in folders]
    assert [folder for folder in named if not (BASE / folder).is_dir()] == []
    assert len(set(named)) == len(named)
    assert [name for name, folders in PARTS.items() if not folders] == ["rest"]
    places = {
        name: [option for option in options if option.startswith(("tests/", "--ignore"))]
        for name, options in parts().items()
    }
    assert places.pop("rest") == [f"--ignore={folder}" for folder in named]
    assert places == {name: list(folders) for name, folders in PARTS.items() if folders}


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
    for number, part in enumerate(PARTS):
        folder = tmp_path / part / "v/cache"
        folder.mkdir(parents=True)
        (folder / "lastfailed").write_text(json.dumps({f"tests/test_{number}.py::one": True}))
    assert list(failures(tmp_path)) == [f"tests/test_{number}.py::one" for number in range(len(PARTS))]
    assert list(failures(tmp_path / "elsewhere")) == []
