"""What clients use within a stretch of the clock, and no more than they may: requests, uploaded bytes, CPU time.

Where the cache of the counts does not answer, nothing is counted and nobody is turned away.
"""

import logging
from dataclasses import dataclass
from time import time

from django.core.cache import caches
from django.http import HttpRequest
from redis import RedisError
from rest_framework.request import Request

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Count:
    """How much a client has used of a stretch that is not over yet."""

    used: int
    ends_in_s: int


@dataclass(frozen=True)
class Stretch:
    """So many seconds, one after the other, within which something is counted for each client."""

    name: str
    """Of what is counted: a part of keys."""
    lasts_s: int
    cache: str = "limits"
    """All web processes share ``limits``; each has its own ``default``."""

    def add(self, who: str, amount: int = 1) -> Count | None:
        """Add what a client uses, and return how much that makes; None where nothing can be counted."""
        number, gone = divmod(int(time()), self.lasts_s)
        key = f"{self.name}:{who}:{number}"
        try:
            caches[self.cache].add(key, 0, 2 * self.lasts_s)
            return Count(caches[self.cache].incr(key, amount), self.lasts_s - gone)
        except (RedisError, OSError, ValueError):  # ValueError: the key was just dropped
            _log.warning("The cache does not respond, so counter %s was not updated", self.name)
            return None


REQUESTS = Stretch("requests", 60)
UPLOADS = Stretch("uploads", 3600)
WORK = Stretch("work", 60, cache="default")
"""Milliseconds of a core, of one web process: a sum over all of them would make every page wait for Redis."""


def who_is(request: HttpRequest | Request) -> str:
    """Return a key for who is signed in, by token or in a browser; empty where nobody is."""
    user = request.user
    if not user.is_authenticated:
        return ""
    token = getattr(user, "token", None)
    return f"token:{token.key}" if token else f"user:{user.pk}"
