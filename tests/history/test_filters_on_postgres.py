"""What is said of indexes holds on PostgreSQL too: the same tests again, on a server of their own."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import postgres

TESTS = "tests/history/test_filters_by_index.py"


@pytest.fixture
def server() -> Iterator[str]:
    """The address of an empty server."""
    if postgres.programs() is None:
        pytest.skip("there is no PostgreSQL here")
    with tempfile.TemporaryDirectory() as folder, postgres.server(Path(folder)) as address:
        yield address


def test_each_filter_finds_its_page_by_an_index_there_as_well(server: str) -> None:
    """Where it knows of how many rows each value has, and plans by that."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS]
    ran = subprocess.run(
        command, check=False, env={**os.environ, "DATABASE_URL": server}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout
    assert " passed" in ran.stdout
