"""A server in a process of its own, which has everything ready to send: lists, watches, and changes at a set pace.

It stands for an API server that costs little: what is measured is who reads. Answers are chunked as a real one's are,
an event a chunk. No object is stored, so that a cluster of any size can be served: the JSON of each is made as it is
sent, from what it shares with others and from its number.
"""

import json
import os
import time
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from multiprocessing.connection import Connection
from random import Random
from threading import Lock
from urllib.parse import parse_qs, urlsplit

from benchmarks.figures import SEED
from benchmarks.real_pods import Pods
from benchmarks.real_sized import STAMP, Objects, claims, namespaces, nodes, volumes

BEAT_S = 300
"""A node reports its health so often, in seconds."""
_PACE_S = 0.01
"""Changes go out in groups this far apart."""
_VERSION = 10_000_000
_PAGE = 500
_SAMPLE = 10_000
_START = STAMP.encode()
_PIECE = 50
"""Initial events go out so many at once, as they do where the server is ahead of the connection."""


@dataclass(frozen=True, kw_only=True)
class Feed:
    """What is served."""

    nodes: int
    pods: int
    rate: int
    """Changes of pods a second."""
    claims: int = 0
    """Each with its volume."""
    namespaces: int = 0
    seed: int = SEED
    core: int | None = None
    """The core that the server keeps to; None: any."""


def serve(feed: Feed, ready: Connection) -> None:
    """Serve until killed; sends the port, and the mean size of a pod in bytes, through ``ready``."""
    if feed.core is not None:
        os.sched_setaffinity(0, {feed.core})
    world = World(feed)

    class Handler(_Handler):
        """Of this world."""

    Handler.world = world
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    ready.send((server.server_port, world.pod_size()))
    server.serve_forever()


class World:
    """All objects as the bytes that go over the wire, and how pods change."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self._still: dict[str, tuple[Objects, int]] = {
            "nodes": (nodes(feed.seed), feed.nodes),
            "namespaces": (namespaces(feed.seed), feed.namespaces),
            "persistentvolumeclaims": (claims(feed.seed), feed.claims),
            "persistentvolumes": (volumes(feed.nodes, feed.seed), feed.claims),
        }
        """Kinds of which nothing changes, and how many objects each has."""
        self._pods = Pods(feed.pods, feed.nodes, feed.seed)
        self._random = Random(feed.seed)
        self._made = feed.pods
        self._live = array("L", range(feed.pods))
        """The numbers of the pods that there are."""
        self._changed: dict[int, tuple[int, bytes]] = {}
        """Number -> version and start, of pods that have changed."""
        self.version = _VERSION
        self.lock = Lock()

    def pod_change(self, at: datetime) -> bytes:
        """The next change: half change something that is read, a fifth nothing, the others come and go in turn.

        ``at`` is stamped into the start of those that have one.
        """
        self.version += 1
        chosen = self._random.random()
        if 0.70 <= chosen < 0.85:  # noqa: PLR2004 - a share of all changes, as below
            self._made += 1
            self._live.append(self._made)
            return self._changed_pod("ADDED", self._made, at)
        place = self._random.randrange(len(self._live))
        number = self._live[place]
        if chosen >= 0.85:  # noqa: PLR2004
            self._live[place] = self._live[-1]
            self._live.pop()
            _, start = self._changed.pop(number, (0, _START))
            return _line("DELETED", self._pods.json(number, self.version, start))
        return self._changed_pod("MODIFIED", number, at if chosen < 0.5 else None)  # noqa: PLR2004

    def _changed_pod(self, kind: str, number: int, at: datetime | None) -> bytes:
        _, start = self._changed.get(number, (0, _START))
        start = start if at is None else f"{at:%Y-%m-%dT%H:%M:%S.%f}Z".encode()
        self._changed[number] = self.version, start
        return _line(kind, self._pods.json(number, self.version, start))

    def node_beat(self) -> bytes:
        """A node reports that it is well: nothing that is read changes."""
        self.version += 1
        made, many = self._still["nodes"]
        return _line("MODIFIED", made.json(self._random.randrange(many), self.version))

    def bookmark(self, *, initial: bool) -> bytes:
        """A bookmark at the present version."""
        meta: dict[str, object] = {"resourceVersion": str(self.version)}
        if initial:
            meta["annotations"] = {"k8s.io/initial-events-end": "true"}
        return json.dumps({"type": "BOOKMARK", "object": {"metadata": meta}}).encode() + b"\n"

    def page(self, kind: str, start: int, limit: int) -> bytes:
        """One page of a list."""
        end = start + limit
        return self.listed(self.objects(kind, start, end), str(end) if end < self.many(kind) else "")

    def listed(self, items: Iterable[bytes], more: str = "") -> bytes:
        """A list of some objects; ``more``: where to continue, if there are more."""
        head = json.dumps({"resourceVersion": str(self.version), "continue": more}).encode()
        return b'{"kind":"List","metadata":%s,"items":[%s]}' % (head, b",".join(items))

    def objects(self, kind: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """The objects of a kind, or a part of them."""
        if kind == "pods":
            for number in self._live[start:end]:
                yield self._pods.json(number, *self._changed.get(number, (_VERSION, _START)))
        elif kind in self._still:
            made, many = self._still[kind]
            yield from map(made.json, range(many)[start:end])

    def pod_size(self) -> int:
        """The mean size of a pod in bytes."""
        some = Random(self.feed.seed).sample(range(len(self._live)), min(len(self._live), _SAMPLE))
        return sum(len(self._pods.json(number, _VERSION, _START)) for number in some) // len(some)

    def many(self, kind: str) -> int:
        """How many objects of a kind there are."""
        return len(self._live) if kind == "pods" else self._still[kind][1] if kind in self._still else 0


def _line(kind: str, obj: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (kind.encode(), obj)


def _pieces(objects: Iterator[bytes]) -> Iterator[list[bytes]]:
    while piece := list(islice(objects, _PIECE)):
        yield piece


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    world: World

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        kind = parts.path.rpartition("/")[2]
        if "watch" not in query:
            body = self.world.page(kind, int(query.get("continue", 0)), int(query.get("limit", _PAGE)))
            self._head({"Content-Length": str(len(body))})
            self.wfile.write(body)
            return
        with suppress(ConnectionError):  # who watches may stop at any time
            self._watched(kind, query)

    def _watched(self, kind: str, query: dict[str, str]) -> None:
        self._head({"Transfer-Encoding": "chunked"})
        until = time.monotonic() + int(query["timeoutSeconds"])
        if "sendInitialEvents" in query:
            for some in _pieces(self.world.objects(kind)):
                self._chunks(b'{"type":"ADDED","object":%s}\n' % obj for obj in some)
            self._chunks([self.world.bookmark(initial=True)])
        for lines in self._changes(kind, until):
            self._chunks(lines)
        self.wfile.write(b"0\r\n\r\n")

    def _changes(self, kind: str, until: float) -> Iterator[list[bytes]]:
        """Groups of lines, each at its time; one that could not be sent in time is stamped with when it was due."""
        world = self.world
        rate = {"pods": world.feed.rate, "nodes": world.feed.nodes / BEAT_S}.get(kind, 0)
        began, wall, sent = time.monotonic(), time.time(), 0
        while (now := time.monotonic()) < until:
            due = int((now - began) * rate)
            at = datetime.fromtimestamp(wall + (sent / rate if rate else 0), UTC)
            with world.lock:
                change = partial(world.pod_change, at) if kind == "pods" else world.node_beat
                lines = [change() for _ in range(due - sent)]
            yield lines  # sending them may take long where the reader is slow
            sent = due
            time.sleep(_PACE_S if rate else max(0.0, until - now))
        yield [world.bookmark(initial=False)]

    def _head(self, headers: dict[str, str]) -> None:
        self.send_response(200)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunks(self, lines: Iterable[bytes]) -> None:
        self.wfile.write(b"".join(b"%x\r\n%s\r\n" % (len(line), line) for line in lines))

    def log_message(self, *_: object) -> None:
        """Be quiet."""
