"""Published rows are changed by nobody: triggers on their tables, for SQLite and PostgreSQL.

Rows can still be deleted, as far as their foreign keys allow: a revision with a child, or in force, stays; what holds a
whole hierarchy can go. A migration that alters one of the tables calls ``release`` before and ``protect`` after: SQLite
makes the table anew, without its triggers, and on PostgreSQL they go with a column that they name.
"""

from django.db.backends.base.base import BaseDatabaseWrapper

TABLES = ("queues_revision", "queues_queue")
MUTABLE = ("author_id",)
"""Columns that change all the same: an author's account may go; the author's name stays."""
MESSAGE = "What is published is never changed."

_FUNCTION = f"""
CREATE FUNCTION queues_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'integrity_constraint_violation'; END $$
"""
_BODIES = {
    "sqlite": f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END",
    "postgresql": "FOR EACH ROW EXECUTE FUNCTION queues_immutable()",
}


def protect(connection: BaseDatabaseWrapper) -> None:
    """Put the triggers on: from here on an UPDATE of a published row raises IntegrityError."""
    body, quote = _BODIES[connection.vendor], connection.ops.quote_name
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_FUNCTION)
        for table in TABLES:
            columns = [one.name for one in connection.introspection.get_table_description(cursor, table)]
            of = ", ".join(quote(column) for column in columns if column not in MUTABLE)
            cursor.execute(f"CREATE TRIGGER {table}_immutable BEFORE UPDATE OF {of} ON {table} {body}")


def release(connection: BaseDatabaseWrapper) -> None:
    """Take the triggers off again, as far as there are any."""
    with connection.cursor() as cursor:
        for table in TABLES:
            on = f"ON {table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {table}_immutable {on}")
        if connection.vendor == "postgresql":
            cursor.execute("DROP FUNCTION IF EXISTS queues_immutable()")
