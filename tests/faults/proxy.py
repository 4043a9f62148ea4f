"""Between the product and a simulated API server: passes everything on until it is told to misbehave."""

import contextlib
import json
import ssl
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import urllib3

from tests.cluster.doubles import Answer, Asked, Script, Scripted, Simulated, scripted

Edit = Callable[[Asked, dict[str, Any]], None]


class Relay:
    """``fault`` does to every request what it says; ``edit`` changes answers that are lists."""

    def __init__(self, address: str) -> None:
        """``address``: of the API server, as a URL."""
        self.address = address
        self.server: Scripted
        self.fault: Script | None = None
        self.edit: Edit | None = None
        self.server_ahead_s = 0
        """How far the API server's clock is ahead."""
        self._pool = urllib3.PoolManager(maxsize=20)

    def answer(self, asked: Asked, answer: Answer) -> None:
        """One request."""
        answer.clock(self.server_ahead_s)
        (self.fault or self.passed_on)(asked, answer)

    def passed_on(self, asked: Asked, answer: Answer) -> None:
        """As if nothing stood between."""
        given = self.given(asked)
        if "watch" in asked.query and given.status == 200:
            self._stream(given, answer)
        else:
            answer.json(given.status, self._edited(asked, given.data), {"Content-Type": "application/json"})

    def given(self, asked: Asked) -> urllib3.BaseHTTPResponse:
        """What the API server answers, not read yet."""
        passed = ("Content-Type", "User-Agent")
        return self._pool.request(
            asked.method,
            f"{self.address}{asked.path}?{urlencode(asked.query)}",
            body=None if asked.body is None else json.dumps(asked.body),
            headers={"Content-Type": "application/json"} | {k: v for k, v in asked.headers.items() if k in passed},
            preload_content=False,
        )

    def _stream(self, given: urllib3.BaseHTTPResponse, answer: Answer) -> None:
        answer.begin()
        while chunk := given.read1(65_536):
            answer.raw(chunk)

    def _edited(self, asked: Asked, data: bytes) -> bytes:
        if self.edit is None or asked.method != "GET":
            return data
        found = json.loads(data)
        self.edit(asked, found)
        return json.dumps(found).encode()


class Proxy(Relay):
    """Before a simulated cluster that the test changes itself."""

    def __init__(self, simulated: Simulated) -> None:
        super().__init__(simulated.address)
        self.simulated = simulated


@contextlib.contextmanager
def proxied(simulated: Simulated, tls: ssl.SSLContext | None = None) -> Iterator[Proxy]:
    """A proxy until the block ends."""
    proxy = Proxy(simulated)
    with relayed(proxy, tls):
        yield proxy


@contextlib.contextmanager
def relayed(relay: Relay, tls: ssl.SSLContext | None = None) -> Iterator[None]:
    """It listens until the block ends."""
    with scripted(relay.answer, tls) as server:
        relay.server = server
        yield
