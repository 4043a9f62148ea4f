"""How the demo gets ready: its packages, its database, and what it prints meanwhile."""

import io
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scheduler_admin.demo.environment import BASE
from scheduler_admin.demo.install import PipProgress, install
from scheduler_admin.demo.progress import Progress
from tests.runner import database
from tests.waiting import wait_for

pytestmark = pytest.mark.e2e


def schema(file: Path) -> dict[str, Any]:
    """Return the tables of a database with their columns, keys, indexes and checks, each in any order."""
    with sqlite3.connect(file) as connection:
        rows = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()

        def ask(pragma: str, name: str, first: int) -> list[str]:
            return sorted(str(row[first:]) for row in connection.execute(f"PRAGMA {pragma}('{name}')"))

        return {
            f"{kind} {name}": (ask("table_info", name, 1), ask("foreign_key_list", name, 2), words(sql))
            if kind == "table"
            else words(sql)
            for kind, name, sql in rows
        }


def words(sql: str | None) -> list[str]:
    """Return the words of a statement in alphabetical order: migrations order columns in another way."""
    return sorted((sql or "").replace(",", " ").replace("(", " ").replace(")", " ").split())


def test_its_database_is_what_the_migrations_would_make(tmp_path: Path) -> None:
    """All tables with all columns, keys, checks, indexes and triggers, and every migration recorded."""
    migrated, created = tmp_path / "migrated.sqlite3", tmp_path / "created.sqlite3"
    database.copy_to(migrated)
    program = "import django; django.setup(); from scheduler_admin.demo.database import create; create()"
    environment = os.environ | {
        "DATABASE_URL": f"sqlite:///{created}",
        "DJANGO_SETTINGS_MODULE": "scheduler_admin.settings",
    }
    subprocess.run([sys.executable, "-c", program], cwd=BASE, env=environment, check=True)
    assert schema(created) == schema(migrated)
    for table in ("django_migrations", "django_content_type", "auth_permission"):
        first, second = (
            sqlite3.connect(file).execute(f"SELECT count(*) FROM {table}").fetchone() for file in (created, migrated)
        )
        assert first == second, table


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "Downloading packages: 0 of 3"),
        (
            ["Collecting django==5.2", "  Downloading django.whl", "Collecting celery==5"],
            "Downloading packages: 2 of 3",
        ),
        (["Requirement already satisfied: django", "Collecting celery==5"], "Downloading packages: 2 of 3"),
        (["Installing collected packages: django, celery"], "Installing packages: 1 of 2"),
    ],
)
def test_packages_are_counted_from_what_pip_prints(lines: list[str], sentence: str) -> None:
    """First those that were downloaded, then those that were installed."""
    progress = PipProgress(locked=3)
    for line in lines:
        progress.read(line)
    assert progress.sentence(installed=1) == sentence


def test_packages_that_cant_be_installed_are_reported_with_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The end of what pip printed, and where all of it is."""
    lock = tmp_path / "lock.txt"
    lock.write_text("no-hash==1.0\n")
    venv = tmp_path / "venv"
    assert install(venv, lock) != 0
    printed = capfd.readouterr().err
    assert f"Creating {venv}" in printed
    assert f"The end of the log {venv / 'install.log'}" in printed
    assert "hash" in printed


class Terminal(io.StringIO):
    """A stream that counts as a terminal."""

    def isatty(self) -> bool:
        """Return what makes steps count their seconds."""
        return True


def test_a_step_prints_one_line_where_lines_stay() -> None:
    """As in the log of a CI job, and at its beginning."""
    out = io.StringIO()
    with Progress(out).step("Starting Redis"):
        assert out.getvalue() == "Starting Redis …\n"
    assert out.getvalue() == "Starting Redis …\n"


def test_a_step_counts_its_seconds_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is written again and again, and stays with how long the step took."""
    monkeypatch.setattr("scheduler_admin.demo.progress._TICK_S", 0.01)
    out = Terminal()
    with Progress(out).step("Starting Redis"):
        wait_for(lambda: out.getvalue().count("Starting Redis") > 2, "The third time that the line is written")
    assert out.getvalue().endswith(" s\n")


def test_a_step_that_fails_ends_its_line() -> None:
    """So that the error begins on a line of its own."""
    out = Terminal()

    def fail() -> None:
        with Progress(out).step("Starting Redis"):
            raise OSError

    with pytest.raises(OSError):  # noqa: PT011 - which one does not matter
        fail()
    assert out.getvalue().endswith(" s\n")
