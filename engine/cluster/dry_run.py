"""The executor that only notes what would be done."""

from collections.abc import Callable, Collection, Iterable

import msgspec

from engine.cluster.outcomes import EvictionOutcome, EvictionResult, Outcome, PodRef, Result, reserved_for
from engine.snapshot import Node


class Step(msgspec.Struct, frozen=True):
    """One operation that would have been carried out."""

    operation: str
    """reserve, release, sweep, evict or event."""
    target: str
    """A node's name, or a pod's ``namespace/name``."""
    uid: str = ""
    """Of the pod that it is about."""
    detail: str = ""


class DryRun:
    """An executor (outcomes.Executor) that sends nothing; ``steps`` has what would have been done, in order."""

    def __init__(self, nodes: Callable[[], Iterable[Node]] = tuple) -> None:
        """``nodes`` tells the nodes as last seen, for ``sweep``."""
        self._nodes = nodes
        self.steps: list[Step] = []

    def reserve(self, node: str, ask: PodRef) -> Result:
        """Note it; DONE."""
        return self._noted(Step("reserve", node, ask.uid))

    def release(self, node: str, ask_uid: str) -> Result:
        """Note it; DONE."""
        return self._noted(Step("release", node, ask_uid))

    def sweep(self, open_ask_uids: Collection[str]) -> tuple[str, ...]:
        """Note each node that would be freed."""
        stale = sorted(node.name for node in self._nodes() if reserved_for(node) - set(open_ask_uids))
        for name in stale:
            self._noted(Step("sweep", name))
        return tuple(stale)

    def evict(self, victim: PodRef, *, dry_run: bool = False) -> EvictionResult:
        """Note it, unless the server would only have been asked; ACCEPTED."""
        if not dry_run:
            self._noted(Step("evict", f"{victim.namespace}/{victim.name}", victim.uid))
        return EvictionResult(outcome=EvictionOutcome.ACCEPTED)

    def event(self, pod: PodRef, reason: str, message: str, type_: str = "Normal") -> Result:
        """Note it; DONE."""
        return self._noted(Step("event", f"{pod.namespace}/{pod.name}", pod.uid, f"{type_} {reason}: {message}"))

    def _noted(self, step: Step) -> Result:
        self.steps.append(step)
        return Result(outcome=Outcome.DONE)
