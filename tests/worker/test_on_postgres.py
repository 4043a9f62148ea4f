"""What depends on the database most holds on PostgreSQL too: the same tests again, on a server of their own."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import postgres

TESTS = ("tests/decisions/test_filters_by_index.py", "tests/core/test_bulk.py")


@pytest.fixture
def server() -> Iterator[str]:
    """The address of an empty server."""
    if postgres.programs() is None:
        pytest.skip("there is no PostgreSQL here")
    with tempfile.TemporaryDirectory() as folder, postgres.server(Path(folder)) as address:
        yield address


def test_filters_find_their_pages_by_indexes_and_many_rows_are_stored_there_as_well(server: str) -> None:
    """It knows of how many rows each value has, and plans by that; and it takes many rows as a copy."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    ran = subprocess.run(
        command, check=False, env={**os.environ, "DATABASE_URL": server}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout
    assert " passed" in ran.stdout
