"""How much one person may upload within an hour: it lies in memory or on a disk until it has been looked at.

Hours are the clock's. The counts lie in the cache ``limits``, which all web processes share; where it does not answer,
nobody is turned away.
"""

import logging
from time import time

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest
from redis import RedisError

from scheduler_admin.accounts.models import User

_WINDOW_S = 3600
_MB = 1_000_000
_log = logging.getLogger(__name__)


def announced(request: HttpRequest) -> int:
    """Return how many bytes a request says that it has: nobody reads more of it, and none where it does not say."""
    said = str(request.META.get("CONTENT_LENGTH") or "0")
    return int(said) if said.isascii() and said.isdigit() else 0


def wait_for(user: User, size: int) -> int:
    """Count an upload of so many bytes; return after how many seconds there is room for it, 0 where there is now."""
    if not settings.UPLOAD_MB_AN_HOUR:
        return 0
    hour, gone = divmod(int(time()), _WINDOW_S)
    key = f"uploaded:{user.pk}:{hour}"
    try:
        caches["limits"].add(key, 0, 2 * _WINDOW_S)
        uploaded = caches["limits"].incr(key, size)
    except (RedisError, OSError, ValueError):  # ValueError: the key was just dropped
        _log.warning("the cache does not answer: uploads are not counted")
        return 0
    return _WINDOW_S - gone if uploaded > settings.UPLOAD_MB_AN_HOUR * _MB else 0
