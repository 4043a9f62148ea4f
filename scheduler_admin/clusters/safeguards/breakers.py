"""Breakers: stale or sick input opens them, nothing is evicted while one is open, and they close by themselves."""

import time
from collections import deque
from collections.abc import Callable, Collection

from engine.cluster.acting.outcomes import EvictionOutcome, OperationOutcome
from engine.cluster.watching.watcher import Health
from engine.model.decision import Interlock
from engine.model.objects import Node
from scheduler_admin.clusters.safeguards.holds import Hold

STALE_S = 30.0
"""A picture older than this, in seconds, is not acted on; longer than a watch may be silent, see ReflectorSettings."""
GAP_S = 10.0
"""So long a kind may be in trouble, in seconds: reflectors try again within a few."""
SKEW_S = 30.0
"""Ages and delays are our clock's moment minus the server's: so far they may be wrong, in seconds."""
NOT_READY_PERCENT = 45
"""More nodes than that not ready point to a fault between us and them rather than of theirs."""

_FAILURES = frozenset(
    {EvictionOutcome.RETRY, EvictionOutcome.REFUSED, OperationOutcome.RETRY, OperationOutcome.REFUSED}
)
FIRST_READING = "The cluster is being read for the first time."


def unreadable(health: Health) -> str:
    """Why no pass can be made of the picture, as a sentence; empty when one can."""
    if health.stranger:
        return health.stranger
    if health.synced and health.staleness_s is not None and health.staleness_s <= STALE_S:
        return ""
    if health.errors:
        return "; ".join(health.errors)
    return "The API server has gone silent." if health.synced else FIRST_READING


class Writes:
    """How the API server took our last requests to act. When most fail we stop, and try again with one."""

    LAST = 20
    WITHIN_S = 300.0
    FEWEST = 5
    AGAIN_S = 60.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock``: seconds."""
        self._clock = clock
        self._last: deque[tuple[float, bool]] = deque(maxlen=self.LAST)
        self._refused = False
        """Whether a node or an ask may not be written to, as without the rights: one such answer is enough."""

    def note(self, outcome: OperationOutcome | EvictionOutcome) -> None:
        """One request more, and how it ended. The first that succeeds while too many have failed clears them all."""
        failed = outcome in _FAILURES
        if not failed and self.failing:
            self._last.clear()
        self._refused = outcome is OperationOutcome.REFUSED or (self._refused and failed)
        self._last.append((self._clock(), failed))

    @property
    def figures(self) -> dict[str, int]:
        """How many failed of how many requests of late."""
        recent = [failed for at, failed in self._last if self._clock() - at < self.WITHIN_S]
        return {"failed": sum(recent), "requests": len(recent)}

    @property
    def failing(self) -> bool:
        """Whether too many failed."""
        failed, requests = self.figures.values()
        return failed > 0 and (self._refused or (failed >= self.FEWEST and failed * 2 > requests))

    @property
    def may_try(self) -> bool:
        """Whether the last failure is long enough ago to try with one."""
        return self._clock() - max((at for at, failed in self._last if failed), default=0.0) >= self.AGAIN_S


def open_breakers(health: Health, nodes: Collection[Node], writes: Writes) -> list[Hold]:
    """Those that are open now, with their figures."""
    found: dict[Interlock, dict[str, int]] = {}
    if health.gap_s > GAP_S:
        found[Interlock.WATCH_GAP] = {"seconds": int(health.gap_s)}
    if health.clock_skew_s is not None and abs(health.clock_skew_s) > SKEW_S:
        found[Interlock.CLOCK_SKEW] = {"seconds": round(health.clock_skew_s)}
    not_ready = sum(not node.ready for node in nodes)
    if not_ready * 100 > NOT_READY_PERCENT * len(nodes):
        found[Interlock.NODES_NOT_READY] = {"not_ready": not_ready, "nodes": len(nodes)}
    if writes.failing:
        found[Interlock.FAILING_WRITES] = writes.figures
    return [Hold(interlock=name, figures=figures) for name, figures in found.items()]
