"""Reads all objects of a kind, page by page or as a stream, whichever the server offers."""

import logging
import threading
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import msgspec

from engine.cluster.connecting.connection import Connection, Query, ResponseStream
from engine.cluster.connecting.paging import pages
from engine.cluster.errors import ApiFailure, ConnectionFailure, failure
from engine.cluster.watching.tables import WatchedKind
from engine.formats.kubernetes.decode import DecodeError
from engine.formats.kubernetes.wire import Bookmark, Identity, ListPage, NamedObject, WatchEvent
from engine.formats.undecodable import UNDECODABLE

log = logging.getLogger(__name__)

NOTHING: Mapping[Any, Any] = MappingProxyType({})
_INITIAL_EVENTS_END = "k8s.io/initial-events-end"
_REFUSED = (400, 422)
"""The codes of servers that do not support streamed lists, or have them turned off."""


@dataclass(frozen=True, kw_only=True)
class ReflectorSettings:
    """The settings for watching a kind."""

    streamed: bool = False
    """Whether lists are streamed where the server offers that, which saves it memory.

    Off by default: 150,000 pods in pages cost half the CPU time here that they cost as single events
    (docs/performance.md).
    """
    page: int = 500
    """Objects per page of a list: bounds the cost of an answer on both sides."""
    watch_s: int = 20
    """Seconds after which the server ends a watch: a kind that never changes gives no other sign of life."""
    idle_margin_s: float = 5.0
    """Seconds of silence beyond ``watch_s`` after which the connection counts as dead."""
    shortest_watch_s: float = 1.0
    """A watch that ends sooner without events counts as a failure; otherwise a broken proxy would be flooded."""
    list_timeout_s: float = 60.0
    """How many seconds one page, or all of a streamed list, may take."""
    list_idle_s: float = 10.0
    """Seconds of silence after which streaming counts as unsupported: servers that ignore it never end the list."""


@dataclass
class Listing:
    """All objects of a kind at one version."""

    objects: dict[Hashable, Any] = field(default_factory=dict)
    unread: dict[Hashable, msgspec.Raw] = field(default_factory=dict)
    """The objects that could not be read."""
    odd: dict[str, str] = field(default_factory=dict)
    """``Kind namespace/name`` of each unreadable object, including those without an identity -> the reason."""
    version: str = ""


class _NotStreamedError(Exception):
    """Raised when the server can't stream this list."""


class Lister:
    """Lists one kind. ``stop`` may be called from any thread; the listing that it ends is incomplete."""

    def __init__(self, connection: Connection, table: WatchedKind, settings: ReflectorSettings) -> None:
        self._connection = connection
        self._table = table
        self.path = table.path
        """The path of its lists and watches."""
        self._settings = settings
        self.streams = settings.streamed
        """Whether the next list is requested as a stream: until the server turns out not to offer that."""
        self._named = msgspec.json.Decoder(NamedObject)
        self._pages = msgspec.json.Decoder(ListPage)
        self._events = msgspec.json.Decoder(WatchEvent)
        self._bookmarks = msgspec.json.Decoder(Bookmark)
        self._stopping = threading.Event()
        self._known = NOTHING
        self._stream: ResponseStream | None = None

    def stop(self) -> None:
        """Stop reading, also in the middle of a list."""
        self._stopping.set()
        if (stream := self._stream) is not None:
            stream.close()

    def turn(self) -> None:
        """Switch to the path of the next version, as the kind is not served at this path."""
        paths = (self._table.path, *self._table.older)
        self.path = paths[(paths.index(self.path) + 1) % len(paths)]

    def read(self, known: Mapping[Any, Any] = NOTHING) -> Listing | None:
        """Return all objects as of one version; None when stopped. Raises ApiFailure and ConnectionFailure.

        ``known``: the objects as they were read last, by their keys. An object that is still the same is returned as
        the identical object: it needs no more memory, and passes that know it need not process it again.
        """
        self._known = known
        try:
            return self._read()
        finally:
            self._known = NOTHING

    def _read(self) -> Listing | None:
        if self.streams:
            try:
                return self._from_stream()
            except _NotStreamedError as why:
                log.info("Reading %s objects in pages from now on, because streaming failed: %s", self._table.kind, why)
                self.streams = False
        return self._from_pages()

    # Page by page

    def _from_pages(self) -> Listing | None:
        listing = Listing()
        if self._stopping.is_set():
            return None
        for page in pages(self._page, {**self._table.query, "limit": self._settings.page}):
            for item in page.items or ():
                self._take(item, listing)
            listing.version = page.metadata.resource_version or ""
            if page.metadata.continue_ and self._stopping.is_set():
                return None
        return listing

    def _page(self, query: Query) -> ListPage:
        answer = self._connection.request("GET", self.path, query=query, timeout_s=self._settings.list_timeout_s)
        try:
            return self._pages.decode(answer.body)
        except UNDECODABLE as error:
            raise ConnectionFailure(f"the list of {self._table.kind} objects can't be read") from error

    # As a stream

    def _from_stream(self) -> Listing | None:
        query: Query = {
            **self._table.query,
            "watch": "true",
            "sendInitialEvents": "true",
            "resourceVersionMatch": "NotOlderThan",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": int(self._settings.list_timeout_s),
        }
        try:
            stream = self._connection.stream(self.path, query=query, idle_timeout_s=self._settings.list_idle_s)
        except ApiFailure as error:
            if error.code in _REFUSED:
                raise _NotStreamedError(str(error)) from error
            raise
        self._stream = stream
        try:
            return self._whole(stream)
        except ConnectionFailure as error:
            if error.timed_out:
                raise _NotStreamedError("the stream has no end marker") from error
            raise
        finally:
            self._stream = None
            stream.close()

    def _whole(self, stream: ResponseStream) -> Listing | None:
        listing = Listing()
        if self._stopping.is_set():  # stop() may have been called before there was a stream to close
            return None
        for line in stream:
            if self._ends(line, listing):
                return listing
        if self._stopping.is_set():
            return None
        raise _NotStreamedError("the stream ended too early")

    def _ends(self, line: bytes, listing: Listing) -> bool:
        """Process one event and return whether it ends the list."""
        try:
            event = self._events.decode(line)
            if event.type == "BOOKMARK":
                meta = self._bookmarks.decode(event.object).metadata
                listing.version = meta.resource_version or ""
                return _INITIAL_EVENTS_END in (meta.annotations or {})
        except UNDECODABLE as error:
            raise ConnectionFailure(f"the stream of {self._table.kind} objects can't be read") from error
        if event.type == "ERROR":
            raise failure(200, event.object)  # the code is in the Status object
        if event.type in ("ADDED", "MODIFIED"):
            self._take(event.object, listing)
        return False

    def _take(self, item: msgspec.Raw, listing: Listing) -> None:
        try:
            obj = self._table.read(item)
        except DecodeError as error:
            name = object_label(error)
            listing.odd[name] = error.sentence
            try:
                listing.unread[self._table.key(self.identity(item))] = item.copy()
            except UNDECODABLE:
                return  # its identity can't be read either
        else:
            if obj is not None:
                key = self._table.key(obj)
                known = self._known.get(key)
                if known is not None and known == obj:
                    key, obj = self._table.key(known), known
                listing.objects[key] = obj

    def identity(self, item: msgspec.Raw) -> Identity:
        """Return the identity and the version of an object. Raises msgspec.DecodeError."""
        return self._named.decode(item).metadata


def object_label(error: DecodeError) -> str:
    """Return ``Kind namespace/name`` of the object that could not be decoded."""
    return f"{error.kind} {error.name}".strip()
