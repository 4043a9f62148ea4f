"""What is said of indexes holds on PostgreSQL too: the same tests again, on a server of their own."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

TESTS = "tests/history/test_filters_by_index.py"
NOBODY = "postgres"
"""The server refuses to run as root."""


def _programs() -> Path:
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not places:
        pytest.skip("there is no PostgreSQL here")
    return places[-1]


@pytest.fixture
def server() -> Iterator[str]:
    """The address of an empty server that listens on a socket in its own folder alone."""
    programs, as_root = _programs(), os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if as_root:
            shutil.chown(folder, NOBODY)

        def run(program: str, *arguments: str) -> None:
            command = [str(programs / program), "-D", str(folder / "data"), *arguments]
            subprocess.run(command, check=True, user=NOBODY if as_root else None, cwd=folder, stdout=subprocess.DEVNULL)

        run("initdb", "-U", "postgres", "--auth", "trust", "--no-sync")
        settings = f"-c listen_addresses='' -c fsync=off -k {folder}"
        run("pg_ctl", "start", "-w", "-l", str(folder / "log"), "-o", settings)
        try:
            yield f"postgres://postgres@{quote(name, safe='')}/postgres"
        finally:
            run("pg_ctl", "stop", "-w", "-m", "immediate")


def test_each_filter_finds_its_page_by_an_index_there_as_well(server: str) -> None:
    """Where it knows of how many rows each value has, and plans by that."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS]
    ran = subprocess.run(
        command, check=False, env={**os.environ, "DATABASE_URL": server}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout
    assert " passed" in ran.stdout
