"""Ensures one acting engine per cluster with a Lease in the cluster, taken and renewed by compare-and-swap.

Times that another holder wrote are never compared with the local clock: a lease counts as abandoned when it has not
changed for a whole duration since it was first seen in that state. The duration of the own lease is counted from before
the renewal was sent.
"""

import logging
import threading
from datetime import UTC, datetime
from typing import Any

from kubernetes import client

from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.kubernetes_client import KubernetesClient
from engine.cluster.errors import ApiFailure, ClusterError
from engine.cluster.timing import Clock
from engine.cluster.watching.supervised import Supervised
from engine.formats.untrusted_text import kept_text

log = logging.getLogger(__name__)

KIND = "Lease"
LEASE_NAME = "scheduler-admin"
LEASE_NAMESPACE = "kube-system"
"""A fixed namespace that exists in every cluster, so that independent installations contend for the same lease."""
STOP = "scheduler-admin.io/stop"
"""An annotation of the Lease. While anybody with write access has set it, to any value, no engine acts."""
LONGEST_REASON = 300
"""How many characters of the annotation are kept."""
DURATION_S = 15
_NOT_FOUND, _CONFLICT = 404, 409


def holder_of(connection: Connection) -> tuple[str, datetime | None]:
    """Return the holder of the lease, empty for nobody, and when it was renewed. Raises ClusterError."""
    spec = _spec(_read(client.CoordinationV1Api(KubernetesClient(connection))))
    return spec.holder_identity or "", spec.renew_time


def _read(api: "client.CoordinationV1Api", timeout_s: float | None = None) -> "client.V1Lease | None":
    try:
        return api.read_namespaced_lease(LEASE_NAME, LEASE_NAMESPACE, _request_timeout=timeout_s)
    except ApiFailure as error:
        if error.code == _NOT_FOUND:
            return None
        raise


def _spec(lease: "client.V1Lease | None") -> "client.V1LeaseSpec":
    return (lease.spec if lease else None) or client.V1LeaseSpec()


def _meta(lease: "client.V1Lease | None") -> "client.V1ObjectMeta":
    return (lease.metadata if lease else None) or client.V1ObjectMeta(name=LEASE_NAME, namespace=LEASE_NAMESPACE)


def _stop_in(lease: "client.V1Lease | None") -> str | None:
    stop_text = (_meta(lease).annotations or {}).get(STOP)
    return None if stop_text is None else kept_text(stop_text, LONGEST_REASON)


class ClusterLease:
    """This process's claim to be the only acting engine; safe to share between threads."""

    def __init__(
        self, connection: Connection, *, identity: str, clock: Clock | None = None, duration_s: int = DURATION_S
    ) -> None:
        """Create a claim; ``identity`` must be unique to this process and start.

        Otherwise a restarted process would take its predecessor's lease for its own.
        """
        self._api = client.CoordinationV1Api(KubernetesClient(connection))
        self._identity = identity
        self._clock = clock or Clock()
        self._duration_s = duration_s
        self._timeout_s = duration_s / 3  # two requests, and time left to try again before the lease ends
        self._lock = threading.Lock()
        self._last_seen: tuple[str | None, float] = (None, 0.0)
        """The resource version of another holder's lease, and when (steady clock) it was first seen."""
        self._valid_until = 0.0
        self._acts_from = 0.0
        self._renewing = Supervised("lease", self._renew, failed=self._note)
        self.holder = ""
        """The last known holder of the lease; empty: nobody."""
        self.error = ""
        """Why the last attempt failed, as a sentence."""
        self.stopped: str | None = None
        """The text of the annotation that stops every engine, possibly empty; None: there is no annotation."""

    def holds(self, now_s: float, request_timeout_s: float) -> bool:
        """Return whether a request sent at ``now_s`` (steady clock) ends before the lease may, even if it times out."""
        return self._acts_from <= now_s and now_s + request_timeout_s < self._valid_until

    def holds_now(self, request_timeout_s: float) -> bool:
        """Return whether ``holds`` is true at this moment."""
        return self.holds(self._clock.steady_s(), request_timeout_s)

    def renew(self) -> bool:
        """Take or renew the lease if it is free or ours, and return whether it is ours now.

        Never raises; see ``error``.
        """
        with self._lock:
            try:
                self._attempt()
                self.error = ""
            except ClusterError as error:
                self.error = str(error)
            return self._clock.steady_s() < self._valid_until

    def start(self) -> None:
        """Start a thread that renews the lease three times per duration. Call it once."""
        self._renewing.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        """Stop renewing and give the lease back, so that another engine need not wait."""
        self._renewing.stop(timeout_s)
        self.release()

    def release(self) -> None:
        """Give the lease back if it is ours. Call it when no request is in progress. Never raises."""
        with self._lock:
            is_held = self._valid_until > 0
            self._valid_until = 0.0  # first, so that nothing new begins whatever the server answers
            if not is_held:
                return
            try:
                lease = _read(self._api, self._timeout_s)
                if lease is not None and _spec(lease).holder_identity == self._identity:
                    self._write(lease, holder="")
                    self.holder = ""
            except ClusterError as error:
                self.error = str(error)

    def _renew(self) -> float:
        self.renew()
        return self._duration_s / 3

    def _note(self, why: str) -> None:
        self.error = why

    def _attempt(self) -> None:
        sent_s = self._clock.steady_s()
        lease = _read(self._api, self._timeout_s)
        holder = _spec(lease).holder_identity or ""
        self.holder = holder
        self.stopped = _stop_in(lease)
        if self.stopped is not None:
            self._valid_until = 0.0
            return
        if holder not in ("", self._identity):
            self._valid_until = 0.0
            if not self._abandoned(lease, sent_s=sent_s, answered_s=self._clock.steady_s()):
                return
        if lease is None:
            # How long the lease has been missing is unknown: a former holder may trust it for one more duration.
            self._acts_from = sent_s + self._duration_s
        if not self._write(lease, holder=self._identity):
            self._valid_until = 0.0
            return
        self.holder = self._identity
        self._valid_until = sent_s + self._duration_s

    def _abandoned(self, lease: "client.V1Lease | None", *, sent_s: float, answered_s: float) -> bool:
        """Return whether the lease has stayed unchanged for a whole duration.

        The duration is counted from the first answer with this version to the moment of the latest request.
        """
        version = _meta(lease).resource_version
        duration_s = max(self._duration_s, _spec(lease).lease_duration_seconds or 0)
        if self._last_seen[0] != version:
            self._last_seen = (version, answered_s)
        return sent_s - self._last_seen[1] >= duration_s

    def _write(self, current: "client.V1Lease | None", *, holder: str) -> bool:
        """Replace exactly the lease that was found; return False if another writer was faster."""
        former = _spec(current)
        now = datetime.fromtimestamp(self._clock.wall_ms() / 1000, UTC)
        changes_hands = (former.holder_identity or "") != holder
        spec = former.model_copy(
            update={
                "holder_identity": holder,
                "lease_duration_seconds": self._duration_s,
                "acquire_time": now if changes_hands else former.acquire_time,
                "renew_time": now,
                "lease_transitions": (former.lease_transitions or 0) + bool(changes_hands and holder and current),
            }
        )
        lease = client.V1Lease(api_version="coordination.k8s.io/v1", kind=KIND, metadata=_meta(current), spec=spec)
        sending: dict[str, Any] = {"_request_timeout": self._timeout_s, "_preload_content": False}
        try:
            if current:
                self._api.replace_namespaced_lease(LEASE_NAME, LEASE_NAMESPACE, lease, **sending)
            else:
                self._api.create_namespaced_lease(LEASE_NAMESPACE, lease, **sending)
        except ApiFailure as error:
            if error.code == _CONFLICT:
                return False
            raise
        return True
