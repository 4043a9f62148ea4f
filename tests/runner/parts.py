"""``make test``: every test but the long suites, in eight processes beside each other, as a machine has two cores.

Three processes wait most of the time, for servers, watches and leases, and come first where they do not; the others
work. ``python -m tests.runner.parts -k lint`` gives the option to all of them.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from tests.runner import timings


def _folders(names: str) -> tuple[str, ...]:
    return tuple(f"tests/{name}" for name in names.split())


PARTS: Mapping[str, tuple[str, ...]] = {
    "waiting": _folders("cluster copies simulator"),
    "installations": _folders("e2e faults"),
    "enforcement": _folders("deploy enforce"),
    "browser": _folders("browser"),
    "pages": _folders("api client doors web"),
    "addresses": _folders("grid"),
    "decisions": _folders("engine fidelity fuzz"),
    "rest": (),
}
"""Name -> folders. The first three start servers and processes and wait for them; the last has what is in no other."""
WORKING = ("browser", "pages", "addresses", "decisions", "rest")
CACHE = Path(".pytest_cache")
_BEHIND = ("nice", "-n", "5")
"""What waits for a lease or a deadline has a core when it wants one."""
NOTHING_THERE = 5
"""What pytest ends with where no test was wanted."""


def main(arguments: list[str]) -> int:
    """Run all parts and print what took how long and what failed; for the exit code see ``verdict``."""
    shutil.rmtree(timings.FOLDER, ignore_errors=True)
    code = run(parts(), arguments)
    _print(timings.report(timings.read()))
    _print(f"failed: {name}" for name in failures())
    return code


def run(parts: Mapping[str, list[str]], arguments: list[str]) -> int:
    """Run each part beside the others; the output of the others comes after that of the first."""
    first, *others = (
        [*(_BEHIND if name in WORKING else ()), sys.executable, "-m", "pytest", *arguments, *options]
        for name, options in parts.items()
    )
    with ExitStack() as files:
        outputs = [files.enter_context(tempfile.TemporaryFile()) for _ in others]
        beside = [
            subprocess.Popen(other, stdout=output, stderr=subprocess.STDOUT)
            for other, output in zip(others, outputs, strict=True)
        ]
        codes = [subprocess.run(first, check=False).returncode, *(other.wait() for other in beside)]
        for output in outputs:
            output.seek(0)
            shutil.copyfileobj(output, sys.stdout.buffer)
        sys.stdout.flush()
    return verdict(codes)


def parts() -> dict[str, list[str]]:
    """Return what pytest is told for each part. Each remembers its own failures and times."""
    named = [folder for folders in PARTS.values() for folder in folders]
    places = {name: list(folders) or [f"--ignore={folder}" for folder in named] for name, folders in PARTS.items()}
    return {
        name: [*told, "-o", f"cache_dir={CACHE / name}", f"--timings={timings.FOLDER / f'{name}.json'}"]
        for name, told in places.items()
    }


def failures(cache: Path = CACHE) -> Iterator[str]:
    """Yield the tests of all parts that failed last: whoever reads the end of a long log finds what to look at."""
    for part in PARTS:
        file = cache / part / "v/cache/lastfailed"
        if file.exists():
            yield from sorted(json.loads(file.read_text()))


def verdict(codes: Collection[int]) -> int:
    """Return the exit code of all: a failure of any; success if one succeeded and the others had nothing to do."""
    failed = next((code for code in codes if code not in {0, NOTHING_THERE}), 0)
    return failed or (NOTHING_THERE if set(codes) == {NOTHING_THERE} else 0)


def _print(lines: Iterator[str]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
