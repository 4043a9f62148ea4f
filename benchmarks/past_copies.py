"""A long history out of a short one: some days are made, and copied within PostgreSQL, earlier by as many days.

Tallies are copied likewise; that the product's own code counts the same there is looked at before anything is measured.
"""

# ruff: noqa: S608 - the statements are this file's own

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import connection, models
from django.utils import timezone

from benchmarks.past_filler import Stretch, made

if TYPE_CHECKING:
    from scheduler_admin.clusters.models import Cluster
    from scheduler_admin.counts.models import Tally

_MADE = 200_000
"""Decisions, at most; the rest are copies."""
_TABLES = ("decision", "victim", "mention")
_LOOKED_AT = 20
"""So many tallies are counted once more."""
_FAST = (
    "SET session_replication_role = replica; SET synchronous_commit = off; SET work_mem = '128MB';"
    " SET maintenance_work_mem = '400MB'; SET jit = off"
)


def fill(cluster: "Cluster", decisions: int, days: int, document: str, tell: Callable[[str], None]) -> None:
    """Make them, evenly over the time up to now, with the tallies of what is over."""
    from scheduler_admin.decisions.services import partitions  # noqa: PLC0415 - once Django is set up

    began = time.monotonic()
    partitions.make_ahead(newest=decisions)

    def told(what: str) -> None:
        tell(f"Created {what} after {time.monotonic() - began:.0f} s")

    length = timedelta(days=min(days, max(1, _MADE * days // decisions)))
    many = decisions * length.days // days
    newest = Stretch(cluster.pk, decisions - many + 1, decisions, length, timezone.now(), document)
    copies = -(-decisions // many)
    with connection.cursor() as cursor:
        cursor.execute(_FAST)
        with _without_indexes(cursor):
            made(cursor, newest)
            _remember(cursor)
            if copies > 1:
                _copy(cursor, newest, 1)
            told(f"{min(copies, 2) * many} decisions")
        told("the indexes of the decisions")
        _tally(cluster)
        told("the first counts")
        with _without_indexes(cursor):
            for number in range(copies - 1, 1, -1):
                _copy(cursor, newest, number)
                told(f"copy {number}")
        told("the indexes")
        _copy_tallies(cluster, newest, decisions)
        told("the copied counts")
        _finish(cursor)
    partitions.bound_full(now=timezone.now() + timedelta(days=1))
    _tally(cluster)
    _look(cluster, newest)
    told("everything")


@contextmanager
def _without_indexes(cursor: Any) -> Iterator[None]:
    """Indexes are made faster once the rows are there; those of numbers that others point to stay."""
    within = ", ".join(f"'history_{table}'" for table in _TABLES)
    cursor.execute(
        "SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint"
        f" WHERE (contype = 'u' AND conrelid::regclass::text IN ({within}))"
        " OR (contype = 'p' AND conrelid = 'history_mention'::regclass)"
    )
    unique = list(cursor.fetchall())
    for table, name, _what in unique:
        cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    cursor.execute(
        f"SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ({within})"
        " AND NOT EXISTS (SELECT FROM pg_constraint WHERE conname = indexname)"
    )
    indexes = list(cursor.fetchall())
    for name, _made in indexes:
        cursor.execute(f"DROP INDEX {name}")
    yield
    for _name, statement in indexes:
        cursor.execute(statement.replace(" ON ONLY ", " ON ", 1))  # of the partitions, too
    for table, name, what in unique:
        cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {what}")
    for table in _TABLES:
        cursor.execute(f"ANALYZE history_{table}")


def _remember(cursor: Any) -> None:
    for table in _TABLES:
        by = "decision_id" if table == "mention" else "id"
        cursor.execute(f"CREATE UNLOGGED TABLE made_{table} AS SELECT * FROM history_{table} ORDER BY {by}")


def _copy(cursor: Any, newest: Stretch, number: int) -> None:
    """Once more what was made, so many times its length earlier; no number is below one."""
    from scheduler_admin.decisions.models import Decision, Mention, Victim  # noqa: PLC0415 - once Django is set up

    back, before = number * newest.many, f" - interval '{number * newest.length.total_seconds()} seconds'"
    for model, of, names in (
        (Decision, "id", {"ask_uid": "'ask-' || {of}", "ask_name": "'worker-' || {of}"}),
        (Victim, "decision_id", {name: f"'{what}-' || {{of}} || '-' || position" for name, what in _PODS}),
        (Mention, "decision_id", {}),
    ):
        given = {of: f"{of} - {back}"} | {name: text.format(of=f"({of} - {back})") for name, text in names.items()}
        columns = _columns(model, without="" if of == "id" else "id")
        values = (given.get(name, name + before * isinstance(field, models.DateTimeField)) for name, field in columns)
        table = model._meta.db_table  # noqa: SLF001 - Django's documented name
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(name for name, _field in columns)}) SELECT {', '.join(values)}"
            f" FROM {table.replace('history', 'made')} WHERE {of} > {back}"
        )


_PODS = (("uid", "victim"), ("name", "batch"))


def _columns(model: type[models.Model], without: str) -> list[tuple[str, Any]]:
    fields = model._meta.fields  # noqa: SLF001 - as above
    return [(str(field.column), field) for field in fields if field.column and field.column != without]


def _copy_tallies(cluster: "Cluster", newest: Stretch, decisions: int) -> None:
    """Those of as many days that are over, to all that are like them; the first day, begun late, is left as due."""
    from scheduler_admin.counts.models import Tally  # noqa: PLC0415
    from scheduler_admin.counts.services import DAY, HOUR, begin_of  # noqa: PLC0415

    end = begin_of(newest.until, DAY)
    rows = Tally.objects.filter(cluster=cluster)
    rows.filter(start__lt=end - newest.length).delete()
    models_of = list(rows.filter(start__lt=end))
    oldest = newest.until - newest.length * ((decisions - 1) / newest.many)
    first = begin_of(oldest, DAY)
    earlier: list[Tally] = []
    for number in range(1, -(-decisions // newest.many) + 1):
        for row in models_of:
            start = row.start - newest.length * number
            if start >= first + DAY:
                earlier.append(_fresh(row, start))
    if first + DAY <= end - newest.length:
        earlier += [Tally(cluster=cluster, span=HOUR, start=first + HOUR * hour) for hour in range(24)]
        earlier.append(Tally(cluster=cluster, span=DAY, start=first))
    Tally.objects.bulk_create(earlier, batch_size=500)


def _fresh(row: "Tally", start: datetime) -> "Tally":
    from scheduler_admin.counts.models import Tally  # noqa: PLC0415

    values = {field.attname: getattr(row, field.attname) for field in Tally._meta.fields}  # noqa: SLF001 - as above
    return Tally(**values | {"id": None, "start": start})


def _finish(cursor: Any) -> None:
    cursor.execute("SET session_replication_role = DEFAULT")
    for table in _TABLES:
        cursor.execute(f"DROP TABLE made_{table}")
        cursor.execute(f"VACUUM ANALYZE history_{table}")
    for table in ("decision", "victim"):
        sequence = f"pg_get_serial_sequence('history_{table}', 'id')"
        cursor.execute(f"SELECT setval({sequence}, max(id)) FROM history_{table}")
    cursor.execute("VACUUM ANALYZE history_tally")
    for side, of in (("out", "{}"), ("into", "decision.ask_{}")):
        queue, namespace = of.format("queue"), of.format("namespace")
        cursor.execute(
            "INSERT INTO history_lastpreemption (cluster_id, side, queue, namespace, decision_id, at)"
            f" SELECT cluster_id, '{side}', queue, namespace, id, first_seen FROM (SELECT {queue} AS queue,"
            f" {namespace} AS namespace, max(decision_id) AS last FROM history_victim AS victim"
            " JOIN history_decision AS decision ON decision.id = decision_id"
            " WHERE victim.state IN ('evicted', 'exited') GROUP BY 1, 2) AS newest JOIN history_decision ON id = last"
        )


def _tally(cluster: "Cluster") -> None:
    """As housekeeping does, as often as it takes."""
    from scheduler_admin.counts.models import Tally  # noqa: PLC0415
    from scheduler_admin.counts.services import tally  # noqa: PLC0415

    before = -1
    while (many := Tally.objects.filter(document__isnull=False).count()) > before:
        before = many
        for _ in range(2):  # what the first one finds is over waits for the next
            tally(cluster=cluster, now=timezone.now(), for_s=60)


def _look(cluster: "Cluster", newest: Stretch) -> None:
    """Count some of the copied tallies by the product's own code: they have to be the same."""
    from scheduler_admin.counts.kinds import unpack  # noqa: PLC0415
    from scheduler_admin.counts.models import Tally  # noqa: PLC0415
    from scheduler_admin.counts.services import tally  # noqa: PLC0415

    copied = Tally.objects.filter(cluster=cluster, start__lt=newest.until - newest.length * 2, document__isnull=False)
    some = sorted(copied.values_list("pk", flat=True))
    some = random.Random(1).sample(some, min(_LOOKED_AT, len(some)))
    before = {row.pk: unpack(row.document) for row in copied.filter(pk__in=some) if row.document is not None}
    copied.filter(pk__in=some).update(document=None)
    tally(cluster=cluster, now=timezone.now(), for_s=600)
    for row in Tally.objects.filter(pk__in=some):
        assert row.document is not None
        assert unpack(row.document) == before[row.pk], f"copied tally {row} is wrong"
