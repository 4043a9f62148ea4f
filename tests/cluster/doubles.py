"""What the tests of engine.cluster talk to: the simulator, and a server that misbehaves on demand."""

import asyncio
import contextlib
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from aiohttp import web

from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.timing import Clock
from simulator.api.server import AuditRecord, create_app
from simulator.storage.store import Store
from tests.waiting import PATIENCE_S, join


class ManualClock(Clock):
    """Time that passes only when told to."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def wall_ms(self) -> int:
        return 1_767_268_800_000 + int(self.now_s * 1000)

    def steady_s(self) -> float:
        return self.now_s


@dataclass
class Simulated:
    """A simulated cluster that is served over HTTP."""

    store: Store
    loop: asyncio.AbstractEventLoop
    address: str = ""
    audit: list[AuditRecord] = field(default_factory=list)

    def connection(self, **settings: Any) -> Connection:
        return Connection(ConnectionSettings(address=self.address, **settings))

    def call(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a method of the store in the server's loop."""

        async def run() -> Any:
            return fn(*args, **kwargs)

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(PATIENCE_S)

    def create(self, key: str, obj: dict[str, Any]) -> dict[str, Any]:
        return self.call(self.store.create, key, obj)

    def get(self, key: str, namespace: str | None, name: str) -> dict[str, Any]:
        return self.call(self.store.get, key, namespace, name)

    def change(self, key: str, namespace: str | None, name: str, fn: Callable[[dict[str, Any]], object]) -> Any:
        return self.call(self.store.mutate, key, namespace, name, fn)

    def add_node(self, name: str = "n1") -> dict[str, Any]:
        self.create("nodes", {"metadata": {"name": name}})
        capacity = {"cpu": "4", "memory": "8Gi", "pods": "110"}
        ready = [{"type": "Ready", "status": "True"}]
        status = {"allocatable": capacity, "conditions": ready}
        return self.change("nodes", None, name, lambda node: node.update(status=status))

    def add_pod(self, name: str = "p1", *, node: str = "", **spec: Any) -> dict[str, Any]:
        container = {"name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": "1"}}}
        placed = {"nodeName": node} if node else {}
        return self.create(
            "pods",
            {
                "metadata": {"name": name, "namespace": "default", "labels": {"app": name}},
                "spec": {"containers": [container], **placed, **spec},
            },
        )


@contextlib.contextmanager
def simulate(store: Store | None = None) -> Iterator[Simulated]:
    """Serve a simulated cluster until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    simulated = Simulated(store or Store(lambda: datetime.now(UTC), seed=1), loop)

    async def start() -> web.AppRunner:
        app = create_app(simulated.store, audit=simulated.audit.append)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        simulated.address = "http://{}:{}".format(*runner.addresses[0][:2])
        return runner

    runner = asyncio.run_coroutine_threadsafe(start(), loop).result(PATIENCE_S)
    try:
        yield simulated
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(PATIENCE_S)
        loop.call_soon_threadsafe(loop.stop)
        join(thread, "the server's end")
        loop.close()


@dataclass
class Asked:
    """One request that a scripted server received."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str]


class Answer:
    """What a script does with one request; everything that can go wrong on a wire is a method."""

    def __init__(self, handler: BaseHTTPRequestHandler, ended: threading.Event) -> None:
        self._handler = handler
        self._ended = ended

    def json(self, code: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._handler.send_response(code)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self._handler.send_header(name, value)
        self._handler.end_headers()
        self._handler.wfile.write(data)

    def status(self, code: int, reason: str = "", message: str = "", **details: Any) -> None:
        headers = details.pop("headers", None)
        self.json(
            code, {"kind": "Status", "code": code, "reason": reason, "message": message, "details": details}, headers
        )

    def begin(self) -> None:
        """Begin an answer that ends when the connection does."""
        self._handler.send_response(200)
        self._handler.send_header("Connection", "close")
        self._handler.end_headers()
        self._handler.close_connection = True

    def line(self, event: Any) -> None:
        self.raw(json.dumps(event).encode() + b"\n")

    def raw(self, data: bytes) -> None:
        self._handler.wfile.write(data)
        self._handler.wfile.flush()

    def close_with(self, data: bytes) -> None:
        """Send a whole answer, headers included, and end the connection."""
        self.raw(data)
        self._handler.close_connection = True

    def hang(self) -> None:
        """Say nothing more, with the connection open, until the test ends."""
        self._ended.wait(PATIENCE_S)

    def clock(self, ahead_s: float) -> None:
        """What is answered from now on says that it is later than it is."""
        self._handler.date_time_string = lambda *_at: formatdate(time.time() + ahead_s, usegmt=True)

    def dated(self, date: str) -> None:
        """What is answered from now on says that it is of this time, which may be none."""
        self._handler.date_time_string = lambda *_at: date

    @property
    def over(self) -> bool:
        """Whether the test has ended."""
        return self._ended.is_set()

    def wait(self, seconds: float) -> None:
        """Say nothing for so long, or until the test ends."""
        self._ended.wait(seconds)

    def cut(self) -> None:
        """End the connection at once, whichever thread is answering."""
        with contextlib.suppress(OSError):
            self._handler.connection.shutdown(socket.SHUT_RDWR)

    def reset(self) -> None:
        """Break the connection with a TCP reset."""
        connection = self._handler.connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        self._handler.close_connection = True


Script = Callable[[Asked, Answer], None]


@dataclass
class Scripted:
    """An HTTP server that does to each request what the script says."""

    script: Script
    address: str = ""
    asked: list[Asked] = field(default_factory=list)

    def connection(self, **settings: Any) -> Connection:
        return Connection(ConnectionSettings(address=self.address, **settings))


@contextlib.contextmanager
def scripted(script: Script, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> Iterator[Scripted]:
    """Serve a script until the block ends."""
    server, ended = Scripted(script), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each answer waits 40 ms for the client to say that it has the head

        def answer(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            sent = self.rfile.read(length).decode()
            body = json.loads(sent) if sent.startswith(("{", "[")) else sent or None
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            asked = Asked(self.command, parts.path, query, body, dict(self.headers))
            server.asked.append(asked)
            with contextlib.suppress(OSError):
                server.script(asked, Answer(self, ended))

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - the names that http.server calls

        def log_message(self, *args: Any) -> None:
            """Be quiet."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *args: Any) -> None:
            """Broken connections are what the scripts are for."""

    http = Server((host, 0), Handler)
    if tls is not None:
        http.socket = tls.wrap_socket(http.socket, server_side=True)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    server.address = f"http{'s' if tls else ''}://{host}:{http.server_port}"
    try:
        yield server
    finally:
        ended.set()
        http.shutdown()
        http.server_close()
        join(thread, "the server's end")
