"""One kept connection to an API server, as the tests' own hand uses it: what is under test has its own."""

import http.client
import json
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.waiting import PATIENCE_S

AGENT = "tests-own-hand"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
_KEPT_S = 5.0
"""An idle connection that is older is opened anew: a server may close it while a request is on its way."""


class Wire:
    """Sends one request after the other; not to be shared between threads, except that any may ``close`` it."""

    def __init__(self, address: str, token: str = "", ca: Path | None = None) -> None:
        """``address``: http or https; ``ca``: the file with the authority that the server's certificate is of."""
        self._host = urlsplit(address).netloc
        self._tls = ssl.create_default_context(cafile=str(ca)) if address.startswith("https:") else None
        self._headers = {"User-Agent": AGENT, **({"Authorization": f"Bearer {token}"} if token else {})}
        self._connection, self._used_s = self._opened(PATIENCE_S), 0.0

    def send(
        self, method: str, path: str, body: Mapping[str, Any] | bytes | None = None, media: str = "application/json"
    ) -> tuple[int, Any]:
        """The code and the document (or the bytes, when it is none) of the answer. Raises OSError."""
        data = json.dumps(body).encode() if isinstance(body, Mapping) else body
        headers = {**self._headers, **({"Content-Type": media} if data else {})}
        if time.monotonic() - self._used_s > _KEPT_S:
            self.close()
        try:
            self._connection.request(method, path, data, headers)
            answer = self._connection.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            # It was kept too long. What may have landed is not sent twice: the answer would differ.
            self.close()
            if method != "GET":
                raise
            self._connection.request(method, path, data, headers)
            answer = self._connection.getresponse()
        text = answer.read()
        self._used_s = time.monotonic()
        return answer.status, json.loads(text) if text.startswith(b"{") else text

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of an answer that does not end; until it does, or the wire is closed. Raises OSError."""
        self._connection = self._opened(None)
        self._connection.request("GET", path, headers=self._headers)
        return _lines(self._connection.getresponse())

    def close(self) -> None:
        """End it; who reads from it is woken."""
        if self._connection.sock is not None:
            with suppress(OSError):
                self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _opened(self, timeout_s: float | None) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, timeout=timeout_s)
        return http.client.HTTPSConnection(self._host, timeout=timeout_s, context=self._tls)


def _lines(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    with suppress(OSError, http.client.HTTPException, ValueError, AttributeError):  # closed meanwhile
        while (line := answer.readline()).endswith(b"\n"):  # who closes it meanwhile leaves a part of a line
            yield line
