"""Asks YuniKorn itself, through the API server's proxy of its service: no address and no secret of its own.

A thread of its own: whatever becomes of it, passes go on with what Events tell.
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
"""What it is called among what can't be read."""

SERVICE = re.compile(
    r"(?P<namespace>[a-z0-9][-a-z0-9]{0,62})/(?P<service>[a-z0-9][-a-z0-9]{0,62}:[a-z0-9][-a-z0-9]{0,14})"
)
"""``namespace/service:port``, the port by its number or its name."""
EVENTS_EVERY_S, QUIET_EVERY_S = 2.0, 10.0
"""Between two looks: while anything happens there, and while nothing does."""
QUEUES_EVERY_S = 30.0
BATCH = 1_000
"""So many events are asked for at once."""
FIRST = 10_000
"""So many of those that were before are read at the start; YuniKorn keeps 100,000."""
AT_ONCE = 200
"""So many batches are read in one round, should each of them be followed by another."""
LARGEST = 32 * 2**20
"""An answer of more bytes than this is not read: some 20,000 queues."""
_EVENTS, _QUEUES = "/ws/v1/events/batch", "/ws/v1/partition/default/queues"
_FORBIDDEN, _NOT_FOUND = 403, 404


@dataclass(frozen=True)
class YuniKornReading:
    """What YuniKorn said of its queues, and when (milliseconds since 1970)."""

    at_ms: int
    queues: tuple[TheirQueue, ...]


@dataclass
class _Cursor:
    """Where in the events the reader is."""

    instance: str = ""
    next: int | None = None

    def start(self, batch: Batch) -> int:
        """From where to read on, seen an answer: anew where it has started anew, and past what it keeps no more."""
        oldest = max(batch.lowest, batch.highest + 1 - FIRST)
        if self.next is None:
            return oldest
        if batch.instance != self.instance or self.next > batch.highest + 1:
            return batch.lowest
        return max(self.next, batch.lowest)


@dataclass
class YunikornReader:
    """One thread that asks one YuniKorn."""

    connection: Connection
    service: str
    """As SERVICE has it."""
    hear: Callable[[Iterable[Record]], None]
    """Takes what it says of pods that it preempted."""
    clock: Clock = field(default_factory=Clock)
    back_off: BackOff = field(default_factory=lambda: BackOff(EVENTS_EVERY_S, 60.0))
    trouble: str = ""
    """Why it can't be asked, as a sentence without its stop; empty while all is well."""
    reading: YuniKornReading | None = None

    def __post_init__(self) -> None:
        self._base = proxy_path(self.service)
        self._cursor = _Cursor()
        self._queues_due_s = 0.0
        self._busy = True
        self._asking = Supervised("yunikorn", self._turn, failed=self._note)

    def start(self) -> None:
        """Begin in a thread of its own. Once."""
        self._asking.start()

    def stop(self, timeout_s: float = 10.0) -> bool:
        """End the thread; whether it has ended within ``timeout_s`` seconds."""
        return self._asking.stop(timeout_s)

    def _turn(self) -> float:
        trouble = self._ask()
        if trouble and trouble != self.trouble:
            log.warning("asking YuniKorn: %s", trouble)
        self.trouble = trouble
        if trouble:
            return self.back_off.next_s()
        self.back_off.reset()
        return EVENTS_EVERY_S if self._busy else QUIET_EVERY_S

    def _note(self, why: str) -> None:
        self.trouble = why

    def _ask(self) -> str:
        """One round; why it failed, empty where it did not."""
        try:
            self.ask()
        except ApiFailure as error:
            return explained(error)
        except (ClusterError, ForeignAnswerError) as error:
            return str(error).rstrip(".")
        return ""

    def ask(self) -> None:
        """Read the events that are new, and the queues where that is due. Raises ClusterError, ForeignAnswerError."""
        before = self._cursor.next
        for _ in range(AT_ONCE):
            if self._asking.stopping.is_set() or not self._read_events():
                break
        self._busy = self._cursor.next != before
        if self.clock.steady_s() >= self._queues_due_s:
            self.reading = YuniKornReading(self.clock.wall_ms(), read_queues(self._get(_QUEUES)))
            self._queues_due_s = self.clock.steady_s() + QUEUES_EVERY_S

    def _read_events(self) -> bool:
        """One batch; whether there are more."""
        asked = self._cursor.next
        count = 1 if asked is None else BATCH
        batch = read_batch(self._get(_EVENTS, {"start": asked or 0, "count": count}))
        start = self._cursor.start(batch)
        self._cursor.instance = batch.instance
        if asked is None or start != asked:
            self._cursor.next = start
            return start <= batch.highest
        self.hear(batch.preempted)
        self._cursor.next = start + batch.count
        return batch.count > 0 and self._cursor.next <= batch.highest

    def _get(self, path: str, query: Query | None = None) -> bytes:
        return self.connection.request("GET", f"{self._base}{path}", query=query, largest=LARGEST).body


def proxy_path(service: str) -> str:
    """Return where the API server passes requests on to a service, given as SERVICE has it."""
    found = SERVICE.fullmatch(service)
    assert found is not None
    return f"/api/v1/namespaces/{found['namespace']}/services/{found['service']}/proxy"


def explained(error: ApiFailure) -> str:
    """Return why YuniKorn can't be asked, as a sentence without its stop."""
    if error.code == _FORBIDDEN:
        return "the credentials may not use services/proxy there; deploy/yunikorn.yaml grants it"
    if error.code == _NOT_FOUND:
        return "there is no such service"
    return str(error).rstrip(".")
