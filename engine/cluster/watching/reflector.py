"""Keeps one kind of object as the API server has it: list once, then watch, and go on after whatever breaks."""

import logging
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from engine.cluster.connecting.connection import Connection, Query, ResponseStream
from engine.cluster.connecting.identity import StrangerError
from engine.cluster.errors import ApiFailure, ClusterError, ConnectionFailure, failure
from engine.cluster.timing import BackOff, Clock
from engine.cluster.watching.listing import Lister, ReflectorSettings, told
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
    """Where a reflector puts what it reads; called from the reflector's thread."""

    def replace(self, table: WatchedKind, objects: dict[Hashable, Any], unread: Mapping[Hashable, msgspec.Raw]) -> None:
        """The kind now consists of these and of those that can't be read; all others are gone."""

    def put(self, table: WatchedKind, key: Hashable, obj: Any) -> None:
        """An object was added or changed."""

    def put_unread(self, table: WatchedKind, key: Hashable, data: msgspec.Raw) -> None:
        """An object was added or changed, and can't be read as it is now."""

    def remove(self, table: WatchedKind, key: Hashable) -> None:
        """An object was deleted."""

    def refuse(self, table: WatchedKind) -> None:
        """The kind may not be read, and can be done without."""


@dataclass
class KindHealth:
    """How well a kind is followed. Times are on the steady clock in seconds, None while it has not happened."""

    kind: str
    synced: bool = False
    """Whether a whole list has been read, ever."""
    last_event_at: float | None = None
    """When the server last gave a sign of life: a list, an event, a bookmark, a watch that ended in order."""
    last_sync_at: float | None = None
    """When a whole list was last read."""
    error: str = ""
    """What is wrong now, as a sentence; empty while all is well."""
    refused: bool = False
    """Whether it can be done without, and has to be: nothing was read since the server said no."""
    absent: bool = False
    """Whether it belongs to a product that is not there, and was not before: nothing is wrong."""
    spare_s: float = 0.0
    """So much longer than pods and nodes it may give no sign of life, as its watches last longer."""
    odd: dict[str, str] = field(default_factory=dict)
    """``Kind namespace/name`` of an object that can't be read -> why; it stands as it last was, marked as unread."""


class _Relist(Exception):  # noqa: N818 - a turn of events, not an error
    """The watch can't go on from where it was."""


class Reflector:
    """One thread that keeps one kind in a sink."""

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
        """``check`` is called before every list, and before a watch after any trouble, ``check_lately`` before others.

        They raise ClusterError where nothing is to be read.
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
        """Begin in a thread of its own. Once."""
        self._following.start()

    def stop(self) -> None:
        """Ask the thread to end, and wake it if it waits for an event. Returns at once; see ``join``."""
        self._stopping.set()
        self._lister.stop()
        if (stream := self._stream) is not None:
            stream.close()

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread to end; whether it has."""
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
        except StrangerError as error:
            self._version = ""  # what was read last may have been the stranger's already
            return self._pause(str(error), None)
        except ClusterError as error:
            return self._pause(str(error), None)
        return 0.0

    def _confused(self, why: str) -> None:
        """A new list heals it; until then the picture is known to stand still."""
        self._version = ""
        self.health.error = why

    def _expire(self) -> None:
        """Begin anew with a list: soon, unless the last one did not last, as after the server was away."""
        self._version = ""
        listed_s = self.health.last_sync_at
        if listed_s is not None and self._clock.steady_s() - listed_s > self._watch_s:
            self._back_off.reset()

    def _refuse(self, code: int) -> None:
        """The version stays: where lists are allowed and watches are not, only the watch is tried again."""
        self.health.refused = True
        elsewhere = self._table.add_on and code == _NOT_FOUND
        self.health.absent = elsewhere and not self.health.synced
        if elsewhere:
            self._version = ""
            self._lister.turn()
        self.health.odd = {}
        self._sink.refuse(self._table)

    def _pause(self, why: str, at_least_s: float | None) -> float:
        """Record and log why; return how many seconds to wait."""
        if self._stopping.is_set():
            return 0.0
        # Once is enough: what may not be read may stay so for months.
        level = logging.DEBUG if why == self.health.error or self.health.absent else logging.WARNING
        self.health.error = why
        wait_s = self._back_off.next_s(at_least_s)
        log.log(level, "following %s: %s; again in %.1f s", self._table.kind, why, wait_s)
        return wait_s

    def _alive(self) -> None:
        self.health.last_event_at = self._clock.steady_s()
        self.health.error = ""

    def _list(self) -> None:
        """Read the whole kind, then replace it as one step, so that nobody sees half of it."""
        found = self._lister.read()
        if found is None:
            return
        for name in found.odd.keys() - self.health.odd.keys():
            log.warning("skipped: %s: %s", name, found.odd[name])
        self.health.odd = found.odd
        self._sink.replace(self._table, found.objects, found.unread)
        self._version = found.version
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
            self._version = ""  # it may be watched again: from a new list on, as what was known is forgotten
        try:
            if self._stopping.is_set() or anew:  # stop() may have come before there was a stream to close
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
            raise ConnectionFailure("the API server ends watches as soon as they begin")
        self._alive()

    def _line(self, line: bytes) -> None:
        try:
            event = self._events.decode(line)
            if event.type == "ERROR":
                raise failure(200, event.object)  # the Status within has the code
            meta = self._lister.identity(event.object)
        except UNDECODABLE:
            # Resuming would bring the same line again; a list brings the state that it led to.
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
            found = self._table.read(obj)
        except DecodeError as error:
            if told(error) not in self.health.odd:
                log.warning("skipped: %s", error)
            self.health.odd = {**self.health.odd, told(error): error.sentence}
            self._sink.put_unread(self._table, key, obj)
        else:
            if found is not None:
                self._sink.put(self._table, key, found)
            self._even(meta)

    def _even(self, meta: Identity) -> None:
        if self.health.odd:
            name = "/".join(part for part in (meta.namespace, meta.name) if part)
            healed = f"{self._table.kind} {name}".strip()
            self.health.odd = {odd: why for odd, why in self.health.odd.items() if odd != healed}


def _expired(error: ApiFailure) -> bool:
    return error.code == _GONE or error.reason == _EXPIRED
