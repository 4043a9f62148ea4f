"""A database of the version before, with all it holds, is brought up to date, on either database."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.test_migrations import address

__all__ = ["address"]
RELEASES = Path(__file__).parent / "releases"


@pytest.mark.parametrize("dump", sorted(RELEASES.glob("*.sql.gz")), ids=lambda dump: dump.name)
def test_what_a_version_before_stored_is_all_there(dump: Path, address: str) -> None:
    """Its pages are shown, its decisions come out again to the byte, and what is new is worked out of it."""
    environment = {**os.environ, "DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, "-m", "tests.upgrading", str(dump)]
    ran = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    assert (found["pages"], found["queues"]) == ({}, 0)
    assert not any(found["drafts"])
    assert found["values"] == {}
    assert found["last"]
    assert found["preemptions"] > 0
    assert found["replayed"] == found["replayable"] > 0
    assert found["decisions"] >= found["replayable"]
