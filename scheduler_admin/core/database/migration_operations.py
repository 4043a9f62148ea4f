"""What migrations do to tables that are in use, beside those who read and write them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations import AddIndex, RunPython
from django.db.migrations.state import ProjectState, StateApps
from django.db.models import Case, Max, Min, Value, When


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


_BATCH = 20_000
"""Rows, by primary key, that one statement renames: a table is never locked for long."""


def rename_values(app: str, model: str, field: str, renamed: Mapping[str, str], **where: str) -> RunPython:
    """Return the operation that gives stored values of a text field their new names, in the rows ``where`` selects.

    Its migration is no transaction (``atomic = False``): each batch is kept, and a second run continues.
    """
    back = {new: old for old, new in renamed.items()}
    return RunPython(_renaming(app, model, field, renamed, where), _renaming(app, model, field, back, where))


def _renaming(
    app: str, model: str, field: str, names: Mapping[str, str], where: Mapping[str, str]
) -> Callable[[StateApps, Any], None]:
    def rename(apps: StateApps, schema_editor: Any) -> None:
        rows = apps.get_model(app, model).objects.using(schema_editor.connection.alias).filter(**where)
        name = Case(*(When(**{field: old}, then=Value(new)) for old, new in names.items()))
        span = rows.aggregate(first=Min("pk"), last=Max("pk"))
        for start in range(span["first"] or 0, (span["last"] or -1) + 1, _BATCH):
            part = rows.filter(pk__gte=start, pk__lt=start + _BATCH, **{f"{field}__in": list(names)})
            part.update(**{field: name})

    return rename
