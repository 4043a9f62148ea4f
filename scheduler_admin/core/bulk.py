"""Many rows by few statements, past Django's own bulk insert: it looks at each value by itself, which takes longest.

To PostgreSQL they are copied, so that nobody looks for placeholders among a thousand values, and it stores the first
while we still compress the last; few rows are not worth it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import islice
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar

import msgspec
from django.db import connection, transaction
from django.db.models import Field, Model, QuerySet

_DELETED_AT_ONCE = 500

_Row = TypeVar("_Row", bound=Model)
_Fields: TypeAlias = "Sequence[Field[Any, Any]]"
_Values = Iterable[Sequence[Any]]
_AT_ONCE = 999
"""Values of one statement, as SQLite takes them wherever it was built."""
_WORTH_COPYING = 50
"""Rows, from which on PostgreSQL gets them as a copy."""
_STAGED = "staged"


def insert(model: type[Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Add rows with values for some fields, for the others their defaults; those that are there stay as they are."""
    rows = list(rows)
    left = [field for field in _columns(model) if field.name not in names]
    usual = [field.get_db_prep_save(field.get_default(), connection) for field in left]
    fields = [*_fields(model, names), *left]
    ready = ([*row, *usual] for row in _ready(model, names, rows))
    into, columns = _table(model), _names(fields)
    if _to_copy(rows):
        with _staged(model, fields, ready) as cursor:
            cursor.execute(f"INSERT INTO {into} ({columns}) SELECT {columns} FROM {_STAGED} ON CONFLICT DO NOTHING")  # noqa: S608 - names of ours, as below
        return
    for statement, values in _inserts(model, fields, ready):
        with connection.cursor() as cursor:
            cursor.execute(f"{statement} ON CONFLICT DO NOTHING", values)


def create(rows: Sequence[_Row]) -> list[_Row]:
    """Add objects of one model, with whatever their fields hold; they get their ids. Returns them."""
    if not rows:
        return []
    model = type(rows[0])
    fields = _columns(model)
    values_of = attrgetter(*(field.attname for field in fields))
    ready = _ready(model, [field.name for field in fields], map(values_of, rows))
    ids = _copied(model, fields, ready, len(rows)) if _to_copy(rows) else _inserted(model, fields, ready)
    for row, pk in zip(rows, ids, strict=True):  # in their order, which Django relies on as well
        row.pk, row._state.adding = pk, False  # noqa: SLF001 - as Django documents it
    return list(rows)


def update(model: type[Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Give rows other values for some fields; what each row ends with is its id."""
    rows = list(rows)
    fields = _fields(model, [*names, "id"])
    ready = _ready(model, [*names, "id"], rows)
    table = _table(model)
    if _to_copy(rows):
        sets = ", ".join(f"{column} = {_STAGED}.{column}" for column in map(_column, fields[:-1]))
        with _staged(model, fields, ready) as cursor:
            cursor.execute(f"UPDATE {table} SET {sets} FROM {_STAGED} WHERE {table}.id = {_STAGED}.id")  # noqa: S608
    elif rows:
        sets = ", ".join(f"{_column(field)} = %s" for field in fields[:-1])
        with connection.cursor() as cursor:
            cursor.executemany(f"UPDATE {table} SET {sets} WHERE id = %s", list(ready))  # noqa: S608


def upsert(model: type[Model], names: Sequence[str], unique: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Add rows with values for all fields, or replace the rows that have the same values in the ``unique`` fields."""
    rows = list(rows)
    fields = _fields(model, names)
    ready = _ready(model, names, rows)
    table, columns, keys = _table(model), _names(fields), _names(_fields(model, unique))
    left = [_column(field) for field in fields if field.name not in unique]
    otherwise = f"ON CONFLICT ({keys}) DO UPDATE SET {', '.join(f'{one} = excluded.{one}' for one in left)}"
    if _to_copy(rows):
        with _staged(model, fields, ready) as cursor:
            cursor.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {_STAGED} {otherwise}")  # noqa: S608
        return
    for statement, values in _inserts(model, fields, ready):
        with connection.cursor() as cursor:
            cursor.execute(f"{statement} {otherwise}", values)


def remove(model: type[Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Delete the rows that have these values in some fields, none of which is null."""
    rows = list(rows)
    fields = _fields(model, names)
    ready = _ready(model, names, rows)
    table, columns = _table(model), [_column(field) for field in fields]
    if _to_copy(rows):
        same = " AND ".join(f"{table}.{column} = {_STAGED}.{column}" for column in columns)
        with _staged(model, fields, ready) as cursor:
            cursor.execute(f"DELETE FROM {table} USING {_STAGED} WHERE {same}")  # noqa: S608
    elif rows:
        same = " AND ".join(f"{column} = %s" for column in columns)
        with connection.cursor() as cursor:
            cursor.executemany(f"DELETE FROM {table} WHERE {same}", list(ready))  # noqa: S608


def _inserted(model: type[Model], fields: _Fields, ready: _Values) -> list[int]:
    """The ids of rows that are added by their values."""
    ids = list[int]()
    for statement, values in _inserts(model, fields, ready):
        with connection.cursor() as cursor:
            cursor.execute(f"{statement} RETURNING id", values)
            ids += [pk for (pk,) in cursor.fetchall()]
    return ids


def _inserts(model: type[Model], fields: _Fields, ready: _Values) -> Iterator[tuple[str, list[Any]]]:
    """The statements that add rows, each with its values."""
    row, many = f"({', '.join(['%s'] * len(fields))})", _AT_ONCE // len(fields)
    left = iter(ready)
    while some := list(islice(left, many)):
        values = ", ".join([row] * len(some))
        yield (
            f"INSERT INTO {_table(model)} ({_names(fields)}) VALUES {values}",  # noqa: S608
            [value for one in some for value in one],
        )


def _to_copy(rows: Sequence[object]) -> bool:
    return connection.vendor == "postgresql" and len(rows) >= _WORTH_COPYING


def _copied(model: type[Model], fields: _Fields, ready: _Values, many: int) -> list[int]:
    """The ids of rows that are copied, taken before."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [_table(model), many]
        )
        ids = [pk for (pk,) in cursor.fetchall()]
        with (
            connection.wrap_database_errors,
            cursor.copy(f"COPY {_table(model)} (id, {_names(fields)}) FROM STDIN") as copy,
        ):
            for pk, row in zip(ids, ready, strict=True):
                copy.write_row([pk, *row])
    return ids


@contextmanager
def _staged(model: type[Model], fields: _Fields, ready: _Values) -> Iterator[Any]:
    """Rows in a table beside, of which a statement makes what it wants."""
    columns = _names(fields)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMP TABLE {_STAGED} AS SELECT {columns} FROM {_table(model)} WITH NO DATA")  # noqa: S608
        with connection.wrap_database_errors, cursor.copy(f"COPY {_STAGED} ({columns}) FROM STDIN") as copy:
            for row in ready:
                copy.write_row(row)
        yield cursor
        cursor.execute(f"DROP TABLE {_STAGED}")


def _ready(model: type[Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[list[Any]]:
    """Values that are no mere texts and numbers as their fields write them, row by row as they are asked for."""
    writers = [(at, write) for at, field in enumerate(_fields(model, names)) if (write := _writer(field)) is not None]
    for row in rows:
        values = list(row)
        for at, write in writers:
            values[at] = write(values[at])
        yield values


def _writer(field: "Field[Any, Any]") -> Callable[[Any], Any] | None:
    """How a value is written; None: as it is."""
    usual: Callable[[Any], Any] = partial(field.get_db_prep_save, connection=connection)
    known: dict[str, Callable[[Any], Any]] = {
        "DateTimeField": cache(usual),  # many are the same
        "JSONField": _json,
        "BinaryField": usual,
    }
    return known.get(field.get_internal_type())


def _json(value: Any) -> str | None:
    """A text to either database."""
    return None if value is None else msgspec.json.encode(value).decode()


def _columns(model: type[Model]) -> _Fields:
    """All but the id."""
    return [field for field in model._meta.concrete_fields if not field.primary_key]  # noqa: SLF001


def _fields(model: type[Model], names: Sequence[str]) -> _Fields:
    fields = [model._meta.get_field(name) for name in names]  # noqa: SLF001
    return [field for field in fields if isinstance(field, Field)]


def _names(fields: _Fields) -> str:
    return ", ".join(map(_column, fields))


def _column(field: "Field[Any, Any]") -> str:
    return _quoted(field.column)


def _table(model: type[Model]) -> str:
    return _quoted(model._meta.db_table)  # noqa: SLF001 - Django's documented name


def _quoted(name: str | None) -> str:
    quoted: str = connection.ops.quote_name(name or "")
    return quoted


def drop(rows: QuerySet[Any]) -> None:
    """Delete in pieces, each a transaction of its own: passes write between them, and memory holds one."""
    while pks := list(rows.order_by().values_list("pk", flat=True)[:_DELETED_AT_ONCE]):
        QuerySet(rows.model).filter(pk__in=pks).delete()
