"""Finds lines of templates that are too long to read, or to review in a change."""

from collections.abc import Iterator
from pathlib import Path

from tests.house.words import Finding

LONGEST = 160
"""Characters of a line."""


def long_lines(root: Path) -> Iterator[Finding]:
    """Yield every line of a template that is longer than a line may be."""
    for path in sorted(root.rglob("*.*")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if len(line) > LONGEST:
                yield Finding(
                    path,
                    number,
                    f"{len(line)} characters; at most {LONGEST}: break the line, or move a choice into Python",
                )
