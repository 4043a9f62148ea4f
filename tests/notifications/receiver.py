"""Somebody who receives webhooks, on this machine: keeps what came, and answers as it is told."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import time_machine
from standardwebhooks.webhooks import Webhook

from tests.waiting import PATIENCE_S

SECRET = "whsec_" + "canarysecret" * 3
"""Base64 of 27 bytes."""
PATH = "/canarysecret/hook?token=canarysecret"


@dataclass
class Receiver:
    """``answers``: the statuses that come next; then 200 for ever."""

    port: int
    scheme: str = "http"
    answers: list[int] = field(default_factory=list)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    slowly: threading.Event | None = None
    """Waits for this before it answers."""

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}{PATH}"

    def verified(self, secret: str = SECRET) -> list[bytes]:
        """The bodies, once each was found to be signed as Standard Webhooks demands, by its own library."""
        for headers, body in self.got:
            with time_machine.travel(int(headers["webhook-timestamp"]), tick=False):  # it was received at once
                Webhook(secret).verify(body, headers)
        return [body for _headers, body in self.got]


@contextmanager
def receiving(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """One that listens; with ``tls`` by https."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append((dict(self.headers), body))
            if receiver.slowly is not None:
                receiver.slowly.wait(PATIENCE_S)
            status = receiver.answers.pop(0) if receiver.answers else 200
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"http://127.0.0.1:{receiver.port}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_args: Any) -> None:
            """Quietly."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver = Receiver(server.server_address[1], "https" if tls else "http")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        if receiver.slowly is not None:
            receiver.slowly.set()
        server.shutdown()
        server.server_close()
        thread.join()
