"""`python -m tests.halves`: every test, in two processes beside each other, as a machine has two cores at least.

One half waits most of the time, for processes, watches and leases; the other one works things out. What is given is
given to both: ``python -m tests.halves -k lint``.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

WAITING = [f"tests/{folder}" for folder in ("simulator", "cluster", "faults", "e2e", "enforce", "fidelity")]
"""Folders of tests that start servers and processes, and wait for them. All other folders are of the other half."""
_CACHES = (".pytest_cache", ".pytest_cache/working")
NOTHING_THERE = 5
"""What pytest ends with where no test was wanted."""


def main(arguments: list[str]) -> int:
    """Run both; what the working half says comes after the other one. For the exit code see ``verdict``."""
    waiting, working = halves()
    command = [sys.executable, "-m", "pytest", *arguments]
    with tempfile.TemporaryFile() as told:
        beside = subprocess.Popen([*command, *working], stdout=told, stderr=subprocess.STDOUT)
        codes = [subprocess.run([*command, *waiting], check=False).returncode, beside.wait()]
        told.seek(0)
        shutil.copyfileobj(told, sys.stdout.buffer)
    sys.stdout.buffer.writelines(f"failed: {name}\n".encode() for name in failures())
    return verdict(codes)


def halves() -> tuple[list[str], list[str]]:
    """What pytest is told for each; whatever is not of the one is of the other. Each remembers its own failures."""
    return WAITING, [*(f"--ignore={folder}" for folder in WAITING), "-o", f"cache_dir={_CACHES[1]}"]


def failures(root: Path = Path()) -> Iterator[str]:
    """The tests of both halves that failed last: what stands last of all is what is looked at first."""
    for cache in _CACHES:
        file = root / cache / "v/cache/lastfailed"
        if file.exists():
            yield from sorted(json.loads(file.read_text()))


def verdict(codes: Collection[int]) -> int:
    """The exit code of both: a failure of either; success if one has succeeded and the other had nothing to do."""
    failed = next((code for code in codes if code not in {0, NOTHING_THERE}), 0)
    return failed or (NOTHING_THERE if set(codes) == {NOTHING_THERE} else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
