"""On PostgreSQL, partitions for decisions and all that goes with each of them, and for usage."""

from dataclasses import astuple
from datetime import UTC, datetime, timedelta

from django.db import migrations, transaction

from scheduler_admin.core.database import partitioning
from scheduler_admin.core.database.partitions import Table, add_default, attach

DECISIONS = (
    Table("history_decision", "id"),
    Table("history_victim", "decision_id"),
    Table("history_step", "decision_id"),
    Table("history_mention", "decision_id"),
)
PRIMARY_KEYS = {
    "history_decision": "id",
    "history_victim": "id, decision_id",
    "history_step": "id, decision_id",
    "history_mention": "about, first_seen, decision_id",
}
USAGE = Table("history_usage", "step, start")
LENGTHS = {10: timedelta(hours=6), 60: timedelta(days=7), 3600: timedelta(days=91)}
"""By step."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SIZE = 1_000_000
"""Ids of one partition."""

OF_SMALL_TABLES = (
    ("history_happening", "decision_id", "history_happening_decision_id_8bb75951_fk_history_decision_id"),
    ("history_rewound", "decision_id", "history_rewound_decision_id_3fca25ca_fk_history_decision_id"),
    ("history_lastpreemption", "decision_id", "history_lastpreempti_decision_id_0dea8932_fk_history_d"),
)
"""Foreign keys to decisions that stay; tables, columns, names."""
OF_VICTIMS = (
    ("history_happening", "victim_id", "history_happening_victim_id_cc0f7ab1_fk_history_victim_id"),
    ("history_happening_losers", "victim_id", "history_happening_lo_victim_id_9c851dba_fk_history_v"),
)
"""Foreign keys to victims. None can point at an id alone that is unique within a partition."""
OF_THE_OTHERS = (
    ("history_victim", "decision_id", "history_victim_decision_id_42e4a632_fk_history_decision_id"),
    ("history_step", "decision_id", "history_step_decision_id_2ba734d5_fk_history_decision_id"),
    ("history_mention", "decision_id", "history_mention_decision_id_0b8acdc7_fk_history_decision_id"),
)
"""Foreign keys to decisions that each partition has of its own."""


def forward(_apps, schema_editor):
    """What decisions there are becomes their first partition as it is; usage is copied into its partitions."""
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        end = _first_end(cursor)
        _prepare(cursor, end)
        with transaction.atomic(using=schema_editor.connection.alias):
            _partition_decisions(cursor, end)
        with transaction.atomic(using=schema_editor.connection.alias):
            _partition_usage(cursor)
        cursor.execute(f"ANALYZE {', '.join([*PRIMARY_KEYS, USAGE.name])}")  # not done by itself for whole tables


def _first_end(cursor):
    """The first id beyond the first partition: half a partition is free for those that come meanwhile."""
    cursor.execute("SELECT coalesce(max(id), 0) FROM history_decision")
    (last,) = cursor.fetchone()
    return -(-(last + SIZE // 2) // SIZE) * SIZE


def _prepare(cursor, end):
    """What reads whole tables, beside those who use them: so that nothing is left to look for under a lock."""
    cursor.execute("SET lock_timeout = 0")  # they wait for transactions that are open, and nobody waits for them
    for table, key in map(astuple, DECISIONS):
        cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table}_first")
        cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {table}_first CHECK ({key} < {end}) NOT VALID")
        cursor.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {table}_first")
        if PRIMARY_KEYS[table] == "id, decision_id":
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {table}_both")
            cursor.execute(f"CREATE UNIQUE INDEX CONCURRENTLY {table}_both ON {table} (id, decision_id)")
    cursor.execute("RESET lock_timeout")


def _partition_decisions(cursor, end):
    """Under a lock, for a moment, however many they are."""
    tables = [table.name for table in DECISIONS]
    cursor.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")
    _drop(cursor, OF_SMALL_TABLES + OF_VICTIMS)
    for table, key in map(astuple, reversed(DECISIONS)):
        if PRIMARY_KEYS[table] == "id, decision_id":
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {table}_pkey")
            cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {table}_pkey PRIMARY KEY USING INDEX {table}_both")
        cursor.execute(f"ALTER TABLE {table} RENAME CONSTRAINT {table}_first TO range")
        partitioning.make_beside(
            cursor, table, primary_key=PRIMARY_KEYS[table], partition_by=key, apart="history_decision"
        )
        cursor.execute(f"ALTER TABLE {table}_new DROP CONSTRAINT range")
        partitioning.take_over(cursor, table, keep_as="first", apart="history_decision")
    for table in DECISIONS:
        attach(cursor, table, "first", None, (end,))
        cursor.execute(f"ALTER TABLE {table.name}_first DROP CONSTRAINT range")
    add_default(cursor, DECISIONS)
    _add(cursor, OF_SMALL_TABLES, "history_decision")


def _partition_usage(cursor):
    """Readers wait for the last moment only; who rolls usage up waits, and goes on where it was."""
    cursor.execute("LOCK TABLE history_usage IN SHARE ROW EXCLUSIVE MODE")
    partitioning.make_beside(cursor, "history_usage", primary_key="id, step, start", partition_by=USAGE.key)
    cursor.execute("CREATE TABLE history_usage_default PARTITION OF history_usage_new DEFAULT")
    cursor.execute("SELECT step, min(start), max(start) FROM history_usage GROUP BY step")
    for step, first, last in cursor.fetchall():
        start = EPOCH + (first - EPOCH) // LENGTHS[step] * LENGTHS[step]
        while start <= last:
            cursor.execute(
                f"CREATE TABLE history_usage_{step}_{start:%Y%m%d%H} PARTITION OF history_usage_new"
                " FOR VALUES FROM (%s, %s) TO (%s, %s)",
                [step, start, step, start + LENGTHS[step]],
            )
            start += LENGTHS[step]
    partitioning.copy_rows(cursor, "history_usage")
    partitioning.take_over(cursor, "history_usage")


def backward(_apps, schema_editor):
    """All rows of each table are copied into one again, which nobody reads or writes meanwhile."""
    if schema_editor.connection.vendor != "postgresql":
        return
    with transaction.atomic(using=schema_editor.connection.alias), schema_editor.connection.cursor() as cursor:
        _drop(cursor, OF_SMALL_TABLES)
        for table in (*PRIMARY_KEYS, USAGE.name)[::-1]:
            key = "id" if table in (USAGE.name, "history_victim", "history_step") else PRIMARY_KEYS[table]
            partitioning.make_beside(cursor, table, primary_key=key)
            partitioning.copy_rows(cursor, table)
            partitioning.take_over(cursor, table)
        _add(cursor, OF_SMALL_TABLES + OF_THE_OTHERS, "history_decision")
        _add(cursor, OF_VICTIMS, "history_victim")


def _drop(cursor, foreign_keys):
    for table, _column, name in foreign_keys:
        cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")


def _add(cursor, foreign_keys, to):
    for table, column, name in foreign_keys:
        cursor.execute(
            f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({column}) REFERENCES {to} (id)"
            " DEFERRABLE INITIALLY DEFERRED"
        )


class Migration(migrations.Migration):
    """Retention drops partitions instead of rows."""

    atomic = False
    dependencies = [("history", "0009_pod_group")]
    operations = [
        migrations.RunPython(forward, backward),
        migrations.AlterModelOptions(name="victim", options={"ordering": ["decision_id", "position"]}),
    ]
