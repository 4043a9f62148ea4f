"""A server in a process of its own, which has everything ready to send: lists, watches, and changes at a set pace.

It stands for an API server that costs nothing: what is measured is who reads. Answers are chunked as a real one's are,
an event a chunk.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from multiprocessing.connection import Connection
from random import Random
from threading import Lock
from urllib.parse import parse_qs, urlsplit

import msgspec

from benchmarks.figures import SEED
from benchmarks.real_sized import Object, Pods, claim, namespace, node, volume

BEAT_S = 300
"""A node reports its health so often, in seconds."""
_PACE_S = 0.01
"""Changes go out in groups this far apart."""
_VERSION = 10_000_000
_PAGE = 500
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
    ready.send((server.server_port, sum(map(len, world.pods.values())) // len(world.pods)))
    server.serve_forever()


class World:
    """All objects as the bytes that go over the wire, and how pods change."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        random = Random(feed.seed)
        nodes = [node(number, random) for number in range(feed.nodes)]
        names = [one["metadata"]["name"] for one in nodes]
        self.nodes = {str(number): msgspec.json.encode(one) for number, one in enumerate(nodes)}
        placing = Random(feed.seed)
        still = {
            "namespaces": [namespace(number, placing) for number in range(feed.namespaces)],
            "persistentvolumeclaims": [claim(number, placing) for number in range(feed.claims)],
            "persistentvolumes": [volume(number, names, placing) for number in range(feed.claims)],
        }
        self.still = {
            kind: {str(number): msgspec.json.encode(one) for number, one in enumerate(made)}
            for kind, made in still.items()
        }
        """Kinds of which nothing changes."""
        self._maker = Pods(names, feed.seed)
        self._random = random
        self._made = feed.pods
        made = sorted((self._maker.make(number) for number in range(feed.pods)), key=_place)  # as a server lists them
        self.pods = {str(number): msgspec.json.encode(one) for number, one in enumerate(made)}
        self._live = list(self.pods)
        self.version = _VERSION
        self.lock = Lock()

    def _new(self, number: int) -> bytes:
        return msgspec.json.encode(self._maker.make(number))

    def pod_change(self, at: datetime) -> bytes:
        """The next change: half change something that is read, a fifth nothing, the others come and go in turn.

        ``at`` is stamped into the start of those that have one.
        """
        self.version += 1
        kind = self._random.choices(("MODIFIED", "BEAT", "ADDED", "DELETED"), (50, 20, 15, 15))[0]
        if kind == "ADDED":
            self._made += 1
            self._live.append(str(self._made))
            self.pods[self._live[-1]] = self._new(self._made)
        place = -1 if kind == "ADDED" else self._random.randrange(len(self._live))
        key = self._live[place]
        if kind == "DELETED":
            self._live[place] = self._live[-1]
            self._live.pop()
            return self._line(kind, self.pods.pop(key))
        if kind == "BEAT":
            return self._line("MODIFIED", self.pods[key])
        self.pods[key] = _set(self.pods[key], b"startTime", f"{at:%Y-%m-%dT%H:%M:%S.%f}Z")
        return self._line(kind, self.pods[key])

    def node_beat(self) -> bytes:
        """A node reports that it is well: nothing that is read changes."""
        self.version += 1
        return self._line("MODIFIED", self.nodes[str(self._random.randrange(len(self.nodes)))])

    def _line(self, kind: str, obj: bytes) -> bytes:
        return b'{"type":"%s","object":%s}\n' % (kind.encode(), _set(obj, b"resourceVersion", str(self.version)))

    def bookmark(self, *, initial: bool) -> bytes:
        """A bookmark at the present version."""
        meta: dict[str, object] = {"resourceVersion": str(self.version)}
        if initial:
            meta["annotations"] = {"k8s.io/initial-events-end": "true"}
        return json.dumps({"type": "BOOKMARK", "object": {"metadata": meta}}).encode() + b"\n"

    def page(self, objects: dict[str, bytes], start: int, limit: int) -> bytes:
        """One page of a list."""
        items = list(islice(objects.values(), start, start + limit))
        end = start + len(items)
        more = str(end) if end < len(objects) else ""
        head = json.dumps({"resourceVersion": str(self.version), "continue": more}).encode()
        return b'{"kind":"List","metadata":%s,"items":[%s]}' % (head, b",".join(items))


def _place(pod: Object) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]


def _set(obj: bytes, field: bytes, value: str) -> bytes:
    """The object with another text in the first such field; as it was where there is none."""
    before, name, after = obj.partition(b'"%s":"' % field)
    return before + name + value.encode() + after[after.index(b'"') :] if name else obj


def _pieces(objects: Iterable[bytes]) -> Iterator[list[bytes]]:
    objects = iter(objects)
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
        objects = {"pods": self.world.pods, "nodes": self.world.nodes, **self.world.still}.get(kind, {})
        if "watch" not in query:
            body = self.world.page(objects, int(query.get("continue", 0)), int(query.get("limit", _PAGE)))
            self._head({"Content-Length": str(len(body))})
            self.wfile.write(body)
            return
        self._head({"Transfer-Encoding": "chunked"})
        until = time.monotonic() + int(query["timeoutSeconds"])
        if "sendInitialEvents" in query:
            for some in _pieces(objects.values()):
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
                if kind == "pods":
                    yield [world.pod_change(at) for _ in range(due - sent)]
                else:
                    yield [world.node_beat() for _ in range(due - sent)]
            sent = due
            time.sleep(_PACE_S if rate else max(0.0, until - now))
        with world.lock:
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
