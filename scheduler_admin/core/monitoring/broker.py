"""Redis, asked directly: whether it responds, and how many messages wait in it."""

from functools import cache

from django.conf import settings
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

_LIMIT_S = 1.0
"""How long the broker has to respond. A probe or a scrape waits for the answer."""


@cache
def broker_client() -> Redis:
    """Return a client that tries once and soon gives up: its methods raise RedisError and OSError."""
    return Redis.from_url(
        settings.REDIS_URL.replace("redis+socket://", "unix://", 1),
        socket_timeout=_LIMIT_S,
        socket_connect_timeout=_LIMIT_S,
        retry=Retry(NoBackoff(), 0),
    )
