"""How many requests a web process works on at once."""

from collections.abc import Callable
from threading import BoundedSemaphore

from django.http import HttpRequest, HttpResponse

MOST = 8
"""More would not be answered any sooner, as one thread computes at a time, but would need memory at the same time.

Event streams have the other threads of the process (``rest.streams.seats``). They and downloads take a turn only until
their first byte.
"""


def in_turn(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware that lets further requests wait until one of them is answered."""
    turns = BoundedSemaphore(MOST)

    def middleware(request: HttpRequest) -> HttpResponse:
        with turns:
            return get_response(request)

    return middleware
