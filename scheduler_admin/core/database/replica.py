"""Reads from a replica of the database, for requests that change nothing. All else goes to the primary.

A replica is a moment behind. So that everybody finds what they have just saved, all requests read from the primary for
some seconds after one has changed anything; accounts, sessions and tokens are always read there. A replica that does
not answer, or is further behind than those seconds, is not used.
"""

import logging
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django.core.cache import caches
from django.db import Error, connections
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from redis import RedisError

REPLICA = "replica"
AFTER_WRITES_S = 10
"""How long requests read from the primary after one has changed anything."""
_BEHIND_S = 5
"""A replica that may be further behind is not used."""
_LOOKED_S, _LEFT_ALONE_S = 1.0, 10.0
"""How long it holds that the replica can be used, and that it cannot."""
_AT_PRIMARY = {"accounts", "auth", "axes", "sessions", "contenttypes", "admin"}
"""Apps whose rows are always read where they are written: nobody is signed out, or has rights, for a moment longer."""
_WROTE = "wrote"
_SAFE = ("GET", "HEAD")
_BEHIND = """
SELECT CASE
WHEN EXISTS (SELECT FROM pg_stat_wal_receiver) AND pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
ELSE coalesce(extract(epoch FROM now() - pg_last_xact_replay_timestamp()), 1e9) END
"""
"""Seconds; 0 where all that came is there: nothing may have been written for long."""

_log = logging.getLogger(__name__)
_reads: ContextVar[str] = ContextVar("reads", default="default")
_wrote: ContextVar[bool] = ContextVar("wrote", default=False)


class Router:
    """Tells Django which database a query goes to."""

    def db_for_read(self, model: type[Model], **_hints: Any) -> str:
        """Return the replica within a request that may read there, but for what is always read at the primary."""
        return "default" if model._meta.app_label in _AT_PRIMARY else _reads.get()  # noqa: SLF001 - Django's documented name

    def db_for_write(self, model: type[Model], **_hints: Any) -> str:
        """Return the primary, where the rest of the request reads from then on."""
        if model._meta.app_label not in _AT_PRIMARY:  # noqa: SLF001 - as above
            _reads.set("default")
            _wrote.set(True)
        return "default"

    def allow_relation(self, *_objects: Model, **_hints: Any) -> bool:
        """Return that rows of both can point at each other: they are the same rows."""
        return True

    def allow_migrate(self, db: str, _app_label: str, **_hints: Any) -> bool:
        """Return whether tables are made there: the replica has what the primary has."""
        return db != REPLICA


def reading(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Let requests that change nothing read from the replica, and remember when one has changed anything."""
    state = _State()

    def respond(request: HttpRequest) -> HttpResponse:
        safe = request.method in _SAFE and not _written_lately() and state.usable()
        _reads.set(REPLICA if safe else "default")  # also while the response is streamed, in this thread
        _wrote.set(False)
        response = get_response(request)
        if _wrote.get():
            _remember()
        return response

    return respond


def _written_lately() -> bool:
    try:
        return caches["limits"].get(_WROTE) is not None
    except (RedisError, OSError):
        return True


def _remember() -> None:
    try:
        caches["limits"].set(_WROTE, 1, AFTER_WRITES_S)
    except (RedisError, OSError):
        _log.warning("The cache does not respond, so that other processes may read from the replica too soon")


class _State:
    """Whether the replica is up to date, as this process last saw it."""

    _until_s, _usable = 0.0, False

    def usable(self) -> bool:
        """Return whether it answers, and is behind by seconds only."""
        if time.monotonic() >= self._until_s:
            self._usable = _answers()
            self._until_s = time.monotonic() + (_LOOKED_S if self._usable else _LEFT_ALONE_S)
        return self._usable


def _answers() -> bool:
    try:
        with connections[REPLICA].cursor() as cursor:
            cursor.execute(_BEHIND)
            return float(cursor.fetchone()[0]) <= _BEHIND_S
    except Error as error:
        _log.warning("The replica of the database is not used: %s", error)
        connections[REPLICA].close()
        return False
