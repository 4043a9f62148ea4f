"""What migrations do to tables that are in use, beside those who read and write them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations import AddIndex, RunPython
from django.db.migrations.state import ProjectState, StateApps
from django.db.models import Case, Index, Max, Min, Model, Value, When


class AddIndexBeside(AddIndexConcurrently):
    """An index that PostgreSQL makes while rows are written; its migration is no transaction (``atomic = False``)."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: ProjectState) -> None:
        """As AddIndex where the database is no PostgreSQL; of a partitioned table, partition by partition."""
        with _patient(schema_editor) as of:
            model = to_state.apps.get_model(app_label, self.model_name)
            if parts := _partitions(schema_editor, model._meta.db_table):  # noqa: SLF001 - Django's documented name
                _add_to(schema_editor, model, self.index, parts)
            else:
                of.database_forwards(self, app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: ProjectState) -> None:
        """Likewise; of a partitioned table it is dropped under a lock, for a moment."""
        with _patient(schema_editor) as of:
            model = from_state.apps.get_model(app_label, self.model_name)
            partitioned = _partitions(schema_editor, model._meta.db_table)  # noqa: SLF001 - as above
            back = AddIndex if partitioned else of
            back.database_backwards(self, app_label, schema_editor, from_state, to_state)


def _partitions(schema_editor: Any, table: str) -> list[str]:
    """The partitions of a table; none where it has none."""
    if schema_editor.connection.vendor != "postgresql":
        return []
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = to_regclass(%s)", [table])
        return [name for (name,) in cursor.fetchall()]


def _add_to(schema_editor: Any, model: type[Model], index: Index, partitions: list[str]) -> None:
    """Add an index that no partition has yet; it counts once each of them has its part."""
    statement = str(index.create_sql(model, schema_editor, concurrently=False))
    table = schema_editor.quote_name(model._meta.db_table)  # noqa: SLF001 - Django's documented name
    schema_editor.execute(statement.replace(f" ON {table} ", f" ON ONLY {table} ", 1))
    for name in partitions:
        part = f"{name}_{index.name}"
        named = statement.replace(f'"{index.name}" ON {table} ', f'CONCURRENTLY "{part}" ON {name} ', 1)
        schema_editor.execute(named)
        schema_editor.execute(f'ALTER INDEX "{index.name}" ATTACH PARTITION "{part}"')


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
