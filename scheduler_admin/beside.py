"""What migrations do to tables that are in use, beside those who read and write them."""

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations import AddIndex
from django.db.migrations.state import ProjectState


class AddIndexBeside(AddIndexConcurrently):
    """An index that PostgreSQL makes while rows are written; its migration is no transaction (``atomic = False``)."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: ProjectState) -> None:
        """As AddIndex where the database is no PostgreSQL."""
        of = AddIndexConcurrently if schema_editor.connection.vendor == "postgresql" else AddIndex
        of.database_forwards(self, app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: ProjectState) -> None:
        """Likewise."""
        of = AddIndexConcurrently if schema_editor.connection.vendor == "postgresql" else AddIndex
        of.database_backwards(self, app_label, schema_editor, from_state, to_state)
