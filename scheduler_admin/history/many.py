"""Many rows by few statements, without an object of the model for each: that takes most of the time of small rows."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import Field, Model

_AT_ONCE = 999
"""Values of one statement, as SQLite takes them wherever it was built."""


def insert(model: type[Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Add rows with values for some fields; those that are there already stay as they are."""
    columns = ", ".join(_quoted(field.column) for field in _fields(model, names))
    into = f"{_quoted(model._meta.db_table)} ({columns})"  # noqa: SLF001 - Django's documented name
    row, ready = f"({', '.join(['%s'] * len(names))})", _ready(model, names, rows)
    many = _AT_ONCE // len(names)
    for some in (ready[at : at + many] for at in range(0, len(ready), many)):
        values = ", ".join([row] * len(some))
        with connection.cursor() as cursor:
            statement = f"INSERT INTO {into} VALUES {values} ON CONFLICT DO NOTHING"  # noqa: S608 - names of ours
            cursor.execute(statement, [value for one in some for value in one])


def update(model: type[Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Give rows other values for some fields; what each row ends with is its id."""
    sets = ", ".join(f"{_quoted(field.column)} = %s" for field in _fields(model, names))
    ready = _ready(model, [*names, "id"], rows)
    if ready:
        with connection.cursor() as cursor:
            table = _quoted(model._meta.db_table)  # noqa: SLF001
            cursor.executemany(f"UPDATE {table} SET {sets} WHERE id = %s", ready)  # noqa: S608


_WRITTEN = ("DateTimeField", "JSONField", "BinaryField")


def _ready(model: type[Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Values that are no mere texts and numbers as their fields write them."""
    ready = [list(row) for row in rows]
    for at, field in enumerate(_fields(model, names)):
        if field.get_internal_type() in _WRITTEN:
            for row in ready:
                row[at] = field.get_db_prep_save(row[at], connection)
    return ready


def _fields(model: type[Model], names: Sequence[str]) -> "list[Field[Any, Any]]":
    fields = [model._meta.get_field(name) for name in names]  # noqa: SLF001
    return [field for field in fields if isinstance(field, Field)]


def _quoted(name: str | None) -> str:
    quoted: str = connection.ops.quote_name(name or "")
    return quoted
