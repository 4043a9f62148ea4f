"""Many clusters in one process, each at a port of its own, all with the same objects and the same changes.

As in ``feeder``, what is served is ready to send, so that what is measured is who reads. Only the UID is each cluster's
own: so the memory of this process does not grow with their number. Unlike there, all who watch a cluster get the
same changes, and may begin at any that was.
"""

import asyncio
import time
from contextlib import suppress
from datetime import UTC, datetime
from multiprocessing.connection import Connection

import msgspec
from aiohttp import web

from benchmarks.feeder import BEAT_S, Feed, World
from engine.cluster.connecting.identity import SYSTEM

_PACE_S = 0.25
"""Changes are due, and go out, in groups this far apart."""
_FRESH_S = 10.0
"""Lists are made anew for who begins to read them so much later."""
_PAGE = 500
_KINDS = ("pods", "nodes", "namespaces")
"""The kinds of which there is something; of the first two something changes."""


def serve(feed: Feed, many: int, ready: Connection) -> None:
    """Serve so many clusters until killed; sends the list of their ports through ``ready``."""
    asyncio.run(_serve(feed, many, ready))


async def _serve(feed: Feed, many: int, ready: Connection) -> None:
    clusters = _Clusters(feed)
    ready.send([await _open(clusters, number) for number in range(many)])
    began = time.monotonic()
    while True:
        clusters.change(time.monotonic() - began)
        await asyncio.sleep(_PACE_S)


async def _open(clusters: "_Clusters", number: int) -> int:
    """Begin to serve one more cluster; the port."""
    app = web.Application()
    app.router.add_get("/{path:.*}", _Served(clusters, number).answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port: int = runner.addresses[0][1]
    return port


class _Clusters:
    """What all have in common: the objects, and every change since the beginning."""

    def __init__(self, feed: Feed) -> None:
        self._world = World(feed)
        self._first = self._world.version
        self._log: list[tuple[str, bytes]] = []
        """Kind and line of every change, each a version of its own."""
        self._done = {"pods": 0, "nodes": 0}
        self._lists: dict[str, list[bytes]] = {}
        self._listed_s = -_FRESH_S

    def change(self, since_s: float) -> None:
        """Make all changes that are due so many seconds after the beginning."""
        feed, at = self._world.feed, datetime.now(UTC)
        for kind, rate in (("pods", float(feed.rate)), ("nodes", feed.nodes / BEAT_S)):
            for _ in range(int(since_s * rate) - self._done[kind]):
                line = self._world.pod_change(at) if kind == "pods" else self._world.node_beat()
                self._log.append((kind, line))
                self._done[kind] += 1

    def lists(self) -> dict[str, list[bytes]]:
        """The pages of each kind, as of one moment not long ago."""
        if time.monotonic() - self._listed_s >= _FRESH_S:
            self._lists = {kind: self._pages(kind) for kind in _KINDS}
            self._listed_s = time.monotonic()
        return self._lists

    def empty(self) -> bytes:
        """The only page of a kind of which there is nothing."""
        return self._world.listed([])

    def only(self, obj: bytes) -> bytes:
        """The only page of a kind of which there is one object."""
        return self._world.listed([obj])

    def since(self, version: int, kind: str) -> bytes:
        """The lines of all changes of a kind after a version."""
        return b"".join(line for of, line in self._log[version - self._first :] if of == kind)

    @property
    def version(self) -> int:
        """The present one."""
        return self._world.version

    def bookmark(self) -> bytes:
        """A bookmark at the present version."""
        return self._world.bookmark(initial=False)

    def _pages(self, kind: str) -> list[bytes]:
        return [self._world.page(kind, start, _PAGE) for start in range(0, self._world.many(kind), _PAGE)]


class _Served:
    """One cluster."""

    def __init__(self, clusters: _Clusters, number: int) -> None:
        self._clusters = clusters
        self._reading: dict[str, list[bytes]] = {}
        """Kind -> the pages from which somebody reads it now: all of a list are of one moment."""
        meta = {"name": SYSTEM, "uid": f"00000000-0000-4000-8000-{number:012}", "resourceVersion": "1"}
        self._system = msgspec.json.encode({"metadata": meta})

    async def answer(self, request: web.Request) -> web.StreamResponse:
        kind, query = request.path.rpartition("/")[2], request.query
        if request.path.startswith("/apis/") and "x-k8s.io" in request.path:
            return web.json_response({"kind": "Status", "code": 404, "message": "no such kind"}, status=404)
        if query.get("fieldSelector") == f"metadata.name={SYSTEM}":
            return _list(self._clusters.only(self._system))
        if "watch" in query:
            return await self._watch(request, kind)
        return _list(self._page(kind, int(query.get("continue", 0))))

    def _page(self, kind: str, start: int) -> bytes:
        if kind not in _KINDS:
            return self._clusters.empty()
        if not start:
            self._reading[kind] = self._clusters.lists()[kind]
        pages = self._reading.get(kind) or self._clusters.lists()[kind]
        if start + _PAGE >= _PAGE * len(pages):
            self._reading.pop(kind, None)
        return pages[start // _PAGE]

    async def _watch(self, request: web.Request, kind: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        with suppress(ConnectionError):  # who watched may be killed
            await self._tell(response, request, kind)
        return response

    async def _tell(self, response: web.StreamResponse, request: web.Request, kind: str) -> None:
        until = time.monotonic() + int(request.query["timeoutSeconds"])
        version, changing = int(request.query["resourceVersion"]), kind in _KINDS[:2]
        while (now := time.monotonic()) < until:
            lines = self._clusters.since(version, kind) if changing else b""
            version = self._clusters.version
            if lines:
                await response.write(lines)
            await asyncio.sleep(_PACE_S if changing else until - now)
        await response.write(self._clusters.bookmark())
        await response.write_eof()


def _list(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json")
