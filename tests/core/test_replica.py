"""Pages read from a real replica, and what somebody saves is read where it was saved."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import postgres

pytestmark = pytest.mark.suite("postgres")
WRITER = "synchronous_commit=off", "wal_level=replica"


@pytest.fixture
def servers() -> Iterator[tuple[str, str]]:
    """The addresses of a server, and of one that replicates it by streaming."""
    with (
        tempfile.TemporaryDirectory() as first,
        tempfile.TemporaryDirectory() as second,
        postgres.server(Path(first), *WRITER) as primary,
        postgres.replica(Path(second), Path(first)) as replica,
    ):
        yield primary, replica


def test_pages_read_from_the_replica_and_what_is_saved_from_the_primary(servers: tuple[str, str]) -> None:
    """A program of its own, as the databases are settings; it says what it found."""
    primary, replica = servers
    environment = os.environ | {
        "DATABASE_URL": primary,
        "DATABASE_REPLICA_URL": replica,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    command = [sys.executable, "-m", "tests.core.replica_reads"]
    ran = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split("\n") == [
        "page: replica",
        "REST: replica",
        "accounts and sessions: primary",
        "saved, then read: primary",
        "another request right after: primary",
        "later: replica",
        "replica is too far behind: primary",
        "replica does not answer: primary",
        "",
    ]
