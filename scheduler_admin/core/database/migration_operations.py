"""What migrations do to tables that are in use, beside those who read and write them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations import AddIndex
from django.db.migrations.state import ProjectState


class AddIndexBeside(AddIndexConcurrently):
    """An index that PostgreSQL makes while rows are written; its migration is no transaction (``atomic = False``)."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: ProjectState) -> None:
        """As AddIndex where the database is no PostgreSQL."""
        with _patient(schema_editor) as of:
            of.database_forwards(self, app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: ProjectState) -> None:
        """Likewise."""
        with _patient(schema_editor) as of:
            of.database_backwards(self, app_label, schema_editor, from_state, to_state)


@contextmanager
def _patient(schema_editor: Any) -> Iterator[type[AddIndex]]:
    """How the index is made; it waits for all transactions that are open, for as long as they are."""
    if schema_editor.connection.vendor != "postgresql":
        yield AddIndex
        return
    schema_editor.execute("SET lock_timeout = 0")
    try:
        yield AddIndexConcurrently
    finally:
        schema_editor.execute("RESET lock_timeout")
