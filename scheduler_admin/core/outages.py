"""Failures that pass: a database that is locked, away or full, a disk without room. Asking again later helps."""

import errno

from django.db import InterfaceError, OperationalError

RETRY_S = 10
"""After so many seconds it is worth asking again."""
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


def passes(error: BaseException | None) -> bool:
    """Tell whether the same request may well succeed later: nothing is wrong with it, nor with us."""
    if isinstance(error, OSError):
        return error.errno in _NO_ROOM
    return isinstance(error, OperationalError | InterfaceError)
