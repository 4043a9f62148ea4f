"""`python -m tests.parts`: every test, in four processes beside each other, as a machine has two cores at least.

One waits most of the time, for processes, watches and leases, and comes first where it does not; two others work
things out, and one of them would leave a core idle. The last is the soak: some minutes of faults, mostly waiting.
What is given is given to all: ``python -m tests.parts -k lint``.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from pathlib import Path


def _folders(names: str) -> list[str]:
    return [f"tests/{name}" for name in names.split()]


WAITING = _folders("simulator cluster faults e2e enforce fidelity")
"""Folders of tests that start servers and processes, and wait for them."""
SITE = _folders("browser grid web client doors")
"""Folders of tests that ask for pages and addresses, about half of the work that is left."""
SOAK = _folders("soak")
"""The product amid faults at random; waiting for them all would take the first part some minutes more."""
_BEHIND = ["nice", "-n", "5"]
"""What waits for a lease or a deadline has a core when it wants one."""
_CACHES = (".pytest_cache", ".pytest_cache/site", ".pytest_cache/rest", ".pytest_cache/soak")
NOTHING_THERE = 5
"""What pytest ends with where no test was wanted."""


def main(arguments: list[str]) -> int:
    """Run all; for the exit code see ``verdict``."""
    code = run(parts(), arguments)
    sys.stdout.buffer.writelines(f"failed: {name}\n".encode() for name in failures())
    return code


def run(parts: list[list[str]], arguments: list[str]) -> int:
    """Run each beside the others; what the others say comes after the first."""
    first, *others = ([sys.executable, "-m", "pytest", *arguments, *told] for told in parts)
    with ExitStack() as files:
        said = [files.enter_context(tempfile.TemporaryFile()) for _ in others]
        beside = [
            subprocess.Popen([*_BEHIND, *other], stdout=file, stderr=subprocess.STDOUT)
            for other, file in zip(others, said, strict=True)
        ]
        codes = [subprocess.run(first, check=False).returncode, *(other.wait() for other in beside)]
        for file in said:
            file.seek(0)
            shutil.copyfileobj(file, sys.stdout.buffer)
    return verdict(codes)


def parts() -> list[list[str]]:
    """What pytest is told for each; the third has whatever is in no other. Each remembers its own failures."""
    rest = [f"--ignore={folder}" for folder in (*WAITING, *SITE, *SOAK)]
    return [
        [*told, "-o", f"cache_dir={cache}"] for told, cache in zip((WAITING, SITE, rest, SOAK), _CACHES, strict=True)
    ]


def failures(root: Path = Path()) -> Iterator[str]:
    """The tests of all parts that failed last: what stands last of all is what is looked at first."""
    for cache in _CACHES:
        file = root / cache / "v/cache/lastfailed"
        if file.exists():
            yield from sorted(json.loads(file.read_text()))


def verdict(codes: Collection[int]) -> int:
    """The exit code of all: a failure of any; success if one has succeeded and the others had nothing to do."""
    failed = next((code for code in codes if code not in {0, NOTHING_THERE}), 0)
    return failed or (NOTHING_THERE if set(codes) == {NOTHING_THERE} else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
