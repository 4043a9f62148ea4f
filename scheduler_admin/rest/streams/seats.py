"""How many may follow a stream at once: each holds a thread of the web process, and pages need theirs."""

import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from threading import Lock

from django.utils.translation import gettext_lazy

from scheduler_admin.rest.problems import Refusal

MOST = 20
"""Streams of one web process. It has that many threads beside those for everything else (gunicorn's ``--threads``)."""
MOST_EACH = 5
"""Of one token, or of one person who is signed in."""
_RETRY_S = 10

_taken: Counter[str] = Counter()
_lock = Lock()


class UnwelcomeError(Exception):
    """Who follows a stream may not any longer."""


class TooManyOwn(Refusal):
    """More streams than one may follow."""

    kind = "too-many-streams"
    status_code = HTTPStatus.TOO_MANY_REQUESTS
    default_detail = gettext_lazy("You already follow %(most)s streams. Close one first.")

    def __init__(self) -> None:
        super().__init__(most=str(MOST_EACH))
        self.headers = {"Retry-After": str(_RETRY_S)}


class NoSeat(Refusal):
    """More streams than the process has room for."""

    kind = "no-free-stream"
    status_code = HTTPStatus.SERVICE_UNAVAILABLE
    default_detail = gettext_lazy("Too many streams are open. Try again in %(seconds)s seconds.")

    def __init__(self) -> None:
        super().__init__(seconds=str(_RETRY_S))
        self.headers = {"Retry-After": str(_RETRY_S)}


@dataclass(frozen=True)
class Seat:
    """One that somebody has taken."""

    who: str

    def leave_with(self, stream: object) -> Callable[[], object]:
        """It is free again once ``stream`` is forgotten, or what is returned is called."""
        return weakref.finalize(stream, _leave, self.who)


def take(who: str) -> Seat:
    """Take a seat. Raises TooManyOwn or NoSeat."""
    with _lock:
        if _taken[who] >= MOST_EACH:
            raise TooManyOwn
        if _taken.total() >= MOST:
            raise NoSeat
        _taken[who] += 1
    return Seat(who)


def taken() -> int:
    """How many are followed now."""
    with _lock:
        return _taken.total()


def _leave(who: str) -> None:
    with _lock:
        _taken[who] -= 1
        if not _taken[who]:
            del _taken[who]
