"""``make test``: every test but the long suites, in processes beside each other, as a machine has two cores.

What waits most of the time, for servers, watches and leases, runs beside everything else. What works runs in two
lanes: more processes than cores would only push each other out of the caches, and all take a third longer.
``python -m tests.runner.parts -k lint`` gives the option to all of them.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

from tests.runner import timings


def _folders(names: str) -> tuple[str, ...]:
    return tuple(f"tests/{name}" for name in names.split())


WAITING: Mapping[str, tuple[str, ...]] = {
    "waiting": _folders("cluster controlplane sync simulator"),
    "installations": _folders("e2e faults"),
    "enforcement": _folders("deploy enforce"),
    "browser": _folders("browser"),
}
"""Name -> folders. They start servers, processes and browsers and wait for them."""
WORKING: Mapping[str, tuple[str, ...]] = {
    "decisions": _folders("engine fidelity fuzz"),
    "worker": _folders("worker decisions journal usage counts ledger nodes pending notifications"),
    "pages": _folders("pages"),
    "addresses": _folders("grid"),
    "interfaces": _folders("api client doors"),
    "rest": (),
}
"""Name -> folders, what takes long first; the last has what is in no other."""
PARTS = {**WAITING, **WORKING}
LANES = 2
CACHE = Path(".pytest_cache")
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
    """Run each part in a process of its own, and print what it said as soon as it has ended."""
    printing = Lock()

    def one(name: str) -> int:
        _print([f"{name}: begun"])
        with tempfile.TemporaryFile() as output:
            command = [sys.executable, "-m", "pytest", *arguments, *parts[name]]
            code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
            output.seek(0)
            with printing:
                _print([f"{name}: ended with {code}"])
                shutil.copyfileobj(output, sys.stdout.buffer)
                sys.stdout.flush()
        return code

    with ThreadPoolExecutor(len(parts)) as beside, ThreadPoolExecutor(LANES) as lanes:
        begun = [(beside if name in WAITING else lanes).submit(one, name) for name in parts]
        return verdict([part.result() for part in begun])


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


def _print(lines: Iterable[str]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
