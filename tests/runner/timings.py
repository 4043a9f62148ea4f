"""A pytest plugin that records what tests, fixtures and collection take, and a report of the slowest.

``python -m tests.runner.timings`` prints the report of the last run of ``make test``.
"""

import json
import os
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(".pytest_cache/timings")
MOST = 20
DATABASE = "django_db_setup"
_WAIT_SHARE = 0.5
"""A phase that used less of a core than this waited for others: for processes, watches, deadlines."""


@dataclass
class Timings:
    """What one process of tests took, in seconds."""

    collection_s: float = 0.0
    started: int = 0
    """How many processes the tests started."""
    tests: dict[str, dict[str, float]] = field(default_factory=dict)
    """Node id -> ``setup``, ``call`` and ``teardown`` by the clock, ``cpu`` of the process itself, and ``children``:
    that of the processes it started, noted for the test in which they ended."""
    fixtures: dict[str, float] = field(default_factory=dict)
    """Name and place of a fixture -> what all of its setups took by the clock."""


class Recorder:
    """Takes the times of one process and writes them to a file when it ends."""

    def __init__(self, file: Path) -> None:
        self._file, self._began, self.timings = file, time.perf_counter(), Timings()
        sys.addaudithook(self._count)

    def _count(self, event: str, _arguments: Any) -> None:
        self.timings.started += event == "subprocess.Popen"

    def pytest_collection_finish(self) -> None:
        """Note how long it took until the first test."""
        self.timings.collection_s = time.perf_counter() - self._began

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Take the time of a fixture, without that of the fixtures that it needs."""
        began = time.perf_counter()
        try:
            return (yield)
        finally:
            name = f"{fixturedef.argname} ({fixturedef.baseid or 'pytest'})"
            took = time.perf_counter() - began
            self.timings.fixtures[name] = self.timings.fixtures.get(name, 0.0) + took

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Take the time that the process itself works for a test, and those that it started."""
        began, children_s = os.times(), _children_s()
        try:
            return (yield)
        finally:
            ended = os.times()
            self._of(item.nodeid)["cpu"] = ended.user + ended.system - began.user - began.system
            self._of(item.nodeid)["children"] = _children_s() - children_s

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what a phase of a test took."""
        self._of(report.nodeid)[report.when or "call"] = report.duration

    def pytest_sessionfinish(self) -> None:
        """Write all of it."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(asdict(self.timings)))

    def _of(self, test: str) -> dict[str, float]:
        return self.timings.tests.setdefault(test, dict.fromkeys(("setup", "call", "teardown", "cpu", "children"), 0.0))


def _children_s() -> float:
    """Return how long processes that have ended worked, in seconds; ``os.times`` counts them in hundredths."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the runner say where to write."""
    parser.addoption("--timings", type=Path, metavar="FILE", help="write what tests and fixtures take, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Record where that is wanted."""
    if (file := config.getoption("--timings")) is not None:
        config.pluginmanager.register(Recorder(file))


def read(folder: Path = FOLDER) -> list[Timings]:
    """Return what each process of the last run took."""
    return [Timings(**json.loads(file.read_text())) for file in sorted(folder.glob("*.json"))]


def total_s(phases: Mapping[str, float]) -> float:
    """Return what a test takes by the clock, with its setup and teardown."""
    return phases["setup"] + phases["call"] + phases["teardown"]


def report(processes: list[Timings]) -> Iterator[str]:
    """Yield the lines of a report: totals, then the slowest tests, files and fixtures."""
    tests = {name: phases for one in processes for name, phases in one.tests.items()}
    fixtures: dict[str, float] = defaultdict(float)
    files: dict[str, float] = defaultdict(float)
    for one in processes:
        for name, took in one.fixtures.items():
            fixtures[name] += took
    for name, phases in tests.items():
        files[name.split("::")[0]] += total_s(phases)
    started = sum(one.started for one in processes)
    yield f"{len(tests)} tests in {len(processes)} processes, which started {started} others"
    yield from _totals(processes, tests, fixtures)
    slowest = {name: total_s(phases) for name, phases in tests.items()}
    for heading, found in (("tests", slowest), ("files", files), ("fixtures", fixtures)):
        yield f"the slowest {heading}:"
        yield from (f"{took:8.1f} s  {name}" for name, took in sorted(found.items(), key=lambda each: -each[1])[:MOST])


def _totals(
    processes: list[Timings], tests: Mapping[str, Mapping[str, float]], fixtures: Mapping[str, float]
) -> Iterator[str]:
    waited = sum(
        total_s(phases) - phases["cpu"] for phases in tests.values() if phases["cpu"] < _WAIT_SHARE * total_s(phases)
    )
    totals = {
        "collection": sum(one.collection_s for one in processes),
        **{phase: sum(phases[phase] for phases in tests.values()) for phase in ("setup", "call", "teardown")},
        "of it databases": sum(took for name, took in fixtures.items() if name.startswith(DATABASE)),
        "of it the tests' own work": sum(phases["cpu"] for phases in tests.values()),
        "beside it, work of the processes they started": sum(phases["children"] for phases in tests.values()),
        "of it waiting for others": waited,
    }
    yield from (f"{took:8.1f} s  {name}" for name, took in totals.items())


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in report(read()))
