"""Which test files a change can break: by imports, and by the map of directories that CONTRIBUTING.md shows.

Imports are read from the sources, functions' own imports included. Django connects more than imports do (addresses,
templates, receivers), which is what the map is for.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

BASE = Path(__file__).parents[2]
PACKAGES = ("engine", "scheduler_admin", "scheduler_admin_client", "benchmarks", "tests")
APP = "scheduler_admin/APP/"
APP_TESTED_BY = ("tests/APP", "tests/pages/APP", "tests/api/APP")
"""For each app, those of these folders that are there."""
FURTHER = {
    "demo": ("tests/e2e",),
    "rest": ("tests/grid", "tests/client"),
    "site": ("tests/grid", "tests/browser"),
}
"""Further folders of an app."""


def _tests_of(app: str) -> tuple[str, ...]:
    places = (place.replace("APP", app) for place in APP_TESTED_BY)
    return (*(place for place in places if (BASE / place).is_dir()), *FURTHER.get(app, ()))


TESTED_BY: Mapping[str, tuple[str, ...]] = {
    "engine/cluster/": ("tests/cluster",),
    "engine/formats/": ("tests/engine", "tests/queues"),
    "simulator/": ("tests/simulator",),
    "engine/": ("tests/engine",),
    **{
        f"scheduler_admin/{path.name}/": _tests_of(path.name)
        for path in sorted((BASE / "scheduler_admin").iterdir())
        if (path / "__init__.py").exists()
    },
    "scheduler_admin_client/": ("tests/client",),
    "action.yml": ("tests/client", "tests/deploy"),
    "templates/queues.yml": ("tests/client", "tests/deploy"),
    ".github/": ("tests/deploy",),
    "static/": ("tests/browser", "tests/pages"),
    "templates/": ("tests/pages", "tests/browser"),
    "deploy/": ("tests/deploy",),
    "docs/": ("tests/documentation", "tests/deploy", "tests/api"),
    "mkdocs.yml": ("tests/documentation",),
    "demo/": ("tests/simulator", "tests/e2e"),
    "locale/": ("tests/test_catalogues.py",),
    "docker-compose.yml": ("tests/deploy",),
    "Dockerfile": ("tests/deploy",),
    "Makefile": ("tests/deploy",),
    "benchmarks/": ("tests/test_benchmarks.py",),
}
"""Where a change is -> the folders whose tests look at it, those that look at it most first."""
_BY_MAP = 2
"""Who imports what changed is nearer than who the map names."""
_IMPORT = re.compile(r"^[ \t]*(?:from ([\w.]+) import (\([^)]*\)|.+)|import ([\w., ]+))$", re.MULTILINE)


def nearest(changed: Iterable[str]) -> dict[str, int]:
    """Return the test files that a change of some files can break, each with how far away it is: 0 where it changed."""
    files = [*changed]
    found = {**_by_map(files), **{name: 0 for name in files if _is_test(name)}}
    importers, distances = _importers(), dict[str, int]()
    due = deque((name, 0) for name in files if name.endswith(".py"))
    while due:
        name, distance = due.popleft()
        if name not in distances:
            distances[name] = distance
            due.extend((importer, distance + 1) for importer in importers[name])
    for name, distance in distances.items():
        if _is_test(name):
            found[name] = min(distance, found.get(name, distance))
    return dict(sorted(found.items(), key=lambda each: (each[1], each[0])))


def _by_map(files: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in files:
        area = next((area for area in TESTED_BY if name.startswith(area)), None)
        for rank, tests in enumerate(TESTED_BY[area] if area else ()):
            for path in _tests_in(tests):
                found[path] = min(_BY_MAP + rank, found.get(path, _BY_MAP + rank))
    return found


def _tests_in(place: str) -> Iterator[str]:
    at = BASE / place
    paths = [at] if at.is_file() else sorted(at.rglob("test_*.py"))
    yield from (str(path.relative_to(BASE)) for path in paths)


def _is_test(name: str) -> bool:
    return name.startswith("tests/") and Path(name).match("test_*.py") and (BASE / name).is_file()


@cache
def _importers() -> Mapping[str, set[str]]:
    """Return file -> the files that import it, or take fixtures from it."""
    found: dict[str, set[str]] = defaultdict(set)
    for package in PACKAGES:
        for path in (BASE / package).rglob("*.py"):
            name = str(path.relative_to(BASE))
            for imported in _imports(path):
                found[imported].add(name)
            if path.name == "conftest.py" and path.parent != BASE / "tests":
                found[name] |= {*_tests_in(str(path.parent.relative_to(BASE)))}
    return found


def _imports(path: Path) -> Iterator[str]:
    """Yield the files of this repository that a file imports. Reading the words is ten times as fast as parsing."""
    for module, names, modules in _IMPORT.findall(path.read_text(encoding="utf-8")):
        if module:
            imported = [module, *(f"{module}.{name}" for name in re.findall(r"(\w+)(?: as \w+)?", names))]
        else:
            imported = re.findall(r"([\w.]+)(?: as \w+)?", modules)
        yield from _files(path, imported)


def _files(path: Path, modules: Iterable[str]) -> Iterator[str]:
    """Yield the files of modules; a helper beside a test is imported by its bare name."""
    for module in modules:
        at = module.replace(".", "/")
        for root in (BASE, path.parent):
            for file in (root / f"{at}.py", root / at / "__init__.py"):
                if file.is_file():
                    yield str(file.relative_to(BASE))
