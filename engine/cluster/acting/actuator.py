"""Acts on a cluster: reserve a node, evict, tell. The only verbs: get, list, patch, create; never delete."""

from collections.abc import Callable, Collection, Iterable

from engine.cluster.acting.eviction import Evicting
from engine.cluster.acting.outcomes import EvictionResult, Forgotten, PodRef, ReservationTerms, Result, Swept
from engine.cluster.acting.pod_events import PodEventWriter
from engine.cluster.acting.reservation import Holding
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
        """``nodes`` tells the nodes as last seen (a watcher's), to spare ``sweep`` from listing them.

        ``reached`` is told each point between two writes, where a crash would leave the first alone.
        """
        self._holding = Holding(connection, nodes=nodes, clock=clock or Clock(), reached=reached)
        self._evicting = Evicting(connection)
        self._telling = PodEventWriter(connection, clock or Clock())

    def reserve(self, node: str, ask: PodRef, terms: ReservationTerms) -> Result:
        """See Executor."""
        return self._holding.reserve(node, ask, terms)

    def release(self, node: str, ask_uid: str) -> Result:
        """See Executor."""
        return self._holding.release(node, ask_uid)

    def sweep(
        self, open_ask_uids: Collection[str], *, thorough: bool = False, forgotten: Forgotten | None = None
    ) -> Swept:
        """See Executor."""
        return self._holding.sweep(open_ask_uids, thorough=thorough, forgotten=forgotten)

    def evict(self, victim: PodRef, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        """See Executor."""
        return self._evicting.evict(victim, dry_run=dry_run, again=again)

    def event(self, pod: PodRef, reason: str, message: str, type_: str = "Normal") -> Result:
        """See Executor."""
        return self._telling.event(pod, reason, message, type_)

    def mark(self, victim: PodRef, reason: str, message: str) -> Result:
        """See Executor."""
        return self._telling.mark(victim, reason, message)
