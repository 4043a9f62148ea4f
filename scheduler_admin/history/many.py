"""Many rows by one statement that is executed for each: a model's own ways take ten times as long for small rows."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import Field, Model


def insert(model: type[Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Add rows with values for some fields; those that are there already stay as they are."""
    columns = ", ".join(_quoted(field.column) for field in _fields(model, names))
    into, values = f"{_quoted(model._meta.db_table)} ({columns})", ", ".join(["%s"] * len(names))  # noqa: SLF001 - Django's documented name
    _each(model, names, f"INSERT INTO {into} VALUES ({values}) ON CONFLICT DO NOTHING", rows)  # noqa: S608 - names of ours


def update(model: type[Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Give rows other values for some fields; what each row ends with is its id."""
    sets = ", ".join(f"{_quoted(field.column)} = %s" for field in _fields(model, names))
    table = _quoted(model._meta.db_table)  # noqa: SLF001
    _each(model, [*names, "id"], f"UPDATE {table} SET {sets} WHERE id = %s", rows)  # noqa: S608


def _each(model: type[Model], names: Sequence[str], statement: str, rows: Iterable[Sequence[Any]]) -> None:
    """Values that are no mere texts and numbers go as their fields write them."""
    written = {at: field for at, field in enumerate(_fields(model, names)) if field.get_internal_type() in _WRITTEN}
    ready = [_ready(row, written) for row in rows]
    if ready:
        with connection.cursor() as cursor:
            cursor.executemany(statement, ready)


_WRITTEN = ("DateTimeField", "JSONField")


def _ready(row: Sequence[Any], written: dict[int, "Field[Any, Any]"]) -> list[Any]:
    values = list(row)
    for at, field in written.items():
        values[at] = field.get_db_prep_save(values[at], connection)
    return values


def _fields(model: type[Model], names: Sequence[str]) -> "list[Field[Any, Any]]":
    fields = [model._meta.get_field(name) for name in names]  # noqa: SLF001
    return [field for field in fields if isinstance(field, Field)]


def _quoted(name: str | None) -> str:
    quoted: str = connection.ops.quote_name(name or "")
    return quoted
