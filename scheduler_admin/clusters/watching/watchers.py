"""The watchers of this worker's process: one per cluster, kept warm between passes."""

import logging
import os
import socket
import threading
import uuid
from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING

from django.conf import settings

from engine.cluster.acting.actuator import Actuator
from engine.cluster.acting.allocations import KIND as WRITTEN
from engine.cluster.acting.allocations import AllocationWriter
from engine.cluster.acting.lease import KIND as LEASE
from engine.cluster.acting.lease import ClusterLease
from engine.cluster.connecting.connection import Connection
from engine.cluster.errors import SettingsError
from engine.cluster.timing import Clock
from engine.cluster.watching.listing import ReflectorSettings
from engine.cluster.watching.watcher import ClusterWatcher
from engine.cluster.watching.yunikorn import KIND, YunikornReader, YuniKornReading
from engine.model.message import gettext_noop
from engine.observation.evictions import Key
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.safeguards.breakers import Writes
from scheduler_admin.clusters.watching import ownership
from scheduler_admin.core.faults import reached
from scheduler_admin.core.monitoring.logs import logged_only_with

if TYPE_CHECKING:
    from engine.model.objects import GroupScheduling

log = logging.getLogger(__name__)

OWNER = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex[:8]}"
"""What this process is called in ownership rows, and in leases; unlike any other's, a restarted one's included."""

REQUEST_TIMEOUT_S = 5.0
"""A third of a lease's duration, so that a holder that renews three times per duration never has to pause."""


_FIRST_READ_S = 5.0
"""How long the first pass of a cluster waits until it is read, in seconds: a third of a claim's shortest term."""


_PATIENCE_S = 10.0
"""How long a pass may take to come to its next eviction, in seconds: two requests that time out."""


_RETRY_S = 30.0
"""A way that could not be used is tried again after so long, or as soon as it is another one."""

Source = tuple[str, str, datetime | None, str]


def _source(cluster: Cluster) -> Source:
    """What changes when the cluster is to be reached in another way."""
    stored = getattr(cluster, "credentials", None)
    return cluster.kubeconfig, cluster.context, stored.set_at if stored else None, cluster.yunikorn_service


class Watch:
    """One cluster as this process sees it."""

    def __init__(self, cluster: Cluster) -> None:
        """Open and begin to follow. Raises SettingsError."""
        self.source = _source(cluster)
        self._cluster_name = cluster.name
        self.connection = Connection(Way.to(cluster).settings(REQUEST_TIMEOUT_S))
        reading = ReflectorSettings(streamed=settings.STREAMED_LISTS)
        self.watcher = ClusterWatcher(self.connection, uid=cluster.uid, settings=reading)
        self.actuator = Actuator(self.connection, nodes=self.watcher.nodes, reached=reached)
        self.allocations = AllocationWriter(self.connection)
        self.writes = Writes()
        self.busy = threading.Lock()
        """Held by the one pass that runs."""
        self._first = True
        """Whether there was no pass yet."""
        self.too_early = False
        """Whether the last pass came before the cluster was read."""
        self.groups_served: bool | None = None
        """Whether the API server serves PodGroups, where they may not be read; None: that was not asked, or is unknown.
        """
        self.gate: GroupScheduling | None = None
        """What kube-scheduler itself shows of how it schedules PodGroups; None: it was not asked yet."""
        self.settled = set[Key]()
        """What others evicted and is recorded; see history.observing."""
        self._identity = ownership.holder(cluster=cluster, owner=OWNER)
        self._lease: ClusterLease | None = None
        self.appeared: list[str] = []
        """Other schedulers that appeared since somebody let us act there, as the last pass found them."""
        self._closing = False
        self._yunikorn: YunikornReader | None = None
        if cluster.yunikorn_service:
            self._yunikorn = YunikornReader(self.connection, cluster.yunikorn_service, self.watcher.record_preempted)
        self.watcher.start()
        if self._yunikorn is not None:
            self._yunikorn.start()

    @property
    def yunikorn(self) -> YuniKornReading | None:
        """What YuniKorn last said of its queues; None where it has not, or is not asked."""
        return self._yunikorn.reading if self._yunikorn is not None else None

    @property
    def missing(self) -> dict[str, str]:
        """What can't be read or, of Allocations and the lease, written, and passes go on without -> why."""
        asked = {KIND: self._yunikorn.trouble} if self._yunikorn and self._yunikorn.trouble else {}
        told = {WRITTEN: self.allocations.trouble} if self.allocations.trouble else {}
        unheld = {LEASE: self.lease_trouble} if self.lease_trouble else {}
        return {**self.watcher.health().missing, **asked, **told, **unheld}

    def wait_for_first_read(self) -> bool:
        """Wait at the first pass, at most for five seconds, until the cluster is read; whether this is the first.

        So a worker that is given many clusters at once reads only as many together as it has threads for passes. All
        together they would take far longer, as the threads of each would wait for the interpreter.
        """
        first, self._first = self._first, False
        if first:
            self.watcher.wait_synced(_FIRST_READ_S)
        return first

    def lead(self) -> bool:
        """Claim to be the one that acts here, and keep claiming; whether we are."""
        if self._lease is None and not self._closing:
            with logged_only_with(cluster=self._cluster_name):
                self._lease = ClusterLease(self.connection, identity=self._identity)
                self._lease.renew()
                self._lease.start()
        return self.leads()

    @property
    def rival(self) -> str:
        """Who acts here instead of us; empty when nobody does."""
        holder = self._lease.holder if self._lease is not None else ""
        return "" if holder == self._identity else holder

    @property
    def lease_trouble(self) -> str:
        """Why nobody acts here, though we would; empty where we can, somebody else does, or it is only too early."""
        return self._lease.error if self._lease is not None and not self.rival and not self.leads() else ""

    @property
    def stopped(self) -> str | None:
        """Why nobody is to act here, as an annotation of the lease says, perhaps nothing; None: there is none."""
        return self._lease.stopped if self._lease is not None else None

    def leads(self) -> bool:
        """Whether a request sent now is over before anyone else may act."""
        lease = self._lease
        return not self._closing and lease is not None and lease.holds_now(self.connection.timeout_s)

    def resign(self) -> None:
        """Give the lease back; nothing when we hold none."""
        if self._lease is not None:
            self._lease.stop()
            self._lease = None

    def close(self) -> None:
        """End everything. A pass that runs stops before its next eviction; after it none begins here any more."""
        self._closing = True
        self.busy.acquire(timeout=_PATIENCE_S)  # never given back
        self.end()

    def end(self) -> None:
        """End everything, where no pass runs and none can begin."""
        self._closing = True
        self.resign()
        self.watcher.stop()
        if self._yunikorn is not None:
            self._yunikorn.stop()


class Watches:
    """Opens a cluster's watch at its first pass and keeps it; reopened when the way to the cluster changes."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or Clock()
        self._lock = threading.Lock()
        self._open: dict[int, Watch] = {}
        self._refused: dict[int, tuple[Source, SettingsError, float]] = {}
        """Why a watch could not be opened, and until when (steady clock) that isn't tried again."""

    def of(self, cluster: Cluster) -> Watch:
        """The watch of a cluster, opened if need be. Raises SettingsError for a way that can't be used.

        Opening may take as long as a program that signs in; other clusters don't wait for that.
        """
        source = _source(cluster)
        with self._lock:
            watch = self._open.get(cluster.pk)
            if watch is not None and watch.source == source and not watch.connection.moved:
                return watch
            refused, error, until_s = self._refused.get(cluster.pk, (None, None, 0.0))
            if error is not None and refused == source and self._clock.steady_s() < until_s:
                raise SettingsError(error.sentence)
            self._refuse(
                cluster, source, SettingsError(gettext_noop("Signing in to the cluster. This can take some time."))
            )
            self._open.pop(cluster.pk, None)
        if watch is not None:
            watch.close()
        try:
            with logged_only_with(cluster=cluster.name):  # its threads outlive this pass
                watch = Watch(cluster)
        except SettingsError as error:
            self._refuse(cluster, source, error)
            raise
        with self._lock:
            self._refused.pop(cluster.pk, None)
            self._open[cluster.pk] = watch
        return watch

    def _refuse(self, cluster: Cluster, source: Source, error: SettingsError) -> None:
        self._refused[cluster.pk] = (source, error, self._clock.steady_s() + _RETRY_S)

    def keep(self, clusters: Collection[int]) -> None:
        """End the watches of all other clusters: nobody asks for their passes here any more."""
        with self._lock:
            left = [self._open.pop(pk) for pk in self._open.keys() - set(clusters)]
        for watch in left:  # which takes a while: other clusters don't wait for that
            watch.close()

    def newly_read(self) -> list[int]:
        """Return the clusters that have been read since their last pass, which came too early; each only once."""
        with self._lock:
            waiting = {pk: watch for pk, watch in self._open.items() if watch.too_early}
        read = [pk for pk, watch in waiting.items() if watch.watcher.wait_synced(0)]
        for pk in read:
            waiting[pk].too_early = False
        return read

    def give(self, to: str) -> None:
        """Hand one cluster that has no pass just now to another worker; nothing where all have one."""
        with self._lock:
            idle = ((pk, watch) for pk, watch in self._open.items() if watch.busy.acquire(blocking=False))
            pk, watch = next(idle, (0, None))
            self._open.pop(pk, None)
        if watch is not None:
            try:
                ownership.hand_over(cluster=pk, owner=OWNER, to=to)  # first, so that no pass begins here any more
            finally:  # where the database is away it stays ours, and its next pass opens another
                watch.end()

    def stop(self) -> None:
        """End every watch."""
        with self._lock:
            for watch in self._open.values():
                watch.close()
            self._open.clear()


WATCHES = Watches()
