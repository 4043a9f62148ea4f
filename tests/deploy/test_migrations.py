"""Each app's migrations go forward and back to nothing, on either database, with rows in every table.

That they go forward is tested every time, by those who use the tables and by tests/deploy/test_upgrade.py.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import postgres

APPS = {"accounts", "queues", "clusters", "copies", "notifications", "history", "comparisons"}


pytestmark = pytest.mark.suite("postgres")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.suite("postgres"))])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Of an empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'db.sqlite3'}"
        return
    if postgres.programs() is None:
        pytest.skip("there is no PostgreSQL here")
    with tempfile.TemporaryDirectory() as folder, postgres.server(Path(folder)) as address:
        yield address


def test_every_app_goes_back_and_forward(address: str) -> None:
    """Also where rows of other apps point at its own; published revisions are guarded again afterwards."""
    environment = {**os.environ, "DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, "-m", "tests.migrating"]
    ran = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert set(ran.stdout.split()) == APPS
