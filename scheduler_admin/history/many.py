"""Many rows by few statements, past Django's own bulk insert: it looks at each value by itself, which takes longest."""

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Field, Model

_Row = TypeVar("_Row", bound=Model)
_AT_ONCE = 999
"""Values of one statement, as SQLite takes them wherever it was built."""


def insert(model: type[Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Add rows with values for some fields, for the others their defaults; those that are there stay as they are."""
    left = [field for field in _columns(model) if field.name not in names]
    usual = [field.get_db_prep_save(field.get_default(), connection) for field in left]
    ready = [[*row, *usual] for row in _ready(model, names, rows)]
    for statement, values in _inserts(model, [*_fields(model, names), *left], ready):
        with connection.cursor() as cursor:
            cursor.execute(f"{statement} ON CONFLICT DO NOTHING", values)


def create(rows: Sequence[_Row]) -> list[_Row]:
    """Add objects of one model, with whatever their fields hold; they get their ids. Returns them."""
    if not rows:
        return []
    model, ids = type(rows[0]), list[int]()
    fields = _columns(model)
    values_of = attrgetter(*(field.attname for field in fields))
    ready = _ready(model, [field.name for field in fields], map(values_of, rows))
    for statement, values in _inserts(model, fields, ready):
        with connection.cursor() as cursor:
            cursor.execute(f"{statement} RETURNING id", values)
            ids += [pk for (pk,) in cursor.fetchall()]
    for row, pk in zip(rows, ids, strict=True):  # in their order, which Django relies on as well
        row.pk, row._state.adding = pk, False  # noqa: SLF001 - as Django documents it
    return list(rows)


def _columns(model: type[Model]) -> "list[Field[Any, Any]]":
    """All but the id."""
    return [field for field in model._meta.concrete_fields if not field.primary_key]  # noqa: SLF001


def _inserts(
    model: type[Model], fields: "Sequence[Field[Any, Any]]", ready: Sequence[Sequence[Any]]
) -> Iterator[tuple[str, list[Any]]]:
    """The statements that add rows, each with its values."""
    columns = ", ".join(_quoted(field.column) for field in fields)
    into = f"{_quoted(model._meta.db_table)} ({columns})"  # noqa: SLF001 - Django's documented name
    row, many = f"({', '.join(['%s'] * len(fields))})", _AT_ONCE // len(fields)
    for some in (ready[at : at + many] for at in range(0, len(ready), many)):
        values = ", ".join([row] * len(some))
        yield f"INSERT INTO {into} VALUES {values}", [value for one in some for value in one]  # noqa: S608 - names of ours


def update(model: type[Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Give rows other values for some fields; what each row ends with is its id."""
    sets = ", ".join(f"{_quoted(field.column)} = %s" for field in _fields(model, names))
    ready = _ready(model, [*names, "id"], rows)
    if ready:
        with connection.cursor() as cursor:
            table = _quoted(model._meta.db_table)  # noqa: SLF001
            cursor.executemany(f"UPDATE {table} SET {sets} WHERE id = %s", ready)  # noqa: S608


_WRITTEN = ("JSONField", "BinaryField")


def _ready(model: type[Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Values that are no mere texts and numbers as their fields write them."""
    ready = [list(row) for row in rows]
    for at, field in enumerate(_fields(model, names)):
        if field.get_internal_type() == "DateTimeField":  # many are the same
            times = {time: field.get_db_prep_save(time, connection) for time in {row[at] for row in ready}}
            for row in ready:
                row[at] = times[row[at]]
        elif field.get_internal_type() in _WRITTEN:
            for row in ready:
                row[at] = field.get_db_prep_save(row[at], connection)
    return ready


def _fields(model: type[Model], names: Sequence[str]) -> "list[Field[Any, Any]]":
    fields = [model._meta.get_field(name) for name in names]  # noqa: SLF001
    return [field for field in fields if isinstance(field, Field)]


def _quoted(name: str | None) -> str:
    quoted: str = connection.ops.quote_name(name or "")
    return quoted
