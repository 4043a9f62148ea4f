"""docs/architecture.md leads to files that exist, and to classes that are in them."""

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
TEXT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
TOPS = ("engine/", "scheduler_admin/", "simulator/", "static/", "templates/", "tests/")
ROWS = [line for line in TEXT.splitlines() if line.startswith("| ") and f"`{TOPS[0]}" in line]


def quoted(text: str) -> list[str]:
    """What the text sets in code."""
    return re.findall(r"`([^`]+)`", text)


def test_every_path_exists() -> None:
    """Paths that begin at the top of the project; others are relative to one of them."""
    paths = [one for one in quoted(TEXT) if one.startswith(TOPS) and not re.search(r"[<*]", one)]
    assert len(paths) > 40
    assert [one for one in paths if not (ROOT / one).exists()] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_a_class_is_in_a_file_that_its_row_names(row: str) -> None:
    files = [ROOT / one for one in quoted(row) if one.endswith(".py") and one.startswith(TOPS)]
    sources = "".join(path.read_text(encoding="utf-8") for path in files if path.exists())
    classes = [one for one in quoted(row) if re.fullmatch(r"(?:[A-Z][a-z]+){2,}", one)]
    assert [one for one in classes if not re.search(rf"\b{one}\b", sources)] == []
