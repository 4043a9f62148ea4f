"""Many clusters in one process, each at an address of its own, every one with its own pods, nodes and changes.

As ``feeder``: what is served is ready to send, so that what is measured is who reads. Unlike there, all who watch a
cluster are told the same changes, and may begin at any that was.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from multiprocessing.connection import Connection

import msgspec
from aiohttp import web

from benchmarks.feeder import BEAT_S, Feed, World
from engine.cluster.connecting.identity import SYSTEM

_PACE_S = 0.25
"""Changes are due, and go out, in groups this far apart."""


def serve(feeds: list[Feed], ready: Connection) -> None:
    """Serve until killed; sends a list of ports, one for each feed, through ``ready``."""
    asyncio.run(_serve(feeds, ready))


async def _serve(feeds: list[Feed], ready: Connection) -> None:
    clusters = [_Served(number, feed) for number, feed in enumerate(feeds)]
    ports = [await one.open() for one in clusters]
    ready.send(ports)
    began = time.monotonic()
    while True:
        for one in clusters:
            one.change(time.monotonic() - began)
        await asyncio.sleep(_PACE_S)


class _Served:
    """One cluster: its objects, and every change since it began."""

    def __init__(self, number: int, feed: Feed) -> None:
        self._world = World(feed)
        self._first = self._world.version
        self._log: list[tuple[str, bytes]] = []
        """Kind and line of every change, each a version of its own."""
        self._done = {"pods": 0, "nodes": 0}
        meta = {"name": SYSTEM, "uid": f"00000000-0000-4000-8000-{number:012}", "resourceVersion": "1"}
        self._system = msgspec.json.encode({"metadata": meta})

    async def open(self) -> int:
        """Begin to serve; the port."""
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port: int = runner.addresses[0][1]
        return port

    def change(self, since_s: float) -> None:
        """Make all changes that are due so many seconds after the beginning."""
        feed, at = self._world.feed, datetime.now(UTC)
        for kind, rate in (("pods", float(feed.rate)), ("nodes", feed.nodes / BEAT_S)):
            for _ in range(int(since_s * rate) - self._done[kind]):
                line = self._world.pod_change(at) if kind == "pods" else self._world.node_beat()
                self._log.append((kind, line))
                self._done[kind] += 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        kind, query = request.path.rpartition("/")[2], request.query
        world = self._world
        if request.path.startswith("/apis/") and "x-k8s.io" in request.path:
            return web.json_response({"kind": "Status", "code": 404, "message": "no such kind"}, status=404)
        if query.get("fieldSelector") == f"metadata.name={SYSTEM}":
            return _list(world.listed([self._system]))
        if "watch" in query:
            return await self._watch(request, kind)
        return _list(world.page(kind, int(query.get("continue", 0)), int(query.get("limit", 500))))

    async def _watch(self, request: web.Request, kind: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        with suppress(ConnectionError):  # who watched may be killed
            await self._tell(response, request, kind)
        return response

    async def _tell(self, response: web.StreamResponse, request: web.Request, kind: str) -> None:
        until = time.monotonic() + int(request.query["timeoutSeconds"])
        at = int(request.query["resourceVersion"]) - self._first
        while (now := time.monotonic()) < until:
            lines = b"".join(self._since(at, kind))
            at = len(self._log)
            if lines:
                await response.write(lines)
            await asyncio.sleep(_PACE_S if kind in self._done else until - now)
        await response.write(self._world.bookmark(initial=False))
        await response.write_eof()

    def _since(self, at: int, kind: str) -> Iterator[bytes]:
        return (line for of, line in self._log[at:] if of == kind)


def _list(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json")
