"""Queries YuniKorn itself through the API server's proxy of its service: without an address or secret of its own.

It runs in a thread of its own: if it fails, passes continue with the information from Events.
"""

import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from engine.cluster.connecting.connection import Connection, Query
from engine.cluster.errors import ApiFailure, ClusterError
from engine.cluster.timing import BackOff, Clock
from engine.cluster.watching.supervised import Supervised
from engine.formats.yunikorn.rest import Batch, ForeignAnswerError, Record, TheirQueue, read_batch, read_queues

log = logging.getLogger(__name__)

KIND = "YuniKorn"
"""Its name in the list of what can't be read."""

SERVICE = re.compile(
    r"(?P<namespace>[a-z0-9][-a-z0-9]{0,62})/(?P<service>[a-z0-9][-a-z0-9]{0,62}:[a-z0-9][-a-z0-9]{0,14})"
)
"""``namespace/service:port``, with the port's number or its name."""
EVENTS_EVERY_S, QUIET_EVERY_S = 2.0, 10.0
"""Seconds between two queries: while events occur there, and while none do."""
QUEUES_EVERY_S = 30.0
BATCH = 1_000
"""How many events are requested at once."""
FIRST = 10_000
"""How many earlier events are read at the start; YuniKorn keeps 100,000."""
AT_ONCE = 200
"""How many batches are read in one round, if each is followed by another."""
LARGEST = 32 * 2**20
"""The largest answer that is read, in bytes: some 20,000 queues."""
_EVENTS, _QUEUES = "/ws/v1/events/batch", "/ws/v1/partition/default/queues"
_FORBIDDEN, _NOT_FOUND = 403, 404


@dataclass(frozen=True)
class YuniKornReading:
    """YuniKorn's report of its queues, and its time (milliseconds since 1970)."""

    at_ms: int
    queues: tuple[TheirQueue, ...]


@dataclass
class _Cursor:
    """The position of the reader in the events."""

    instance: str = ""
    next: int | None = None

    def start(self, batch: Batch) -> int:
        """Return where to continue after a batch: at the first event after a restart, past events no longer kept."""
        oldest = max(batch.lowest, batch.highest + 1 - FIRST)
        if self.next is None:
            return oldest
        if batch.instance != self.instance or self.next > batch.highest + 1:
            return batch.lowest
        return max(self.next, batch.lowest)


@dataclass
class YunikornReader:
    """A thread that queries one YuniKorn."""

    connection: Connection
    service: str
    """The service, in the form of SERVICE."""
    record_preempted: Callable[[Iterable[Record]], None]
    """Receives YuniKorn's reports of preempted pods."""
    clock: Clock = field(default_factory=Clock)
    back_off: BackOff = field(default_factory=lambda: BackOff(EVENTS_EVERY_S, 60.0))
    trouble: str = ""
    """Why YuniKorn can't be queried, as a sentence without its full stop; empty while there is no error."""
    reading: YuniKornReading | None = None

    def __post_init__(self) -> None:
        self._base = proxy_path(self.service)
        self._cursor = _Cursor()
        self._queues_due_s = 0.0
        self._busy = True
        self._asking = Supervised("yunikorn", self._turn, failed=self._note)

    def start(self) -> None:
        """Start the thread. Call it once."""
        self._asking.start()

    def stop(self, timeout_s: float = 10.0) -> bool:
        """End the thread, and return whether it has ended within ``timeout_s`` seconds."""
        return self._asking.stop(timeout_s)

    def _turn(self) -> float:
        trouble = self._query_once()
        if trouble and trouble != self.trouble:
            log.warning("Querying YuniKorn failed: %s", trouble)
        self.trouble = trouble
        if trouble:
            return self.back_off.next_s()
        self.back_off.reset()
        return EVENTS_EVERY_S if self._busy else QUIET_EVERY_S

    def _note(self, why: str) -> None:
        self.trouble = why

    def _query_once(self) -> str:
        """Query once; return the error as a sentence, empty where there was none."""
        try:
            self.query()
        except ApiFailure as error:
            return failure_text(error)
        except (ClusterError, ForeignAnswerError) as error:
            return str(error).rstrip(".")
        return ""

    def query(self) -> None:
        """Read the new events, and the queues where that is due. Raises ClusterError, ForeignAnswerError."""
        before = self._cursor.next
        for _ in range(AT_ONCE):
            if self._asking.stopping.is_set() or not self._read_events():
                break
        self._busy = self._cursor.next != before
        if self.clock.steady_s() >= self._queues_due_s:
            self.reading = YuniKornReading(self.clock.wall_ms(), read_queues(self._get(_QUEUES)))
            self._queues_due_s = self.clock.steady_s() + QUEUES_EVERY_S

    def _read_events(self) -> bool:
        """Read one batch, and return whether there are more."""
        cursor = self._cursor.next
        count = 1 if cursor is None else BATCH
        batch = read_batch(self._get(_EVENTS, {"start": cursor or 0, "count": count}))
        start = self._cursor.start(batch)
        self._cursor.instance = batch.instance
        if cursor is None or start != cursor:
            self._cursor.next = start
            return start <= batch.highest
        self.record_preempted(batch.preempted)
        self._cursor.next = start + batch.count
        return batch.count > 0 and self._cursor.next <= batch.highest

    def _get(self, path: str, query: Query | None = None) -> bytes:
        return self.connection.request("GET", f"{self._base}{path}", query=query, largest=LARGEST).body


def proxy_path(service: str) -> str:
    """Return the path of the API server's proxy for a service, given in the form of SERVICE."""
    match = SERVICE.fullmatch(service)
    assert match is not None
    return f"/api/v1/namespaces/{match['namespace']}/services/{match['service']}/proxy"


def failure_text(error: ApiFailure) -> str:
    """Return why YuniKorn can't be queried, as a sentence without its full stop."""
    if error.code == _FORBIDDEN:
        return "the credentials have no permission for services/proxy; apply deploy/yunikorn.yaml to grant it"
    if error.code == _NOT_FOUND:
        return "the service does not exist"
    return str(error).rstrip(".")
