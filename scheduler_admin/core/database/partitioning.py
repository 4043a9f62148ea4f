"""What migrations do to make a table of PostgreSQL a partitioned one, and back. Other databases stay as they are.

A new table is made beside the old one, with its constraints and indexes. It takes over the old one's rows, or the old
one whole as its first partition, and then all of its names.
"""

# ruff: noqa: S608 - the names are those of tables of ours

from collections.abc import Iterator
from typing import Any, NamedTuple

from scheduler_admin.core.database.partitions import copy_options

_NAME = 63
"""No name of PostgreSQL's is longer."""


class _Names(NamedTuple):
    constraints: list[str]
    indexes: list[str]


def make_beside(cursor: Any, table: str, *, primary_key: str, partition_by: str = "", apart: str = "") -> None:
    """Make an empty table like another, named ``<table>_new``; ``partition_by``: the columns of its partitions' key.

    It has no foreign keys to the table ``apart``: each partition has its own.
    """
    by = f"PARTITION BY RANGE ({partition_by})" if partition_by else ""
    cursor.execute(f"CREATE TABLE {table}_new (LIKE {table} INCLUDING DEFAULTS INCLUDING IDENTITY"
                   f" INCLUDING CONSTRAINTS INCLUDING STORAGE) {by}")  # fmt: skip
    copy_options(cursor, table, f"{table}_new")
    for name, definition in _constraints(cursor, table, apart):
        what = f"PRIMARY KEY ({primary_key})" if definition.startswith("PRIMARY KEY") else definition
        cursor.execute(f"ALTER TABLE {table}_new ADD CONSTRAINT {_prefixed('new', name)} {what}")
    for name, definition in _indexes(cursor, table):
        rest = definition.partition(" USING ")[2]
        cursor.execute(f"CREATE INDEX {_prefixed('new', name)} ON {table}_new USING {rest}")


def copy_rows(cursor: Any, table: str) -> None:
    """Copy all rows into the table beside."""
    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # no table is renamed while a check of it is to come
    cursor.execute(f"INSERT INTO {table}_new SELECT * FROM {table}")


def take_over(cursor: Any, table: str, *, keep_as: str = "", apart: str = "") -> None:
    """Give the table beside the names of the old one. That is dropped, or is ``<table>_<keep_as>`` from now on."""
    constraints, indexes = _constraints(cursor, table, apart), _indexes(cursor, table)
    names = _Names([name for name, _ in constraints], [name for name, _ in indexes])
    cursor.execute("SELECT pg_get_serial_sequence(%s, 'id') WHERE EXISTS (SELECT FROM pg_attribute"
                   " WHERE attrelid = %s::regclass AND attname = 'id')", [table, table])  # fmt: skip
    sequence = next(iter(cursor.fetchall()), (None,))[0]
    if sequence:
        _take_sequence(cursor, table, sequence)
    if keep_as:
        _rename(cursor, names, (table, ""), (f"{table}_{keep_as}", keep_as))
    else:
        cursor.execute(f"DROP TABLE {table}")
    _rename(cursor, names, (f"{table}_new", "new"), (table, ""))


def _take_sequence(cursor: Any, table: str, sequence: str) -> None:
    """Go on where the old table's ids ended; who takes one meanwhile waits, as its sequence is renamed first."""
    cursor.execute(f"ALTER SEQUENCE {sequence} RENAME TO {table}_id_before")
    cursor.execute(f"SELECT last_value, is_called FROM {table}_id_before")
    last, called = cursor.fetchone()
    cursor.execute("SELECT pg_get_serial_sequence(%s, 'id')", [f"{table}_new"])
    (new,) = cursor.fetchone()
    cursor.execute("SELECT setval(%s, %s, %s)", [new, last, called])
    cursor.execute(f"ALTER TABLE {table} ALTER COLUMN id DROP IDENTITY")
    cursor.execute(f"ALTER SEQUENCE {new} RENAME TO {table}_id_seq")


def _rename(cursor: Any, names: _Names, old: tuple[str, str], new: tuple[str, str]) -> None:
    """Rename a table with its constraints and indexes, whose names have a prefix."""
    (table, before), (to, after) = old, new
    for name in names.constraints:
        cursor.execute(f"ALTER TABLE {table} RENAME CONSTRAINT {_prefixed(before, name)} TO {_prefixed(after, name)}")
    for name in names.indexes:
        cursor.execute(f"ALTER INDEX {_prefixed(before, name)} RENAME TO {_prefixed(after, name)}")
    cursor.execute(f"ALTER TABLE {table} RENAME TO {to}")


def _prefixed(prefix: str, name: str) -> str:
    """As PostgreSQL would cut it; what tells Django's names apart is not at their end."""
    return f"{prefix}_{name}"[:_NAME] if prefix else name


def _constraints(cursor: Any, table: str, apart: str) -> Iterator[tuple[str, str]]:
    """Those that a copy of the table's columns does not have: keys, and foreign keys, but for those ``apart``."""
    cursor.execute("SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass"
                   " AND contype IN ('p', 'u', 'f') AND confrelid IS DISTINCT FROM to_regclass(%s)"
                   " ORDER BY contype <> 'p', conname", [table, apart or None])  # fmt: skip
    return iter(cursor.fetchall())


def _indexes(cursor: Any, table: str) -> Iterator[tuple[str, str]]:
    """Those that are no constraint's."""
    cursor.execute("SELECT relname, pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON oid = indexrelid"
                   " WHERE indrelid = %s::regclass AND NOT EXISTS (SELECT FROM pg_constraint"
                   " WHERE conindid = indexrelid AND contype IN ('p', 'u')) ORDER BY relname", [table])  # fmt: skip
    return iter(cursor.fetchall())
