"""A stream of server-sent events (text/event-stream): pieces as they come, a sign of life between, an end."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from scheduler_admin.rest.streams.seats import Seat, UnwelcomeError

MEDIA_TYPE = "text/event-stream"
LOOK_EVERY_S = 1.0
HEARTBEAT_S = 15.0
_RETRY_MS = 3_000


class Piece(NamedTuple):
    """Something to send, and the number up to which the reader has everything then."""

    number: int
    text: str = ""


def event(kind: str, number: int, body: Any) -> str:
    """One event."""
    return f"id: {number}\nevent: {kind}\ndata: {json.dumps(body, separators=(',', ':'))}\n\n"


class Stream:
    """What is sent. Whoever reads it sits on ``seat`` until it is closed, or forgotten."""

    def __init__(self, seat: Seat, after: int, lasts_s: float, news: Callable[[int], Iterator[Piece]]) -> None:
        self.close = seat.leave_with(self)
        self._after, self._lasts_s, self._news = after, lasts_s, news

    def __iter__(self) -> Iterator[str]:
        """First of all where it begins, so that who is cut off before the first event goes on there."""
        yield f"retry: {_RETRY_MS}\nid: {self._after}\n\n"
        ends = time.monotonic() + self._lasts_s
        told = time.monotonic()
        while True:
            try:
                for text in self._pieces():
                    told = time.monotonic()
                    yield text
            except UnwelcomeError:
                return
            left = ends - time.monotonic()
            if left <= 0:
                return
            if time.monotonic() - told >= HEARTBEAT_S:
                told = time.monotonic()
                yield f": still here\nid: {self._after}\n\n"
            time.sleep(min(LOOK_EVERY_S, left))

    def _pieces(self) -> Iterator[str]:
        for piece in self._news(self._after):
            self._after = piece.number
            if piece.text:
                yield piece.text
