"""Failures that pass: a database that is locked, away, full or a standby, a broker that is away, a full disk."""

import errno

from django.db import InterfaceError, InternalError, OperationalError
from redis import RedisError

RETRY_S = 10
"""After so many seconds it is worth asking again."""
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_READ_ONLY = "25006"
"""PostgreSQL's code for a write to a standby, as after a failover until the address leads to the new primary."""


def passes(error: BaseException | None) -> bool:
    """Tell whether the same request may well succeed later: nothing is wrong with it, nor with us."""
    if isinstance(error, OSError):
        return error.errno in _NO_ROOM
    if isinstance(error, InternalError):
        return getattr(error.__cause__, "sqlstate", None) == _READ_ONLY
    return isinstance(error, OperationalError | InterfaceError | RedisError)
