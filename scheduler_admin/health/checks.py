"""What a process needs before it can serve requests: the database, its schema, and the broker.

These are a few lines of our own. The kept libraries of this kind check neither migrations nor answer with 503, and
bring a DNS resolver.
"""

import logging
from collections.abc import Callable, Mapping
from functools import cache

from django.db import Error, ProgrammingError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from redis import RedisError

from scheduler_admin.core.monitoring.broker import broker_client

_log = logging.getLogger(__name__)
OK = "ok"
UNAVAILABLE = "unavailable"
NOT_MIGRATED = "not migrated"


def database() -> str:
    """Tell whether the database responds."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error as error:
        _log.warning("The database does not respond: %s", error)
        return UNAVAILABLE
    return OK


def migrations() -> str:
    """Tell whether the schema is at least as new as this code. A newer schema is fine: upgrades migrate first."""
    try:
        applied = set(MigrationRecorder(connection).migration_qs.values_list("app", "name"))
    except ProgrammingError:  # a new database without a single table
        return NOT_MIGRATED
    except Error:
        return UNAVAILABLE
    return OK if applied >= _last_migrations() else NOT_MIGRATED


def broker() -> str:
    """Tell whether Redis responds."""
    try:
        broker_client().ping()
    except (RedisError, OSError) as error:
        _log.warning("Redis does not respond: %s", error)
        return UNAVAILABLE
    return OK


CHECKS: Mapping[str, Callable[[], str]] = {"database": database, "migrations": migrations, "broker": broker}


@cache
def _last_migrations() -> frozenset[tuple[str, str]]:
    """Return the last migration of each app in this code. Each implies those before it."""
    return frozenset(MigrationLoader(None).graph.leaf_nodes())
