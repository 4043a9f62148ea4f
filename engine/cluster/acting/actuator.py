"""Acts on a cluster: reserves nodes, evicts pods, reports. Only the verbs get, list, patch and create; never delete."""

from collections.abc import Callable, Collection, Iterable

from engine.cluster.acting.eviction import PodEvictions
from engine.cluster.acting.outcomes import EvictionResult, ForgottenPods, PodRef, ReservationTerms, Result, SweepResult
from engine.cluster.acting.pod_events import PodEventWriter
from engine.cluster.acting.reservation import NodeReservations
from engine.cluster.connecting.connection import Connection
from engine.cluster.timing import Clock
from engine.model.objects import Node


class Actuator:
    """The executor (outcomes.Executor); safe to share between threads."""

    def __init__(
        self,
        connection: Connection,
        *,
        nodes: Callable[[], Iterable[Node]] | None = None,
        clock: Clock | None = None,
        reached: Callable[[str], None] = lambda _point: None,
    ) -> None:
        """Create an actuator.

        ``nodes`` returns the nodes as last seen (by a watcher), which saves ``sweep`` from listing them. ``reached`` is
        called at each point between two writes, where a crash would leave the first write alone.
        """
        self._reservations = NodeReservations(connection, nodes=nodes, clock=clock or Clock(), reached=reached)
        self._evictions = PodEvictions(connection)
        self._event_writer = PodEventWriter(connection, clock or Clock())

    def reserve(self, node: str, pod: PodRef, terms: ReservationTerms, *, owner: str = "") -> Result:
        """Reserve a node for a pending pod; see Executor.reserve."""
        return self._reservations.reserve(node, pod, terms, owner or pod.uid)

    def release(self, node: str, owner: str, *, waiting: Iterable[PodRef] = ()) -> Result:
        """Release the reservation of a node; see Executor.release."""
        return self._reservations.release(node, owner, waiting)

    def sweep(
        self, open_pod_uids: Collection[str], *, thorough: bool = False, forgotten: ForgottenPods | None = None
    ) -> SweepResult:
        """Release stale reservations; see Executor.sweep."""
        return self._reservations.sweep(open_pod_uids, thorough=thorough, forgotten=forgotten)

    def evict(self, victim: PodRef, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        """Evict a victim; see Executor.evict."""
        return self._evictions.evict(victim, dry_run=dry_run, again=again)

    def event(self, pod: PodRef, reason: str, message: str, type_: str = "Normal") -> Result:
        """Record an Event of a pod; see Executor.event."""
        return self._event_writer.event(pod, reason, message, type_)

    def mark(self, victim: PodRef, reason: str, message: str) -> Result:
        """Mark a victim with a condition; see Executor.mark."""
        return self._event_writer.mark(victim, reason, message)
