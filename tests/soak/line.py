"""Between the product and the API server: a line that is slow, cut, silent, or loses what it is given."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import urllib3

from tests.cluster.doubles import Answer, Asked
from tests.faults.proxy import Relay

_SLOW_S = 1.5


class Line(Relay):
    """While ``trouble`` names a fault it befalls every request, and watches that stand."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.trouble = ""
        self._streams: set[Answer] = set()

    @contextmanager
    def in_trouble(self, kind: str) -> Iterator[None]:
        """Misbehave so until the block ends."""
        self.server.asked.clear()  # nobody reads them, and an hour has many
        self.trouble, self.fault = kind, getattr(self, kind)
        if kind == "cut":
            for stream in list(self._streams):
                stream.cut()
        try:
            yield
        finally:
            self.trouble, self.fault = "", None

    def slow(self, asked: Asked, answer: Answer) -> None:
        """Every answer takes its time."""
        answer.wait(_SLOW_S)
        self.passed_on(asked, answer)

    def cut(self, asked: Asked, answer: Answer) -> None:
        """Nobody is reached."""
        answer.reset()

    def silent(self, asked: Asked, answer: Answer) -> None:
        """Connections stand, and nothing comes."""
        self._wait_healed(answer)
        answer.reset()

    def failing(self, asked: Asked, answer: Answer) -> None:
        """An API server without its etcd."""
        answer.status(500, "InternalError", "etcdserver: leader changed")

    def forgetful(self, asked: Asked, answer: Answer) -> None:
        """What is asked for is done, and its answer is lost; reads are answered."""
        if asked.method == "GET":
            self.passed_on(asked, answer)
            return
        self.given(asked)
        answer.reset()

    def _stream(self, given: urllib3.BaseHTTPResponse, answer: Answer) -> None:
        self._streams.add(answer)
        try:
            answer.begin()
            while chunk := given.read1(65_536):
                if self.trouble == "silent":
                    self._wait_healed(answer)
                answer.raw(chunk)
        finally:
            self._streams.discard(answer)
            given.close()

    def _wait_healed(self, answer: Answer) -> None:
        began = time.monotonic()
        while self.trouble == "silent" and not answer.over and time.monotonic() - began < 60:
            answer.wait(0.1)
