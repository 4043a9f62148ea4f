"""The long suites: what takes many minutes and therefore runs in turn, one with each landing.

``python -m tests.runner.suites`` lists them, ``... soak fuzz`` runs these, ``... all`` runs every one, and ``... next``
prints the one that is due: the number of commits decides.

A test of a long suite alone is marked ``@pytest.mark.suite("soak")``. A test that is small in ``make test`` and large
in a long suite asks ``sized`` how large it is to be.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

VARIABLE = "TEST_SUITE"
"""The environment variable that says which long suite runs; unset in ``make test`` and ``make quick``."""
_BASE = Path(__file__).parents[2]
_PYTEST = ("-m", "pytest")
_OF_WORLDS = (
    "engine",
    "queues",
    "counts/test_counts.py",
    "decisions/test_replay.py",
    "fidelity/test_engine.py",
    "fidelity/test_yunikorn.py",
    "simulator/test_life_day.py",
    "pages/fences/test_fences.py",
    "pages/fences/test_fences_sums.py",
)

Size = TypeVar("Size")


@dataclass(frozen=True)
class Suite:
    """One long suite: what it is for, and what Python is told to run it."""

    purpose: str
    command: tuple[str, ...]
    minutes: int
    """A rough estimate for two idle cores, for whoever waits."""
    builds: bool = False
    """Whether it builds the real programs, as on a machine that has never built them."""


SUITES: Mapping[str, Suite] = {
    "soak": Suite("the product amid faults at random, on both databases", (*_PYTEST, "tests/soak"), 12),
    "contest": Suite(
        "who gets freed room beside the real scheduler, pods and gangs",
        (*_PYTEST, "tests/enforce/test_contest.py", "tests/enforce/gangs"),
        20,
    ),
    "fuzz": Suite("100,000 documents that are nearly right", (*_PYTEST, "tests/fuzz"), 10),
    "requests": Suite(
        "every address by everybody, REST requests at every edge and ten times as many wild ones",
        (*_PYTEST, "tests/grid"),
        15,
    ),
    "worlds": Suite(
        "every small world, and many more examples of each property",
        (*_PYTEST, *(f"tests/{place}" for place in _OF_WORLDS), "--hypothesis-profile=long"),
        30,
    ),
    "preemptions": Suite(
        "10,000 preemptions while the worker dies, and whole installations that grow, shrink and end",
        (*_PYTEST, *(f"tests/e2e/test_{name}.py" for name in ("many_preemptions", "sharing", "demo"))),
        5,
    ),
    "postgres": Suite(
        "every test that uses a database, on PostgreSQL",
        ("-m", "tests.runner.on_postgres"),
        20,
    ),
    "image": Suite(
        "the image, built without a Docker engine; with it every service of Compose, a preemption and an upgrade",
        (*_PYTEST, "tests/image"),
        20,
    ),
    "pythons": Suite(
        "the command line, and tests of the server, on each version of Python that is here",
        (*_PYTEST, "tests/pythons"),
        20,
    ),
    "generators": Suite(
        "clients that code generators make of the OpenAPI document, on a running site",
        (*_PYTEST, "tests/generators"),
        5,
    ),
    "control-plane": Suite(
        "building the real control plane, Helm and actionlint from nothing, and every test on them",
        (*_PYTEST, "-m", "controlplane or helm or actionlint"),
        25,
        builds=True,
    ),
}


BY_HAND: Mapping[str, Suite] = {
    "peers": Suite(
        "beside the real YuniKorn, Kueue and Volcano, built from checkouts in $PEERS_SRC",
        (*_PYTEST, "tests/peers"),
        10,
    ),
}
"""Suites that need what no checkout has, and so run by hand alone: make test-peers."""


def runs(suite: str) -> bool:
    """Tell whether this run of the tests is that of a long suite."""
    return os.environ.get(VARIABLE) == suite


def sized(suite: str, *, usual: Size, long: Size) -> Size:
    """Return how large a test is: ``long`` in its long suite, else ``usual``."""
    return long if runs(suite) else usual


def due(commits: int) -> str:
    """Return the suite that is due after so many commits."""
    return list(SUITES)[commits % len(SUITES)]


def run(name: str, arguments: list[str]) -> int:
    """Run one suite and return its exit code; ``arguments`` go to pytest."""
    suite = {**SUITES, **BY_HAND}[name]
    environment = {**os.environ, VARIABLE: name}
    sys.stdout.write(f"suite {name}: {suite.purpose} (about {suite.minutes} minutes)\n")
    sys.stdout.flush()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="scheduler-admin-cache-") as cache:
        if suite.builds:
            environment["XDG_CACHE_HOME"] = cache
        done = subprocess.run([sys.executable, *suite.command, *arguments], cwd=_BASE, env=environment, check=False)
        if suite.builds:
            shutil.copytree(cache, cache_home(), dirs_exist_ok=True)  # ``make test`` uses them from now on
    minutes = (time.monotonic() - began) / 60
    sys.stdout.write(f"suite {name}: ended with {done.returncode} after {minutes:.1f} minutes\n")
    return done.returncode


def cache_home() -> Path:
    """Return where programs keep what they can make again, as the XDG specification says."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def commits() -> int:
    """Return how many commits lead to what is checked out."""
    command = ["git", "rev-list", "--count", "HEAD"]
    return int(subprocess.run(command, cwd=_BASE, capture_output=True, text=True, check=True).stdout)


def main(arguments: list[str]) -> int:
    """Run what is named; return the first exit code that is not 0."""
    if arguments == ["next"]:
        sys.stdout.write(f"{due(commits())}\n")
        return 0
    names = list(SUITES) if arguments == ["all"] else arguments
    if unknown := [name for name in names if name not in {**SUITES, **BY_HAND}]:
        sys.stderr.write(f"There is no suite {', '.join(unknown)}; there are {', '.join(SUITES)}.\n")
        return 2
    if not names:
        sys.stdout.writelines(f"{name:14} {suite.minutes:3} min  {suite.purpose}\n" for name, suite in SUITES.items())
    codes = [run(name, []) for name in names]
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
