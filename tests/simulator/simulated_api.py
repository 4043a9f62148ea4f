"""A simulated API server in a thread of its own, and what tests say to it."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from aiohttp import web
from kubernetes import client

from simulator.api.server import create_app
from simulator.storage.store import Store
from tests.controlplane.wire import Wire
from tests.waiting import PATIENCE_S


@dataclass
class Running:
    """A server that is up: its store, and where it is."""

    store: Store
    loop: asyncio.AbstractEventLoop
    address: str
    token: str | None

    def api(self) -> client.ApiClient:
        """Return an official client of the server."""
        configuration = client.Configuration()
        configuration.host = self.address
        if self.token:
            configuration.api_key["authorization"] = self.token
            configuration.api_key_prefix["authorization"] = "Bearer"
        return client.ApiClient(configuration)

    def call(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a method of the store in the server's loop, as controllers do, and return its result."""

        async def run() -> Any:
            return fn(*args, **kwargs)

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(PATIENCE_S)


@contextlib.contextmanager
def serve(store: Store, token: str | None = None) -> Iterator[Running]:
    """Serve a store on a free port until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    running = Running(store, loop, "", token)
    runner: web.AppRunner

    async def start() -> None:
        nonlocal runner
        runner = web.AppRunner(create_app(store, token=token), handler_cancellation=True, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        running.address = "http://{}:{}".format(*runner.addresses[0][:2])

    asyncio.run_coroutine_threadsafe(start(), loop).result(PATIENCE_S)
    try:
        yield running
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(PATIENCE_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE_S)
        loop.close()


class Stream:
    """A watch, read event by event."""

    def __init__(self, wire: Wire, path: str, **query: str) -> None:
        """Begin it; the wire is its own from now on."""
        self.close = wire.close
        query = {"watch": "true", "timeoutSeconds": str(int(PATIENCE_S)), **query}
        self._events = map(json.loads, wire.lines(f"{path}?{urlencode(query)}"))

    def next(self) -> dict[str, Any]:
        """Return the next event."""
        return next(self._events)

    def rest(self) -> list[dict[str, Any]]:
        """Return all events until the server ends the stream."""
        return list(self._events)


def brief(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the type and the object's name of each event."""
    return [(event["type"], event["object"]["metadata"]["name"]) for event in events]


def pod(name: str, **spec: Any) -> dict[str, Any]:
    """Return the manifest of a small pod, which no scheduler looks after."""
    container = {"name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": "100m"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"schedulerName": "nobody", "containers": [container], **spec},
    }


def body(error: client.ApiException) -> dict[str, Any]:
    """Return the Status object of a refused request."""
    return json.loads(error.body)
