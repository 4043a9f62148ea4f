"""Partitions of PostgreSQL tables: which there are, making one, dropping one. SQLite has none, and needs none.

Tables that belong together are partitioned alike: rows of the others point at rows of the first, and lie in the
partition of the same range. So each partition's foreign keys point at one partition, whatever else there is.
"""

# ruff: noqa: S608 - the names are those of tables of ours

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from django.db import connection, transaction

Bound: TypeAlias = tuple[int | datetime, ...]
"""A value for each column of the key."""
_PATIENCE = "5s"
"""How long a partition that is made or dropped waits for who uses the table; others wait behind it as long."""
_BOUNDS = re.compile(r"FOR VALUES FROM \((.*)\) TO \((.*)\)")
_DEFAULT = "default"


@dataclass(frozen=True)
class Table:
    """A table, and the columns that say where its rows belong."""

    name: str
    key: str


@dataclass(frozen=True)
class Partition:
    """The part of every table of a family that has one range of keys."""

    suffix: str
    """What its tables' names end with."""
    low: tuple[str, ...] | None
    """The first key, as PostgreSQL writes it; None: no key is below."""
    high: tuple[str, ...]
    """The first key beyond."""


def partitioned(table: Table) -> bool:
    """Return whether the database has partitions of a table."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(%s)", [table.name])
        return bool(cursor.fetchone()[0])


def partitions_of(table: Table) -> list[Partition]:
    """Return the partitions of a table in the order of their keys, without the default one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, pg_get_expr(relpartbound, pg_class.oid) FROM pg_inherits"
            " JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = to_regclass(%s)",
            [table.name],
        )
        found = [(name, _BOUNDS.fullmatch(bounds)) for name, bounds in cursor.fetchall()]
    parts = [
        Partition(name.removeprefix(f"{table.name}_"), _read(bounds[1]), _read(bounds[2]) or ())
        for name, bounds in found
        if bounds is not None
    ]
    return sorted(parts, key=lambda one: (one.low is not None, [_sortable(text) for text in one.high]))


def _read(bound: str) -> tuple[str, ...] | None:
    return None if "MINVALUE" in bound else tuple(text.strip("'") for text in bound.split(", "))


def _sortable(text: str) -> tuple[int, str]:
    """Numbers by their size, moments (which are all of one length) as they are written."""
    return (int(text), "") if text.isdigit() else (0, text)


@transaction.atomic
def add(family: Sequence[Table], suffix: str, low: Bound, high: Bound) -> None:
    """Make the partition of a range. Rows of it that came before it move there from the default partition."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [_PATIENCE])
        for table in family:
            cursor.execute(f"LOCK TABLE {table.name}_{_DEFAULT} IN ACCESS EXCLUSIVE MODE")
        for table in family:
            cursor.execute(f"CREATE TABLE {table.name}_{suffix} (LIKE {table.name} INCLUDING DEFAULTS"
                           " INCLUDING CONSTRAINTS INCLUDING STORAGE)")  # fmt: skip
        for table in family:
            copy_options(cursor, table.name, f"{table.name}_{suffix}")
        with _unreferred(cursor, family[0]) if _waits(cursor, family[0], low, high) else nullcontext():
            for table in reversed(family):
                _move(cursor, table, suffix, low, high)
            for table in family:
                attach(cursor, table, suffix, low, high)
        refer(cursor, family, suffix)


def copy_options(cursor: Any, table: str, to: str) -> None:
    """Give columns what another table's were given for the planner; a table made like another does not have that."""
    cursor.execute(
        "SELECT attname, array_to_string(attoptions, ', ') FROM pg_attribute"
        " WHERE attrelid = to_regclass(%s) AND attoptions IS NOT NULL AND NOT attisdropped",
        [table],
    )
    for column, options in cursor.fetchall():
        cursor.execute(f"ALTER TABLE {to} ALTER COLUMN {column} SET ({options})")


def _waits(cursor: Any, table: Table, low: Bound, high: Bound) -> bool:
    """Whether rows of a range are in the default partition."""
    within, values = _within(table, low, high)
    cursor.execute(f"SELECT EXISTS (SELECT FROM {table.name}_{_DEFAULT} WHERE {within})", values)
    return bool(cursor.fetchone()[0])


def _move(cursor: Any, table: Table, suffix: str, low: Bound, high: Bound) -> None:
    within, values = _within(table, low, high)
    cursor.execute(
        f"WITH moved AS (DELETE FROM {table.name}_{_DEFAULT} WHERE {within} RETURNING *)"
        f" INSERT INTO {table.name}_{suffix} SELECT * FROM moved",
        values,
    )


def _within(table: Table, low: Bound, high: Bound) -> tuple[str, list[int | datetime]]:
    first, last = (", ".join(["%s"] * len(bound)) for bound in (low, high))
    return f"({table.key}) >= ({first}) AND ({table.key}) < ({last})", [*low, *high]


@contextmanager
def _unreferred(cursor: Any, table: Table) -> Iterator[None]:
    """For a moment other tables need not point at rows that are there: a row that moves is gone from its partition."""
    cursor.execute(
        "SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE contype = 'f' AND conparentid = 0 AND confrelid = to_regclass(%s)",
        [table.name],
    )
    found = cursor.fetchall()
    for name, constraint, _definition in found:
        cursor.execute(f"ALTER TABLE {name} DROP CONSTRAINT {constraint}")
    yield
    for name, constraint, definition in found:
        cursor.execute(f"ALTER TABLE {name} ADD CONSTRAINT {constraint} {definition}")


def add_default(cursor: Any, family: Sequence[Table]) -> None:
    """Make the partition of rows that no other has, so that none is ever refused."""
    for table in family:
        cursor.execute(f"CREATE TABLE {table.name}_{_DEFAULT} PARTITION OF {table.name} DEFAULT")
    refer(cursor, family, _DEFAULT)


def attach(cursor: Any, table: Table, suffix: str, low: Bound | None, high: Bound) -> None:
    """Make a table a partition; ``low`` None: of all keys below ``high``."""
    first = "MINVALUE" if low is None else ", ".join(["%s"] * len(low))
    last = ", ".join(["%s"] * len(high))
    cursor.execute(
        f"ALTER TABLE {table.name} ATTACH PARTITION {table.name}_{suffix} FOR VALUES FROM ({first}) TO ({last})",
        [*(low or ()), *high],
    )


def refer(cursor: Any, family: Sequence[Table], suffix: str) -> None:
    """Make rows of a partition point at rows of the first table's partition of the same range."""
    first, *others = family
    for table in others:
        cursor.execute(
            f"ALTER TABLE {table.name}_{suffix} ADD FOREIGN KEY ({table.key})"
            f" REFERENCES {first.name}_{suffix} ({first.key}) DEFERRABLE INITIALLY DEFERRED"
        )


def bounded(table: Table, partition: Partition, column: str) -> bool:
    """Return whether the database knows which values a column has in a partition."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_constraint WHERE conrelid = to_regclass(%s) AND conname = %s AND convalidated",
            [f"{table.name}_{partition.suffix}", f"{column}_within"],
        )
        return bool(cursor.fetchone()[0])


def bound(table: Table, partition: Partition, column: str, first: datetime, last: datetime) -> None:
    """Let the database know which values a column has in a partition, so that queries for others pass it over.

    It refuses rows with others from now on.
    """
    name, check = f"{table.name}_{partition.suffix}", f"{column}_within"
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {name} DROP CONSTRAINT IF EXISTS {check}")
        cursor.execute(
            f"ALTER TABLE {name} ADD CONSTRAINT {check} CHECK ({column} BETWEEN %s AND %s) NOT VALID", [first, last]
        )
        cursor.execute(f"ALTER TABLE {name} VALIDATE CONSTRAINT {check}")  # reads it while others write


def analyze(family: Sequence[Table]) -> None:
    """Let the planner know what whole tables hold, once a day: by itself PostgreSQL looks at partitions alone."""
    with connection.cursor() as cursor:
        for table in family:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_all_tables WHERE relid = to_regclass(%s)"
                " AND last_analyze > now() - interval '1 day'",
                [table.name],
            )
            if not cursor.fetchone()[0]:
                cursor.execute(f"ANALYZE {table.name}")


@transaction.atomic
def drop(family: Sequence[Table], partition: Partition) -> None:
    """Drop all rows of a range at once. No other table may have a row that points at one of them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [_PATIENCE])
        for table in reversed(family):
            cursor.execute(f"ALTER TABLE {table.name} DETACH PARTITION {table.name}_{partition.suffix}")
            cursor.execute(f"DROP TABLE {table.name}_{partition.suffix}")
