"""Finds folders with too many modules: a newcomer reads a list of fifteen names, and no list of seventy."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.house.words import Finding

MOST = 15
"""Modules in a folder, besides its ``__init__.py``."""
_COUNTED_APART = {"migrations"}
"""Folders that grow with time."""


def crowded(roots: Iterable[Path]) -> Iterator[Finding]:
    """Yield every folder that has more modules than a newcomer reads."""
    for root in roots:
        for folder in sorted({path.parent for path in root.rglob("*.py")}):
            modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
            if len(modules) > MOST and folder.name not in _COUNTED_APART:
                yield Finding(folder, 0, f"{len(modules)} modules; at most {MOST}: make packages of them")
