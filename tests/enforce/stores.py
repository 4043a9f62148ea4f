"""The database of one installation of the tests, which they read and write beside it: SQLite or PostgreSQL."""

import sqlite3
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

import psycopg
from psycopg.rows import dict_row

from tests import postgres


class Store(Protocol):
    """What tests do with it."""

    @property
    def address(self) -> str:
        """As DATABASE_URL has it."""

    def rows(self, query: str) -> list[dict[str, Any]]:
        """What a query answers."""

    def execute(self, statement: str, values: Sequence[Any]) -> None:
        """Write; a value goes where the statement has ``%s``."""

    def back_up(self, file: Path) -> None:
        """As docs/operations.md says to, while others work with it."""

    def restore(self, file: Path) -> None:
        """Likewise, into one that is empty."""


class Sqlite:
    """A file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @property
    def address(self) -> str:
        return f"sqlite:///{self.file}"

    def rows(self, query: str) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, timeout=20)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query)]

    def execute(self, statement: str, values: Sequence[Any]) -> None:
        with closing(sqlite3.connect(self.file)) as connection, connection:
            connection.execute(statement.replace("%s", "?"), values)

    def back_up(self, file: Path) -> None:
        with closing(sqlite3.connect(self.file)) as connection:
            connection.execute("VACUUM INTO ?", (str(file),))

    def restore(self, file: Path) -> None:
        self.file.write_bytes(file.read_bytes())


class Postgres:
    """A database of a server, made empty."""

    def __init__(self, server: str, name: str) -> None:
        """``server``: the address of another database there."""
        self.address = f"{server.rpartition('/')[0]}/{name}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())

    def rows(self, query: str) -> list[dict[str, Any]]:
        with psycopg.connect(self.address, row_factory=dict_row) as connection:
            return connection.execute(query.encode()).fetchall()

    def execute(self, statement: str, values: Sequence[Any]) -> None:
        with psycopg.connect(self.address) as connection:
            connection.execute(statement.encode(), values)

    def back_up(self, file: Path) -> None:
        _run("pg_dump", "--format", "custom", "--file", str(file), self.address)

    def restore(self, file: Path) -> None:
        _run("pg_restore", "--exit-on-error", "--single-transaction", "--no-owner", "--dbname", self.address, str(file))


def changed(table: str, fields: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The statement that gives all rows other values, with these."""
    return f"UPDATE {table} SET {', '.join(f'{name} = %s' for name in fields)}", list(fields.values())


def added(table: str, row: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The statement that adds a row, with its values."""
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join(['%s'] * len(row))})", list(row.values())


def _run(program: str, *arguments: str) -> None:
    where = postgres.programs()
    assert where is not None
    where = (where / "initdb").resolve().parent  # where its server's own are, not a link to one of them
    done = subprocess.run([str(where / program), *arguments], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
