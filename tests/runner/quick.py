"""``make quick``: what a change can break, nearest tests first, as many as fit into half a minute.

The change is whatever is not committed; where all is, the last commit. ``python -m tests.runner.quick REV`` takes all
changes since a revision. Tests that start processes, browsers and control planes are left to ``make test``.
"""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.runner import timings
from tests.runner.selection import BASE, nearest

BUDGET_S = 30.0
"""Of tests, as the last run of ``make test`` measured them."""
UNKNOWN_S = 1.0
"""A file that no run has measured yet is taken to need so much."""
SHARE = 0.3
"""Of the time of a test that remains with a tenth of the examples, and a database that is there."""
IDLE_S = 4 * 3600
"""The type checker's daemon ends when nobody has asked it for so long."""
MARKS = "not controlplane and not helm and not actionlint and not browser and not e2e"
PROCESSES = ("tests/browser/", "tests/e2e/", "tests/enforce/", "tests/faults/", "tests/fidelity/", "tests/soak/")


def changed(since: str = "") -> list[str]:
    """Return the files that differ from a revision, new ones included; from the last commit's parent if none does."""
    found = _git("diff", "--name-only", since or "HEAD") | _git("ls-files", "--others", "--exclude-standard")
    return sorted(found or _git("diff", "--name-only", "HEAD~1"))


def _git(*arguments: str) -> set[str]:
    done = subprocess.run(["git", *arguments], cwd=BASE, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines())


def chosen(distances: Mapping[str, int], took_s: Mapping[str, float]) -> list[str]:
    """Return the files to run: the nearest, and of equally near ones the fastest, until the budget is used up.

    What has changed itself is always among them.
    """
    found, spent = [], 0.0
    for name, distance in sorted(distances.items(), key=lambda each: (each[1], took_s.get(each[0], UNKNOWN_S))):
        spent += took_s.get(name, UNKNOWN_S)
        if distance and spent > BUDGET_S:
            break
        found.append(name)
    return found


def measured() -> dict[str, float]:
    """Return file -> seconds that its tests took when all were run."""
    found: dict[str, float] = {}
    for process in timings.read(BASE / timings.FOLDER):
        for test, phases in process.tests.items():
            file = test.split("::")[0]
            found[file] = found.get(file, 0.0) + timings.total_s(phases) * SHARE
    return found


def commands(tests: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield what is run beside each other, by name."""
    python, tools = sys.executable, Path(sys.executable).parent
    yield "style", ["sh", "-c", f"{tools}/ruff check --quiet && {tools}/ruff format --quiet --check"]
    templates = [str(path) for path in Path("templates").rglob("*.*") if path.suffix != ".yml"]
    yield "templates", [f"{tools}/djade", "--check", "--target-version", "5.2", *templates]
    yield "mark-up", [f"{tools}/djlint", "--lint", "--quiet", "templates"]
    yield "types", [f"{tools}/dmypy", "run", "--timeout", str(IDLE_S)]
    yield "layers", [f"{tools}/lint-imports"]
    yield "migrations", [python, "manage.py", "makemigrations", "--check", "--dry-run"]
    if tests:
        options = ["-q", "--hypothesis-profile=quick", "-m", MARKS, "-p", "no:cacheprovider"]
        yield "tests", [python, "-m", "pytest", *options, *tests]


def main(arguments: list[str]) -> int:
    """Run all of it and show what failed; return 1 where anything has."""
    began = time.monotonic()
    files = changed(*arguments)
    reached = {name: far for name, far in nearest(files).items() if not name.startswith(PROCESSES)}
    tests = chosen(reached, measured())
    sys.stdout.write(f"{len(files)} files changed; {len(tests)} of {len(reached)} test files that they can break\n")
    sys.stdout.flush()
    failed = False
    with ThreadPoolExecutor() as pool:
        runs = {name: pool.submit(_run, command) for name, command in commands(tests)}
        for name, run in runs.items():
            done, took_s = run.result()
            ok = done.returncode in ((0, 5) if name == "tests" else (0,))
            failed |= not ok
            sys.stdout.write(f"{name:10} {'ok' if ok else 'FAILED':7} {took_s:5.1f} s\n")
            if not ok:
                sys.stdout.write(done.stdout)
            sys.stdout.flush()
    sys.stdout.write(f"{time.monotonic() - began:.0f} s; the rest runs in make test\n")
    return int(failed)


def _run(command: list[str]) -> tuple[subprocess.CompletedProcess[str], float]:
    began = time.monotonic()
    done = subprocess.run(command, cwd=BASE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done, time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
