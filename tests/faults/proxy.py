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


class Proxy:
    """``fault`` does to every request what it says; ``edit`` changes answers that are lists."""

    def __init__(self, simulated: Simulated) -> None:
        self.simulated = simulated
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
        body = None if asked.body is None else json.dumps(asked.body)
        kind = {"Content-Type": asked.headers.get("Content-Type", "application/json")}
        given = self._pool.request(
            asked.method,
            f"{self.simulated.address}{asked.path}?{urlencode(asked.query)}",
            body=body,
            headers=kind,
            preload_content=False,
        )
        if "watch" in asked.query and given.status == 200:
            self._stream(given, answer)
        else:
            answer.json(given.status, self._edited(asked, given.data), {"Content-Type": "application/json"})

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


@contextlib.contextmanager
def proxied(simulated: Simulated, tls: ssl.SSLContext | None = None) -> Iterator[Proxy]:
    """A proxy until the block ends."""
    proxy = Proxy(simulated)
    with scripted(proxy.answer, tls) as server:
        proxy.server = server
        yield proxy
