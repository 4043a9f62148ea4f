"""How long migrations take beside a long history, and what they lock: ``python -m benchmarks migrate``."""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import django
import psycopg

from benchmarks.past import Row, filled, server_at

_APPS = ("comparisons", "history", "notifications", "copies", "clusters", "queues", "accounts")
"""Each before those that it rests on."""
_CHANGES = {
    "a column that may be empty": "ALTER TABLE {table} ADD COLUMN added integer",
    "a column with a default": "ALTER TABLE {table} ADD COLUMN given integer DEFAULT 0 NOT NULL",
    "an index": "CREATE INDEX {table}_added ON {table} (first_seen)",
    "a constraint": "ALTER TABLE {table} ADD CONSTRAINT {table}_same CHECK (first_seen > '2000-01-01')",
    "a column of another type": "ALTER TABLE {table} ALTER COLUMN added TYPE bigint",
}
"""What migrations to come will be made of."""


def migrate(decisions: int, days: int, database: str) -> Iterator[Row]:
    """A row for every kind of change, and for every app's migrations, back to nothing: what was stored is gone then."""
    with server_at(database) as address:
        os.environ |= {"DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "tests.settings"}
        django.setup()
        from django.core.management import call_command  # noqa: PLC0415 - once Django is set up

        filled(decisions, days)
        yield _measured("nothing to do", lambda: call_command("migrate", verbosity=0))
        for table in ("history_decision", "history_mention"):
            for name, statement in _CHANGES.items():
                yield _measured(f"{table}: {name}", partial(_execute, statement.format(table=table)))
            yield _measured(f"{table}: an index, concurrently", partial(_add_index, table))
        for app in _APPS:
            yield _measured(f"{app}, back", partial(call_command, "migrate", app, "zero", verbosity=0))
        yield _measured("all, forward", lambda: call_command("migrate", verbosity=0))


def _execute(statement: str) -> None:
    """In a transaction, as Django does."""
    from django.db import connection, transaction  # noqa: PLC0415

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def _add_index(table: str) -> None:
    """As a migration does it beside those who use the table."""
    from django.apps import apps  # noqa: PLC0415 - once Django is set up
    from django.db import connection, models  # noqa: PLC0415
    from django.db.migrations.state import ProjectState  # noqa: PLC0415

    from scheduler_admin.core.database.migration_operations import AddIndexBeside  # noqa: PLC0415

    app, _, model = table.partition("_")
    before, operation = (
        ProjectState.from_apps(apps),
        AddIndexBeside(model, models.Index(fields=["first_seen"], name=f"{model}_beside")),
    )
    after = before.clone()
    operation.state_forwards(app, after)
    with connection.schema_editor(atomic=False) as editor:
        operation.database_forwards(app, editor, before, after)


class _Watching:
    """Keeps what took longest, and the locks that others would wait for, of every statement."""

    longest_s, statement = 0.0, ""

    def __init__(self, address: str) -> None:
        self._beside = psycopg.connect(address, autocommit=True)
        self.locks: dict[str, set[str]] = {}
        """By mode: the tables."""

    def __call__(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        began = time.perf_counter()
        done = execute(sql, *rest)
        took_s = time.perf_counter() - began
        if took_s > self.longest_s:
            self.longest_s, self.statement = took_s, " ".join(str(sql).split())[:60]
        for mode, table in self._beside.execute(_LOCKS).fetchall():
            self.locks.setdefault(mode, set()).add(table)
        return done


_LOCKS = """
SELECT mode, relname FROM pg_locks JOIN pg_class ON pg_class.oid = relation
WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND pid <> pg_backend_pid()
AND mode IN ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
"""


def _measured(name: str, work: Callable[[], Any]) -> Row:
    from django.db import connection  # noqa: PLC0415

    watching, began = _Watching(os.environ["DATABASE_URL"]), time.perf_counter()
    with connection.execute_wrapper(watching):
        work()
    took_s = time.perf_counter() - began
    return {
        "migration": name,
        "seconds": round(took_s, 2),
        "longest_s": round(watching.longest_s, 2),
        "statement": watching.statement,
        "locks": "; ".join(f"{mode} {' '.join(sorted(tables))}" for mode, tables in sorted(watching.locks.items())),
    }
