"""While an upgrade migrates the database, the pods of the last release go on: migrations expand first."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from tests.deploy.running_release import broken, last_migrations
from tests.documentation.documents import BASE
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.django_db


def test_the_last_releases_code_reads_and_writes_every_table_of_the_new_schema() -> None:
    """So nobody has to scale it down first. What it uses may go in the release after the next."""
    assert broken(last_migrations()) == {}


def test_a_release_writes_the_migrations_that_it_has(tmp_path: Path) -> None:
    """In a process of its own, for which nobody chose settings."""
    file = tmp_path / "migrations.json"
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, "-m", "tests.deploy.running_release", file]
    subprocess.run(command, env=environment, cwd=BASE, check=True, timeout=PATIENCE_S)
    leaves = MigrationLoader(connection).graph.leaf_nodes()
    assert json.loads(file.read_text(encoding="utf-8")) == dict(leaves)
    assert dict(last_migrations()).keys() <= dict(leaves).keys()


def test_the_last_release_has_a_migration_of_each_app() -> None:
    """The file names migrations that exist, and none that is not in the graph."""
    nodes = set(MigrationLoader(connection).graph.nodes)
    assert set(last_migrations()) <= nodes


def test_columns_that_are_gone_are_found() -> None:
    """Once, the settings of queues moved out of columns of their own: that needed a stop."""
    assert {"queues.Queue", "queues.DraftQueue"} <= set(broken([("queues", "0005_settings")]))
