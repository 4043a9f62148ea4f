"""A cluster's picture, kept by reflectors and read by passes."""

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.cluster.connection import Connection
from engine.cluster.reflector import KindHealth, Reflector, ReflectorSettings
from engine.cluster.tables import PREEMPTED, TABLES, Table
from engine.cluster.timing import BackOff, Clock
from engine.queues import QueueTree
from engine.snapshot import ClusterState, Node, Pod, Protection, Reservation, Snapshot


@dataclass(frozen=True)
class Health:
    """How far the picture can be trusted."""

    kinds: tuple[KindHealth, ...]
    synced: bool
    """Whether every kind has been read whole."""
    staleness_s: float | None
    """Seconds since the kind that is worst off last gave a sign of life; None while one never has."""
    clock_skew_s: float | None
    """Our clock minus the API server's, in seconds; None while unknown."""
    gap_s: float = 0.0
    """How long the kind in trouble that is worst off has been without a sign of life, in seconds; 0: none is."""
    events_error: str = ""
    """Why Events can't be read, as a sentence: passes go on without. Empty while they can."""
    odd: Mapping[str, str] = field(default_factory=dict)
    """Objects that can't be read and were skipped, Events included -> why."""

    @property
    def errors(self) -> tuple[str, ...]:
        """What is wrong now, a sentence each; which kinds it is about, where it is not all of them."""
        kinds: dict[str, list[str]] = {}
        for one in self.kinds:
            if one.error:
                kinds.setdefault(one.error, []).append(one.kind)
        every = len(self.kinds)
        return tuple(error if len(of) == every else f"{', '.join(of)}: {error}" for error, of in kinds.items())


class ClusterWatcher:
    """Follows what the engine reads of a cluster; every method may be called from any thread.

    Nodes, pods, priority classes and disruption budgets, and Events of preemption as far as they may be read.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        settings: ReflectorSettings | None = None,
        clock: Clock | None = None,
        back_off: Callable[[], BackOff] = BackOff,
    ) -> None:
        """Nothing is sent before ``start``; ``back_off`` makes the waits of one reflector."""
        self._connection = connection
        self._clock = clock or Clock()
        self._state = ClusterState()
        self._moved = threading.Condition()
        self._changed = 0
        self._unsynced = {table.kind for table in TABLES}
        self._reflectors = [
            Reflector(connection, table, self, settings=settings, clock=self._clock, back_off=back_off())
            for table in (*TABLES, PREEMPTED)
        ]

    def start(self) -> None:
        """Begin to follow, one thread per kind. Once."""
        for reflector in self._reflectors:
            reflector.start()

    def stop(self, timeout_s: float = 10.0) -> bool:
        """End all threads; whether they ended within ``timeout_s`` seconds."""
        for reflector in self._reflectors:
            reflector.stop()
        deadline = self._clock.steady_s() + timeout_s
        ended = [one.join(max(0.0, deadline - self._clock.steady_s())) for one in self._reflectors]
        return all(ended)

    def wait_synced(self, timeout_s: float) -> bool:
        """Wait until every kind has been read whole; whether it came to that within ``timeout_s`` seconds."""
        with self._moved:
            return self._moved.wait_for(lambda: not self._unsynced, timeout_s)

    def wait_changed(self, since: int, timeout_s: float) -> int:
        """Wait until ``changed`` is no longer ``since``, at most ``timeout_s`` seconds; what it is then."""
        with self._moved:
            self._moved.wait_for(lambda: self._changed != since, timeout_s)
            return self._changed

    @property
    def changed(self) -> int:
        """A number that grows whenever something that the engine reads has changed."""
        return self._changed

    def health(self) -> Health:
        """How far the picture can be trusted now."""
        now_s = self._clock.steady_s()
        *needed, events = (replace(one.health, odd=dict(one.health.odd)) for one in self._reflectors)
        kinds = tuple(needed)
        seen = [one.last_event_at for one in kinds if one.last_event_at is not None]
        troubled = [one.last_event_at for one in kinds if one.last_event_at is not None and one.error]
        return Health(
            kinds=kinds,
            synced=not self._unsynced,
            staleness_s=now_s - min(seen) if len(seen) == len(kinds) else None,
            clock_skew_s=self._connection.clock_skew_s,
            gap_s=now_s - min(troubled, default=now_s),
            events_error=events.error,
            odd={name: why for one in (*kinds, events) for name, why in one.odd.items()},
        )

    def snapshot(
        self,
        tree: QueueTree,
        *,
        now_ms: int,
        protection: Protection | None = None,
        reservations: Iterable[Reservation] = (),
    ) -> Snapshot:
        """The cluster at this moment, under a tree; see ClusterState.snapshot."""
        return self.state().snapshot(tree, now_ms=now_ms, protection=protection, reservations=reservations)

    def state(self) -> ClusterState:
        """A copy of the state, to work on without holding up the reflectors."""
        with self._moved:
            return self._state.copy()

    def pod(self, uid: str) -> Pod | None:
        """The pod as last seen; None once it is gone."""
        with self._moved:
            return self._state.pods.get(uid)

    def nodes(self) -> tuple[Node, ...]:
        """All nodes as last seen."""
        with self._moved:
            return tuple(self._state.nodes.values())

    # What the reflectors call

    def replace(self, table: Table, objects: Mapping[Hashable, Any], unread: Iterable[Hashable]) -> None:
        """Take over a whole list of one kind."""
        with self._moved:
            column = table.column(self._state)
            kept = {key: column[key] for key in unread if key in column}
            new = {**kept, **objects}
            if new != column:
                self._depart(column[key] for key in column.keys() - new.keys())
                column.clear()
                column.update(new)
                self._changed += 1
            self._unsynced.discard(table.kind)
            self._moved.notify_all()

    def put(self, table: Table, key: Hashable, obj: Any) -> None:
        """Take over one object."""
        with self._moved:
            column = table.column(self._state)
            if column.get(key) != obj:  # most changes, heartbeats above all, touch nothing that is read
                column[key] = obj
                self._bump()

    def remove(self, table: Table, key: Hashable) -> None:
        """Forget one object."""
        with self._moved:
            gone = table.column(self._state).pop(key, None)
            if gone is not None:
                self._depart([gone])
                self._bump()

    def _depart(self, gone: Iterable[Any]) -> None:
        for one in gone:
            if isinstance(one, Pod):
                self._state.depart(one)

    def _bump(self) -> None:
        self._changed += 1
        self._moved.notify_all()
