"""What the suite of benchmarks tells of its figures, and of the runs that are kept."""

import json
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import pytest

from benchmarks import suite


def run(scale: float = 1.0, **measures: tuple[float, float, float]) -> suite.Run:
    """As it is kept."""
    return {"scale": scale, "measures": measures}


def test_a_row_with_runs_is_one_measure_and_any_other_is_one_for_each_number() -> None:
    """The name says which benchmark, of what, and the unit."""
    rows: list[Any] = [
        {"scenario": "fence/Y", "median_ms": 2, "min_ms": 1, "max_ms": 3, "runs": 5},
        {"act": "move", "clock_ms": 90, "server_cpu_ms": 30, "runs": 5},
        {"migration": "an index", "seconds": 4, "locks": "of another run others"},
    ]
    assert suite.measured("decide x1", rows) == {
        "decide x1 fence/Y, ms": (1.0, 2.0, 3.0),
        "decide x1 move, clock_ms": (90.0, 90.0, 90.0),
        "decide x1 move, server_cpu_ms": (30.0, 30.0, 30.0),
        "decide x1 an index, seconds": (4.0, 4.0, 4.0),
    }


def test_growth_is_the_power_of_the_size() -> None:
    """Ten times the time at ten times the size is 1, nine times at three times the size 2."""
    times = {"0.1": (1, 1, 1), "1": (9, 10, 11), "3": (90, 90, 90)}
    found = suite.growth({f"decide x{size} fence/Y, ms": time for size, time in times.items()}, scale=1)
    assert {name: power for name, (power, _, _) in found.items()} == {
        "growth x0.1-1 fence/Y, power": 1.0,
        "growth x1-3 fence/Y, power": 2.0,
    }


def test_a_measure_stands_beside_the_range_of_the_runs_that_are_kept() -> None:
    """From the quickest run of any to the slowest; what none of them has stands alone."""
    known = suite.ranges([run(a=(1, 2, 3)), run(a=(2, 3, 5), b=(1, 1, 1))])
    assert known == {"a": (1, 5), "b": (1, 1)}
    lines = [line.split(maxsplit=2) for line in suite.told({"a": (6, 6, 7), "b": (1, 1, 1), "c": (4, 4, 4)}, known)]
    assert lines == [["a", "6", "1 to 5 above"], ["b", "1", "1 to 1"], ["c", "4"]]


def test_a_part_that_fails_is_named_and_takes_nothing_from_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole takes half an hour."""

    def rows(arguments: list[str]) -> list[Any]:
        if arguments[0] == "store":
            raise CalledProcessError(1, arguments)
        return [{"what": arguments[0], "seconds": 2}]

    monkeypatch.setattr(suite, "_rows", rows)
    *_, before, last = suite.run(0.1, ["memory", "store", "edit"])
    assert last["failed"] == ["store", "store on PostgreSQL"]
    assert before["measures"] == {"memory, seconds": (2.0,) * 3}
    assert last["measures"] == before["measures"] | {"edit, seconds": (2.0,) * 3}


def test_only_runs_of_the_same_size_are_compared(tmp_path: Path) -> None:
    """A tenth of the pods says nothing of all of them."""
    for number, scale in enumerate((1.0, 0.1)):
        (tmp_path / f"{number}.json").write_text(json.dumps(run(scale, a=(1, 1, 1))))
    assert [one["scale"] for one in suite.kept(0.1, tmp_path)] == [0.1]


def test_every_run_that_is_kept_says_where_it_comes_from() -> None:
    """Its machine, versions, seed and size."""
    files = list(suite.KEPT.glob("*.json"))
    assert files
    for file in files:
        found = json.loads(file.read_text())
        assert found["measures"]
        assert {"at", "machine", "versions", "seed", "scale"} <= found.keys()
