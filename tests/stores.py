"""The database of one installation of the tests, which they read and write beside it: SQLite or PostgreSQL."""

import json
import os
import secrets
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import psycopg
from psycopg.rows import dict_row

from tests import postgres
from tests.runner import database
from tests.waiting import PATIENCE_S, wait_for


class Store(Protocol):
    """What tests do with it."""

    @property
    def address(self) -> str:
        """As DATABASE_URL has it."""

    def rows(self, query: str) -> list[dict[str, Any]]:
        """What a query answers; moments, in UTC, and JSON as texts."""

    def execute(self, statement: str, values: Sequence[Any]) -> None:
        """Write; a value goes where the statement has ``%s``."""

    def back_up(self, file: Path) -> None:
        """As docs/operations/backup.md says to, while others work with it."""

    def restore(self, file: Path) -> None:
        """Likewise, into one that is empty."""

    def take(self, other: Any) -> None:
        """Become what another of the same kind is that nobody works with."""

    def migrate(self, manage: Callable[..., object]) -> None:
        """Make the tables in one that is empty; ``manage`` runs a command of manage.py there."""

    def locked(self) -> AbstractContextManager[None]:
        """Nobody else can write, for as long; all may read."""


class Sqlite:
    """A file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @property
    def address(self) -> str:
        return f"sqlite:///{self.file}"

    def rows(self, query: str) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, timeout=PATIENCE_S)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query)]

    def execute(self, statement: str, values: Sequence[Any]) -> None:
        with closing(sqlite3.connect(self.file, timeout=PATIENCE_S)) as connection, connection:
            connection.execute(statement.replace("%s", "?"), values)

    def back_up(self, file: Path) -> None:
        with closing(sqlite3.connect(self.file)) as connection:
            connection.execute("VACUUM INTO ?", (str(file),))

    def restore(self, file: Path) -> None:
        self.file.write_bytes(file.read_bytes())

    def take(self, other: "Sqlite") -> None:
        shutil.copyfile(other.file, self.file)

    def migrate(self, manage: Callable[..., object]) -> None:
        database.copy_to(self.file)  # sooner than by migrations

    @contextmanager
    def locked(self) -> Iterator[None]:
        with closing(sqlite3.connect(self.file, isolation_level=None, timeout=PATIENCE_S)) as lock:
            lock.execute("BEGIN IMMEDIATE")
            try:
                yield
            finally:
                lock.rollback()


class Postgres:
    """A database of a server, made empty."""

    def __init__(self, server: str, name: str) -> None:
        """``server``: the address of another database there."""
        self._server, self._name = server, name
        self.address = f"{server.rpartition('/')[0]}/{name}"
        self._administer(f'CREATE DATABASE "{name}"')

    def rows(self, query: str) -> list[dict[str, Any]]:
        with psycopg.connect(self.address, row_factory=dict_row) as connection:
            found = connection.execute(query.encode()).fetchall()
        return [{name: _as_text(value) for name, value in row.items()} for row in found]

    def execute(self, statement: str, values: Sequence[Any]) -> None:
        with psycopg.connect(self.address) as connection:
            connection.execute(statement.encode(), values)

    def back_up(self, file: Path) -> None:
        _run("pg_dump", "--format", "custom", "--file", str(file), self.address)

    def restore(self, file: Path) -> None:
        _run("pg_restore", "--exit-on-error", "--single-transaction", "--no-owner", "--dbname", self.address, str(file))

    def take(self, other: "Postgres") -> None:
        self._administer(f'DROP DATABASE "{self._name}"', f'CREATE DATABASE "{self._name}" TEMPLATE "{other._name}"')

    def migrate(self, manage: Callable[..., object]) -> None:
        manage("migrate", "--verbosity", "0")

    @contextmanager
    def locked(self) -> Iterator[None]:
        tables = self.rows("SELECT string_agg(format('%I', tablename), ', ') AS them FROM pg_tables"
                           " WHERE schemaname = 'public'")[0]["them"]  # fmt: skip
        with psycopg.connect(self.address) as lock:
            wait_for(lambda: _lock_all(lock, tables), "Locks on all tables")
            try:
                yield
            finally:
                lock.rollback()

    def _administer(self, *statements: str) -> None:
        with psycopg.connect(self._server, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())


def _lock_all(connection: psycopg.Connection, tables: str) -> bool:
    """Lock tables if they are free now; a lock that waited while it held others would be one side of a deadlock."""
    try:
        connection.execute(f"LOCK TABLE {tables} IN EXCLUSIVE MODE NOWAIT".encode())
    except psycopg.errors.LockNotAvailable:
        connection.rollback()
        return False
    return True


def store(file: Path, server: str | None = None) -> Sqlite | Postgres:
    """An empty one: on the server of this address, or of ``DATABASE_URL`` unless one is said; or else a file."""
    server = os.environ.get("DATABASE_URL", "") if server is None else server
    if server.startswith("postgres"):
        return Postgres(server, f"{file.parent.name[:40]}-{secrets.token_hex(6)}")
    return Sqlite(file)


def changed(table: str, fields: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The statement that gives all rows other values, with these."""
    return f"UPDATE {table} SET {', '.join(f'{name} = %s' for name in fields)}", list(fields.values())


def added(table: str, row: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The statement that adds a row, with its values."""
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join(['%s'] * len(row))})", list(row.values())


def _as_text(value: Any) -> Any:
    """Moments and documents as SQLite has them."""
    if isinstance(value, datetime):
        return str(value.astimezone(UTC).replace(tzinfo=None))
    return json.dumps(value) if isinstance(value, dict | list) else value


def _run(program: str, *arguments: str) -> None:
    where = postgres.programs()
    assert where is not None
    where = (where / "initdb").resolve().parent  # where its server's own are, not a link to one of them
    done = subprocess.run([str(where / program), *arguments], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
