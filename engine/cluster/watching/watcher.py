"""Maintains the state of a cluster: reflectors write it and passes read it."""

import threading
import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.identity import OTHER_CLUSTER, ClusterIdentity
from engine.cluster.timing import BackOff, Clock
from engine.cluster.watching.listing import ReflectorSettings
from engine.cluster.watching.reflector import KindHealth, Reflector
from engine.cluster.watching.tables import (
    ARBITRATED,
    EVERY,
    KUEUE,
    OPTIONAL_KINDS,
    PREEMPTION_EVENTS,
    SCHEDULING_GROUPS,
    WatchedKind,
)
from engine.formats.yunikorn.preemption_message import to_preempted
from engine.formats.yunikorn.rest import Record
from engine.model.objects import Node, Pod, Workload
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, ObjectChange, Protection, Reservation, Snapshot

LONGEST_S, ABSENT_S = 30.0, 120.0
"""The longest waits in seconds before a kind is retried: for required kinds, and for those of add-ons."""


@dataclass(frozen=True)
class Health:
    """How far the cluster's state can be trusted."""

    kinds: tuple[KindHealth, ...]
    """The kinds that passes depend on now."""
    synced: bool
    """Whether every required kind has been read completely."""
    staleness_s: float | None
    """Seconds since the last sign of life of the most outdated kind; None while a kind never had one."""
    clock_skew_s: float | None
    """Our clock minus the API server's, in seconds; None while unknown."""
    gap_s: float = 0.0
    """How long the worst failing kind has been without a sign of life, in seconds; 0: none is failing."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Unreadable kinds that passes continue without -> the reason, as a sentence."""
    stranger: str = ""
    """The error, as a sentence, that the API server is another cluster's, where nothing must be done; else empty."""
    odd: Mapping[str, str] = field(default_factory=dict)
    """Objects that can't be read and were skipped, including Events and quotas -> the reason."""
    quota_known: bool | None = True
    """Whether all that Kueue decides by has been read, as far as it exists; None: not yet."""
    groups_served: bool | None = None
    """Whether the API server serves PodGroups of scheduling.k8s.io; None if that is not known."""
    arbitrated: bool = False
    """Whether Consumers and Allocations are served and have been read completely."""

    @property
    def errors(self) -> tuple[str, ...]:
        """Return the current errors, a sentence each, with the kinds that each affects, where these are not all."""
        kinds: dict[str, list[str]] = {}
        for kind in self.kinds:
            if kind.error:
                kinds.setdefault(kind.error, []).append(kind.kind)
        number_of_kinds = len(self.kinds)
        return tuple(
            error if len(affected) == number_of_kinds else f"{', '.join(affected)}: {error}"
            for error, affected in kinds.items()
        )


class ClusterWatcher:
    """Watches the objects of a cluster that the engine reads; every method may be called from any thread.

    These are nodes, pods, priority classes and disruption budgets; and where readable namespaces, claims, volumes,
    Events of preemption, quotas, and what Kueue decides by.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        uid: str = "",
        settings: ReflectorSettings | None = None,
        clock: Clock | None = None,
        back_off: Callable[[], BackOff] | None = None,
    ) -> None:
        """Create a watcher; nothing is sent before ``start``. ``back_off`` creates the waits of one reflector.

        ``uid``: the cluster's UID, if it is known; no other cluster is read in its place.
        """
        self._connection = connection
        self._same = ClusterIdentity(connection, uid, clock)
        self._clock = clock or Clock()
        self._state = ClusterState()
        self._lock = threading.Condition()
        """Notified whenever a kind has been read completely, or turned out to be unavailable."""
        self._unsynced = {table.kind for table in EVERY if table not in OPTIONAL_KINDS}
        this = weakref.proxy(self)  # so that a stopped watcher is freed as soon as nobody uses it
        self._reflectors = [
            Reflector(
                connection,
                table,
                this,
                settings=settings,
                clock=self._clock,
                back_off=back_off() if back_off else BackOff(longest_s=ABSENT_S if table.add_on else LONGEST_S),
                check=self._same.check,
                check_lately=self._same.check_lately,
            )
            for table in EVERY
        ]

    def start(self) -> None:
        """Start to watch, one thread per kind. Call it once."""
        for reflector in self._reflectors:
            reflector.start()

    def stop(self, timeout_s: float = 10.0) -> bool:
        """End all threads, and return whether they ended within ``timeout_s`` seconds."""
        for reflector in self._reflectors:
            reflector.stop()
        deadline = self._clock.steady_s() + timeout_s
        ended = [thread.join(max(0.0, deadline - self._clock.steady_s())) for thread in self._reflectors]
        return all(ended)

    def wait_synced(self, timeout_s: float) -> bool:
        """Wait until every kind has been read completely, or is optional and was refused.

        Returns whether that happened within ``timeout_s`` seconds.
        """
        with self._lock:
            return self._lock.wait_for(lambda: not self._unsynced, timeout_s)

    @property
    def uid(self) -> str:
        """Return the cluster's UID; empty where it may not be read."""
        return self._same.uid

    def health(self) -> Health:
        """Return how far the cluster's state can be trusted now."""
        now_s = self._clock.steady_s()
        all_kinds, optional = (
            [replace(reflector.health) for reflector in self._reflectors],
            {table.kind for table in OPTIONAL_KINDS},
        )
        kinds = tuple(kind for kind in all_kinds if kind.kind not in optional and not kind.refused)
        last_contacts = [
            min(now_s, kind.last_event_at + kind.spare_s) for kind in kinds if kind.last_event_at is not None
        ]
        troubled = [kind.last_event_at for kind in kinds if kind.last_event_at is not None and kind.error]
        return Health(
            kinds=kinds,
            synced=not self._unsynced,
            staleness_s=now_s - min(last_contacts) if len(last_contacts) == len(kinds) else None,
            clock_skew_s=self._connection.clock_skew_s,
            gap_s=now_s - min(troubled, default=now_s),
            missing={
                kind.kind: kind.error for kind in all_kinds if kind.error and kind not in kinds and not kind.absent
            },
            stranger=OTHER_CLUSTER if self._same.stranger else "",
            odd={name: why for kind in all_kinds for name, why in kind.odd.items()},
            quota_known=_quota_known([kind for kind in all_kinds if kind.kind in _KUEUE]),
            groups_served=_is_served(next(kind for kind in all_kinds if kind.kind == SCHEDULING_GROUPS.kind)),
            arbitrated=all(kind.synced and not kind.refused for kind in all_kinds if kind.kind in _ARBITRATED),
        )

    def snapshot(
        self,
        tree: QueueTree,
        *,
        now_ms: int,
        protection: Protection | None = None,
        reservations: Iterable[Reservation] = (),
    ) -> Snapshot:
        """Return the cluster at this moment, under a tree; see ClusterState.snapshot."""
        return self.state().snapshot(tree, now_ms=now_ms, protection=protection, reservations=reservations)

    def state(self) -> ClusterState:
        """Return a copy of the state, which can be used without blocking the reflectors."""
        with self._lock:
            return self._state.copy()

    def pod(self, uid: str) -> Pod | None:
        """Return a pod as last seen; None once it no longer exists."""
        with self._lock:
            return self._state.pods.get(uid)

    def last_seen(self, uid: str) -> Pod | None:
        """Return a pod as last seen, even if it was removed a moment ago; see ClusterState.departed."""
        with self._lock:
            return self._state.pods.get(uid) or self._state.departed.get(uid)

    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes as last seen."""
        with self._lock:
            return tuple(self._state.nodes.values())

    def record_preempted(self, records: Iterable[Record]) -> None:
        """Record YuniKorn's reports of preempted pods; reports of pods that were never seen are ignored."""
        with self._lock:
            for record in records:
                pod = self._state.pods.get(record.uid) or self._state.departed.get(record.uid)
                if pod is not None:
                    self._state.remember_preempted(
                        to_preempted(record.preemption, pod.uid, pod.namespace, pod.name, record.at_ms)
                    )

    # Called by the reflectors

    def known(self, table: WatchedKind) -> Mapping[Any, Any]:
        """Return the content of one kind."""
        return table.column(self._state)

    def replace(self, table: WatchedKind, objects: dict[Hashable, Any], unread: Mapping[Hashable, msgspec.Raw]) -> None:
        """Store a whole list of one kind. What did not change stays, so that passes need not process it again."""
        column = table.column(self._state)  # only the calling thread writes into it
        objects |= self._replacements(table, unread)
        gone = [key for key in column if key not in objects]
        changed = {key: obj for key, obj in objects.items() if _differ(column.get(key), obj)} if column else objects
        with self._lock:
            if gone or changed:
                self._state.changes.clear()  # the order of these changes is unknown
                self._remember_deleted(column[key] for key in gone)
                for key in gone:
                    del column[key]
                column.update(changed)
            self._unsynced.discard(table.kind)
            self._lock.notify_all()

    def _replacements(self, table: WatchedKind, unread: Mapping[Hashable, msgspec.Raw]) -> dict[Hashable, Any]:
        column = table.column(self._state)
        replacements = {key: table.stand_in(data, column.get(key)) for key, data in unread.items()}
        return {key: replacement for key, replacement in replacements.items() if replacement is not None}

    def put(self, table: WatchedKind, key: Hashable, obj: Any) -> None:
        """Store a single object."""
        with self._lock:
            column = table.column(self._state)
            before = column.get(key)
            if before != obj:  # most changes, heartbeats above all, affect nothing that is read
                column[key] = obj
                self._state.changes.append(ObjectChange(table.column, key, before, obj))

    def put_unread(self, table: WatchedKind, key: Hashable, data: msgspec.Raw) -> None:
        """Store the replacement of an unreadable object, or remove the object."""
        replacements = self._replacements(table, {key: data})
        if key in replacements:
            self.put(table, key, replacements[key])
        else:
            self.remove(table, key)

    def remove(self, table: WatchedKind, key: Hashable) -> None:
        """Remove a single object."""
        with self._lock:
            removed = table.column(self._state).pop(key, None)
            if removed is not None:
                self._state.changes.append(ObjectChange(table.column, key, removed, None))
                self._remember_deleted([removed])

    def refuse(self, table: WatchedKind) -> None:
        """Drop a kind that may not be read, as it may have changed; events of past preemptions are kept."""
        if table not in PREEMPTION_EVENTS:
            self.replace(table, {}, {})

    def _remember_deleted(self, removed: Iterable[Any]) -> None:
        for obj in removed:
            if isinstance(obj, Pod):
                self._state.remember_deleted(self._dated(obj))
            elif isinstance(obj, Workload):
                self._state.remember_deleted(obj)

    def _dated(self, pod: Pod) -> Pod:
        """Return a pod with the latest possible time of its deletion, where its end was not seen."""
        if pod.finished or pod.deleted_ms is not None:
            return pod
        return msgspec.structs.replace(pod, deleted_ms=self._clock.wall_ms())


def _differ(one: object, other: object) -> bool:
    return one is not other and one != other


_KUEUE = frozenset(table.kind for table in KUEUE)
_ARBITRATED = frozenset(table.kind for table in ARBITRATED)


def _quota_known(kinds: Iterable[KindHealth]) -> bool | None:
    kinds_of_kueue = list(kinds)
    if not all(kind.synced or kind.absent or kind.refused for kind in kinds_of_kueue):
        return None
    return not any(kind.refused and not kind.absent for kind in kinds_of_kueue)


def _is_served(kind: KindHealth) -> bool | None:
    if kind.absent:
        return False
    return True if kind.synced and not kind.refused else None
