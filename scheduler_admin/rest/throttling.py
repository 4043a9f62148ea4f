"""How much of the API anyone may use in a minute: a token, a person, or, of those who can't sign in, an address.

How much they upload and for how long they keep us at work is counted with what they do in a browser.
"""

from dataclasses import dataclass
from http import HTTPStatus

from django.conf import settings
from django.utils.translation import gettext_lazy
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from scheduler_admin.accounts.allowances import announced, wait_to_upload, wait_to_work
from scheduler_admin.accounts.models import User
from scheduler_admin.core.counters import REQUESTS, who_is
from scheduler_admin.rest.problems import Refusal

_BY_ADDRESS = "_counted_by_address"


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
            "RateLimit-Policy": f'"minute";q={self.quota};w={REQUESTS.lasts_s}',
            "RateLimit": f'"minute";r={left};t={self.ends_in_s}',
        }


class TooMany(Refusal):
    """More requests than a minute has room for. The answer says when the next has."""

    kind = "too-many-requests"
    status_code = HTTPStatus.TOO_MANY_REQUESTS
    default_detail = gettext_lazy("Too many requests. Wait %(seconds)s seconds.")

    def __init__(self, standing: Standing) -> None:
        super().__init__(seconds=str(standing.ends_in_s))
        self.headers = {"Retry-After": str(standing.ends_in_s)}


class TooMuchUploaded(Refusal):
    """More than somebody may upload within an hour. The answer says when they may go on."""

    kind = "upload-limit"
    status_code = HTTPStatus.TOO_MANY_REQUESTS
    default_detail = gettext_lazy("You have reached the upload limit per hour. Wait %(seconds)s seconds.")

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds=str(seconds))
        self.headers = {"Retry-After": str(seconds)}


class TooMuchWork(TooMuchUploaded):
    """More of our time than somebody may take within a minute. The answer says when they may go on."""

    kind = "processing-time-limit"
    default_detail = gettext_lazy(
        "Your requests have reached the processing time limit per minute. Wait %(seconds)s seconds."
    )


def count(request: Request) -> Standing | None:
    """Count this request, by who asks; None where there is no limit, or nothing to count with."""
    who = who_is(request)
    return _counted(who, settings.API_RATE) if who else count_address(request)


def count_address(request: Request) -> Standing | None:
    """Count this request by its address: once, however often it is called, so also before it is known whose it is.

    Returns None as ``count`` does.
    """
    if not hasattr(request, _BY_ADDRESS):
        standing = _counted(f"address:{BaseThrottle().get_ident(request)}", settings.API_RATE_ANONYMOUS)
        setattr(request, _BY_ADDRESS, standing)
    found: Standing | None = getattr(request, _BY_ADDRESS)
    return found


def refuse_beyond(standing: Standing | None) -> None:
    """Raise TooMany for more than a minute has room for."""
    if standing and standing.used > standing.quota:
        raise TooMany(standing)


def refuse_too_much(request: Request, usual: int) -> None:
    """Raise TooMuchUploaded for a body of more than the ``usual`` bytes beyond what one may, TooMuchWork likewise."""
    size = announced(request)
    if size > usual and isinstance(request.user, User) and (seconds := wait_to_upload(request.user, size)):
        raise TooMuchUploaded(seconds)
    if seconds := wait_to_work(who_is(request)):
        raise TooMuchWork(seconds)


def _counted(who: str, quota: int) -> Standing | None:
    counted = REQUESTS.add(who) if quota else None
    return Standing(quota, counted.used, counted.ends_in_s) if counted else None
