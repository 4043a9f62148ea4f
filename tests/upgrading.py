"""`python -m tests.upgrading DUMP`: DATABASE_URL's empty database becomes one of a version before, and is upgraded.

A process of its own, as migrations change the tables under everything else. Prints what then is there, as JSON; ends
with 1, and says why, where anything fails. What each version stored is in tests/deploy/releases: a demo's database.
``python -m tests.upgrading DUMP load`` upgrades nothing: others do.
"""

import gzip
import json
import sqlite3
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import django
from django.db import connection

_PAGES = ("queues/", "queues/root/", "history/", "fences/", "nodes/", "revisions/", "settings/")


def main(dump: Path, *, upgrades: bool) -> None:
    """Load, migrate, and read all of it."""
    django.setup()
    load(dump)
    if upgrades:
        migrate()
        print(json.dumps(read()))  # noqa: T201 - what this program is for


def load(dump: Path) -> None:
    """Make the tables of that version, with their rows."""
    former = sqlite3.connect(":memory:")
    former.executescript(gzip.decompress(dump.read_bytes()).decode())
    if connection.vendor == "sqlite":
        target = sqlite3.connect(connection.settings_dict["NAME"])
        former.backup(target)
        target.close()
    else:
        _copy(former)


def migrate(*where: str) -> None:
    """As ``manage.py migrate``."""
    from django.core.management import call_command  # noqa: PLC0415 - once Django is set up

    call_command("migrate", *where, verbosity=0, skip_checks=True)


def _copy(former: sqlite3.Connection) -> None:
    """Rows of SQLite into PostgreSQL's tables as they were then, with the migrations that it says it had."""
    for app, migration in former.execute("SELECT app, name FROM django_migrations ORDER BY id"):
        migrate(app, migration)
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        tables = [name for (name,) in former.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            if table in connection.introspection.table_names(cursor) and table != "django_migrations":
                _copy_table(former, cursor, table)
        cursor.execute("SET session_replication_role = DEFAULT")


def _copy_table(former: sqlite3.Connection, cursor: Any, table: str) -> None:
    cursor.execute("SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s", [table])
    kinds = dict(cursor.fetchall())
    rows = former.execute(f'SELECT * FROM "{table}"')
    names = [column[0] for column in rows.description]
    cursor.execute(f'DELETE FROM "{table}"')
    row = ", ".join(f"%s::{kinds[name]}" for name in names)
    into = f'INSERT INTO "{table}" ({", ".join(map(connection.ops.quote_name, names))}) VALUES ({row})'
    for values in rows:
        cursor.execute(into, list(map(_as, values, map(kinds.__getitem__, names))))
    if "id" in kinds:
        cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), greatest(max(id), 1)) FROM {table}")


def _as(value: Any, kind: str) -> Any:
    """SQLite keeps truths as numbers, and lengths of time as microseconds."""
    if value is None:
        return None
    return {"boolean": bool, "interval": lambda many: timedelta(microseconds=many)}.get(kind, lambda same: same)(value)


def read() -> dict[str, Any]:
    """What is there: rows of queues that differ from their tree, what is wrong in drafts, decisions, pages.

    Of decisions also the last preemptions, and what they come to when they are taken again.
    """
    from django.test import Client  # noqa: PLC0415 - once Django is set up

    from scheduler_admin.accounts.models import User  # noqa: PLC0415
    from scheduler_admin.clusters.models import Cluster  # noqa: PLC0415
    from scheduler_admin.decisions.models import Decision  # noqa: PLC0415
    from scheduler_admin.decisions.replay.replay import each_replayed, replayable  # noqa: PLC0415
    from scheduler_admin.queues.drafts.selectors import state  # noqa: PLC0415
    from scheduler_admin.queues.models import Draft, Queue  # noqa: PLC0415
    from scheduler_admin.queues.notes import said  # noqa: PLC0415
    from scheduler_admin.queues.services.hierarchies import tree_of  # noqa: PLC0415
    from tests.decisions.plain_latest import kept_last, plain_last  # noqa: PLC0415

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(role=User.Role.ADMIN))
    cluster = Cluster.objects.get()
    rows = list(Decision.objects.order_by("pk"))
    ours = Decision.objects.filter(source=Decision.Source.ENGINE)
    pages = [f"/clusters/{cluster.name}/{page}" for page in _PAGES] + ["/clusters/", "/pods/"]
    pages += [f"/clusters/{cluster.name}/decisions/{row.pk}/" for row in rows]
    return {
        "decisions": len(rows),
        "preemptions": len(plain_last()),
        "last": kept_last() == plain_last(),
        "queues": sum(row.own != tree_of(row.revision)[row.path] for row in Queue.objects.select_related("revision")),
        "drafts": [[said(note) for note in state(draft).errors] for draft in Draft.objects.all()],
        "pages": {page: code for page in pages if (code := client.get(page).status_code) != 200},
        "replayed": [document == row.document.encode() for row, document in each_replayed(ours)].count(True),
        "replayable": replayable(ours).count(),
        "values": unknown_values(),
    }


def unknown_values() -> dict[str, list[str]]:
    """What columns hold that is none of their choices: a value whose name changed, and that no migration renamed."""
    from django.apps import apps  # noqa: PLC0415 - once Django is set up

    found: dict[str, list[str]] = {}
    for model in apps.get_models():
        for field in (field for field in model._meta.concrete_fields if field.choices):
            known = {value for value, _label in field.flatchoices} | {"", None}
            stored = model._base_manager.values_list(field.name, flat=True).distinct()
            if unknown := sorted(set(stored.order_by()) - known):
                found[f"{model._meta.label}.{field.name}"] = unknown
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]), upgrades=sys.argv[2:] != ["load"])
