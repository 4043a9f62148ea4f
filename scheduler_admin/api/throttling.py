"""How much of the API anyone may use in a minute: a token, a person, or, of those who can't sign in, an address.

Minutes are the clock's. The counts lie in the cache ``limits``, which all web processes share; where it does not
answer, nobody is turned away.
"""

import logging
from dataclasses import dataclass
from http import HTTPStatus
from time import time

from django.conf import settings
from django.core.cache import caches
from django.utils.translation import gettext_lazy
from redis import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from scheduler_admin.accounts.models import User
from scheduler_admin.api.problems import Refusal

WINDOW_S = 60
_BY_ADDRESS = "_counted_by_address"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Standing:
    """How a client stands in this minute."""

    quota: int
    used: int
    ends_in_s: int

    @property
    def headers(self) -> dict[str, str]:
        """In the words of draft-ietf-httpapi-ratelimit-headers."""
        left = max(self.quota - self.used, 0)
        return {
            "RateLimit-Policy": f'"minute";q={self.quota};w={WINDOW_S}',
            "RateLimit": f'"minute";r={left};t={self.ends_in_s}',
        }


class TooMany(Refusal):
    """More requests than a minute has room for. The answer says when the next has."""

    status_code = HTTPStatus.TOO_MANY_REQUESTS
    default_detail = gettext_lazy("These are too many requests: wait for %(seconds)s seconds.")

    def __init__(self, standing: Standing) -> None:
        super().__init__(seconds=str(standing.ends_in_s))
        self.headers = {"Retry-After": str(standing.ends_in_s)}


class TooMuchUploaded(Refusal):
    """More than somebody may upload within an hour. The answer says when they may go on."""

    status_code = HTTPStatus.TOO_MANY_REQUESTS
    default_detail = gettext_lazy("You have uploaded as much as one may within an hour: wait for %(seconds)s seconds.")

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds=str(seconds))
        self.headers = {"Retry-After": str(seconds)}


def count(request: Request) -> Standing | None:
    """Count this request, by who asks; None where there is no limit, or nothing to count with."""
    user = request.user
    if not isinstance(user, User):
        return count_address(request)
    return _counted(f"token:{user.token.pk}" if user.token else f"user:{user.pk}", settings.API_RATE)


def count_address(request: Request) -> Standing | None:
    """Count this request by its address: once, however often it is called, so also before it is known whose it is.

    Returns None as ``count`` does.
    """
    if not hasattr(request, _BY_ADDRESS):
        standing = _counted(_address(request), settings.API_RATE_ANONYMOUS)
        setattr(request, _BY_ADDRESS, standing)
    found: Standing | None = getattr(request, _BY_ADDRESS)
    return found


def who_asks(request: Request) -> str:
    """Return a key for whose request this is: a token's, a person's, an address'."""
    user = request.user
    if not isinstance(user, User):
        return _address(request)
    return f"token:{user.token.pk}" if user.token else f"user:{user.pk}"


def _address(request: Request) -> str:
    return f"address:{BaseThrottle().get_ident(request)}"


def refuse_beyond(standing: Standing | None) -> None:
    """Raise TooMany for more than a minute has room for."""
    if standing and standing.used > standing.quota:
        raise TooMany(standing)


def _counted(who: str, quota: int) -> Standing | None:
    if not quota:
        return None
    minute, gone = divmod(int(time()), WINDOW_S)
    key = f"requests:{who}:{minute}"
    try:
        caches["limits"].add(key, 0, 2 * WINDOW_S)
        used = caches["limits"].incr(key)
    except (RedisError, OSError, ValueError):  # ValueError: the key was just dropped
        _log.warning("the cache does not answer: requests are not counted")
        return None
    return Standing(quota, used, WINDOW_S - gone)
