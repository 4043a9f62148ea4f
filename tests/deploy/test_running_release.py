"""While an upgrade migrates the database, the pods of the last release go on: migrations expand first."""

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from tests.deploy.running_release import broken, last_migrations

pytestmark = pytest.mark.django_db


def test_the_last_releases_code_reads_and_writes_every_table_of_the_new_schema() -> None:
    """So nobody has to scale it down first. What it uses may go in the release after the next."""
    assert broken(last_migrations()) == {}


def test_the_last_release_has_a_migration_of_each_app() -> None:
    """The file names migrations that exist, and none that is not in the graph."""
    nodes = set(MigrationLoader(connection).graph.nodes)
    assert set(last_migrations()) <= nodes


def test_columns_that_are_gone_are_found() -> None:
    """Once, the settings of queues moved out of columns of their own: that needed a stop."""
    assert {"queues.Queue", "queues.DraftQueue"} <= set(broken([("queues", "0005_settings")]))
