"""Mirrors one kind of object of the API server: lists once, then watches, and recovers from any failure."""

import logging
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from engine.cluster.connecting.connection import Connection, Query, ResponseStream
from engine.cluster.connecting.identity import OtherClusterError
from engine.cluster.errors import ApiFailure, ClusterError, ConnectionFailure, failure
from engine.cluster.timing import BackOff, Clock
from engine.cluster.watching.listing import Lister, ReflectorSettings, object_label
from engine.cluster.watching.supervised import Supervised
from engine.cluster.watching.tables import WatchedKind
from engine.formats.kubernetes.decode import DecodeError
from engine.formats.kubernetes.wire import Identity, WatchEvent
from engine.formats.undecodable import UNDECODABLE

log = logging.getLogger(__name__)

_NOT_FOUND, _GONE = 404, 410
_REFUSED = (403, _NOT_FOUND)
_EXPIRED = "Expired"


class Sink(Protocol):
    """The store of what a reflector reads; called from the reflector's thread."""

    def known(self, table: WatchedKind) -> Mapping[Any, Any]:
        """Return the kind's content, which only the calling thread changes."""

    def replace(self, table: WatchedKind, objects: dict[Hashable, Any], unread: Mapping[Hashable, msgspec.Raw]) -> None:
        """Replace the kind's content with these objects and those that can't be read; all others no longer exist."""

    def put(self, table: WatchedKind, key: Hashable, obj: Any) -> None:
        """Store an object that was added or changed."""

    def put_unread(self, table: WatchedKind, key: Hashable, data: msgspec.Raw) -> None:
        """Store an object that was added or changed, and can't be read in its current form."""

    def remove(self, table: WatchedKind, key: Hashable) -> None:
        """Remove an object that was deleted."""

    def refuse(self, table: WatchedKind) -> None:
        """Handle that an optional kind may not be read."""


@dataclass
class KindHealth:
    """The health of the watch of a kind. Times are seconds on the steady clock, None for what has not happened yet."""

    kind: str
    synced: bool = False
    """Whether a whole list has ever been read."""
    last_event_at: float | None = None
    """When the server last gave a sign of life: a list, an event, a bookmark, a watch that ended normally."""
    last_sync_at: float | None = None
    """When a whole list was last read."""
    error: str = ""
    """The current error, as a sentence; empty while there is none."""
    refused: bool = False
    """Whether an optional kind may not be read: nothing was read since the server rejected it."""
    absent: bool = False
    """Whether it belongs to a product that is not installed, and was not before: this is no error."""
    spare_s: float = 0.0
    """How many seconds longer than pods and nodes it may give no sign of life, as its watches last longer."""
    odd: dict[str, str] = field(default_factory=dict)
    """``Kind namespace/name`` of an unreadable object -> the reason; its last state is kept, marked as unread."""


class _Relist(Exception):  # noqa: N818 - an event, not an error
    """Raised when the watch can't continue from its last version."""


class Reflector:
    """A thread that keeps one kind up to date in a sink."""

    def __init__(
        self,
        connection: Connection,
        table: WatchedKind,
        sink: Sink,
        *,
        settings: ReflectorSettings | None = None,
        clock: Clock | None = None,
        back_off: BackOff | None = None,
        check: Callable[[], None] = lambda: None,
        check_lately: Callable[[], None] = lambda: None,
    ) -> None:
        """Create a reflector.

        ``check`` is called before every list, and before a watch after any failure; ``check_lately`` before other
        watches. They raise ClusterError where nothing must be read.
        """
        self._connection = connection
        self._table = table
        self._sink = sink
        self._settings = settings or ReflectorSettings()
        self._clock = clock or Clock()
        self._back_off = back_off or BackOff()
        self._check, self._check_lately = check, check_lately
        self._watch_s = self._settings.watch_s * table.watches
        self._events = msgspec.json.Decoder(WatchEvent)
        self._lister = Lister(connection, table, self._settings)
        self._version = ""
        self._stream: ResponseStream | None = None
        self._following = Supervised(f"reflector-{table.kind}", self._turn, failed=self._confused)
        self._stopping = self._following.stopping
        self.health = KindHealth(table.kind, spare_s=self._watch_s - self._settings.watch_s)

    def start(self) -> None:
        """Start the thread. Call it once."""
        self._following.start()

    def stop(self) -> None:
        """Ask the thread to end, and wake it if it waits for an event. Returns at once; see ``join``."""
        self._stopping.set()
        self._lister.stop()
        if (stream := self._stream) is not None:
            stream.close()

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread to end, and return whether it has."""
        return self._following.join(timeout_s)

    def _turn(self) -> float:
        try:
            well = self._version and not self.health.error
            (self._check_lately if well or self.health.absent else self._check)()
            if not self._version:
                self._list()
            self._watch()
        except _Relist:
            self._expire()
            return self._pause("the watch was too far behind and is begun anew", None)
        except ApiFailure as error:
            if _expired(error):
                self._expire()
            if error.code in _REFUSED and self._table.without:
                self._refuse(error.code)
            return self._pause(str(error), error.retry_after_s)
        except OtherClusterError as error:
            self._version = ""  # what was read last may already be from the other cluster
            return self._pause(str(error), None)
        except ClusterError as error:
            return self._pause(str(error), None)
        return 0.0

    def _confused(self, why: str) -> None:
        """Record an unexpected failure, and list again: until then the state is known to be outdated."""
        self._version = ""
        self.health.error = why

    def _expire(self) -> None:
        """Start over with a list: soon, unless the last list expired quickly, as after an outage of the server."""
        self._version = ""
        listed_s = self.health.last_sync_at
        if listed_s is not None and self._clock.steady_s() - listed_s > self._watch_s:
            self._back_off.reset()

    def _refuse(self, code: int) -> None:
        """Mark the kind as refused.

        The version is kept: where lists are allowed and watches are not, only the watch is retried.
        """
        self.health.refused = True
        elsewhere = self._table.add_on and code == _NOT_FOUND
        self.health.absent = elsewhere and not self.health.synced
        if elsewhere:
            self._version = ""
            self._lister.turn()
        self.health.odd = {}
        self._sink.refuse(self._table)

    def _pause(self, why: str, at_least_s: float | None) -> float:
        """Record and log the reason, and return how many seconds to wait."""
        if self._stopping.is_set():
            return 0.0
        # Warn only once: a kind may stay forbidden for months.
        level = logging.DEBUG if why == self.health.error or self.health.absent else logging.WARNING
        self.health.error = why
        wait_s = self._back_off.next_s(at_least_s)
        log.log(level, "Watching %s objects failed, retrying in %.1f s: %s", self._table.kind, wait_s, why)
        return wait_s

    def _alive(self) -> None:
        self.health.last_event_at = self._clock.steady_s()
        self.health.error = ""

    def _list(self) -> None:
        """Read the whole kind, then replace it in one step, so that nobody sees a part of it."""
        listing = self._lister.read(self._sink.known(self._table))
        if listing is None:
            return
        for name in listing.odd.keys() - self.health.odd.keys():
            log.warning("Skipped the unreadable object %s: %s", name, listing.odd[name])
        self.health.odd = listing.odd
        self._sink.replace(self._table, listing.objects, listing.unread)
        self._version = listing.version
        self.health.synced, self.health.refused, self.health.absent = True, False, False
        self._alive()
        self.health.last_sync_at = self.health.last_event_at

    # Watching

    def _watch(self) -> None:
        if self._stopping.is_set():
            return
        settings = self._settings
        query: Query = {
            **self._table.query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": self._watch_s,
        }
        began_s, lines = self._clock.steady_s(), 0
        idle_s = self._watch_s + settings.idle_margin_s
        self._stream = self._connection.stream(self._lister.path, query=query, idle_timeout_s=idle_s)
        anew = self.health.refused
        if anew:
            self._version = ""  # allowed again: a new list is needed, as the former state was dropped
        try:
            if self._stopping.is_set() or anew:  # stop() may have been called before there was a stream to close
                self._stream.close()
            for line in self._stream:
                lines += 1
                self._line(line)
                self._back_off.reset()  # only here: lists that succeed while every watch fails must slow down
        finally:
            self._stream = None
        if self._stopping.is_set() or anew:
            return
        if not lines and self._clock.steady_s() - began_s < settings.shortest_watch_s:
            raise ConnectionFailure("the API server closes watches immediately")
        self._alive()

    def _line(self, line: bytes) -> None:
        try:
            event = self._events.decode(line)
            if event.type == "ERROR":
                raise failure(200, event.object)  # the code is in the Status object
            meta = self._lister.identity(event.object)
        except UNDECODABLE:
            # Resuming would bring the same line again; a list brings the state after it.
            raise _Relist from None
        if event.type == "DELETED":
            self._sink.remove(self._table, self._table.key(meta))
            self._even(meta)
        elif event.type in ("ADDED", "MODIFIED"):
            self._put(meta, event.object)
        self._version = meta.resource_version or self._version
        self._alive()

    def _put(self, meta: Identity, obj: msgspec.Raw) -> None:
        key = self._table.key(meta)
        try:
            decoded = self._table.read(obj)
        except DecodeError as error:
            if object_label(error) not in self.health.odd:
                log.warning("Skipped an unreadable object: %s", error)
            self.health.odd = {**self.health.odd, object_label(error): error.sentence}
            self._sink.put_unread(self._table, key, obj)
        else:
            if decoded is not None:
                self._sink.put(self._table, key, decoded)
            self._even(meta)

    def _even(self, meta: Identity) -> None:
        if self.health.odd:
            name = "/".join(part for part in (meta.namespace, meta.name) if part)
            healed = f"{self._table.kind} {name}".strip()
            self.health.odd = {odd: why for odd, why in self.health.odd.items() if odd != healed}


def _expired(error: ApiFailure) -> bool:
    return error.code == _GONE or error.reason == _EXPIRED
