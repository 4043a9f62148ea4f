"""What an executor does to a cluster, and how each operation ended, as plain data."""

from collections.abc import Callable, Collection
from enum import StrEnum
from typing import Protocol

import msgspec

from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from engine.model.objects import Node


class PodRef(Protocol):
    """What an operation needs of a pod; engine.model.objects.Pod and engine.model.decision.PodFacts both have it."""

    @property
    def uid(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def name(self) -> str: ...


class EvictionOutcome(StrEnum):
    """What became of a request to evict (or, in a server-side dry run, what would become of it)."""

    ACCEPTED = "accepted"
    """The pod is on its way out."""
    GONE = "gone"
    """No pod with this UID is there any more; one that took its name is untouched."""
    HELD = "held"
    """A disruption budget, or the server's own load, does not allow it now: try again after ``retry_after_s``."""
    BLOCKED = "blocked"
    """It can't succeed as things are, for instance with two budgets over one pod: do not try again blindly."""
    REFUSED = "refused"
    """We lack the right, or the server rejects the request as such."""
    RETRY = "retry"
    """No clear answer: the same request may be sent again, its UID makes it harmless."""


class EvictionResult(msgspec.Struct, frozen=True, kw_only=True):
    outcome: EvictionOutcome
    sentence: str = ""
    """What the server said, or what went wrong; empty when accepted."""
    budget: bool = False
    """HELD by a disruption budget rather than by the server's load."""
    retry_after_s: float | None = None
    """How long the server asks to wait, in seconds; None: it did not say."""


class OperationOutcome(StrEnum):
    """What became of any other operation. Each may be repeated; what was done already is DONE again."""

    DONE = "done"
    GONE = "gone"
    """The ask, or the node, is not there any more; nothing of ours is left behind."""
    BOUND = "bound"
    """The ask runs already; nothing of ours is left behind."""
    TAKEN = "taken"
    """The node is kept for another ask."""
    REFUSED = "refused"
    """We lack the right, or the server rejects the request as such."""
    RETRY = "retry"
    """No clear answer, or others kept changing the object: try again in the next pass."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    outcome: OperationOutcome
    sentence: str = ""
    retry_after_s: float | None = None

    @property
    def done(self) -> bool:
        """Whether the cluster is now as was asked for."""
        return self.outcome is OperationOutcome.DONE


class KeptBy(StrEnum):
    """How freed room is kept for its ask until that is bound there."""

    TAINT = "taint"
    """Our taint on the node, and the ask's toleration of it: nobody else is bound there."""
    NOMINATE = "nominate"
    """nominatedNodeName alone. Higher priorities don't heed it; and kube-scheduler drops it at the ask's next failed
    attempt, unless it preempts by itself and the ask's preemptionPolicy is Never."""
    NOTHING = "nothing"
    """Whoever comes first."""


class ReservationTerms(msgspec.Struct, frozen=True, kw_only=True):
    """On what terms a node is kept."""

    kept_by: KeptBy = KeptBy.TAINT
    until_ms: int
    """When it is given back at the latest, in milliseconds since 1970; told to whoever looks at the node."""
    decision: str
    """Where the decision can be read."""


class Swept(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a sweep."""

    freed: tuple[str, ...] = ()
    """The names of the nodes that are kept no longer."""
    sentence: str = ""
    """Why there may be more; empty when there are not."""

    @property
    def done(self) -> bool:
        """Whether nothing stale is left."""
        return not self.sentence


Forgotten = Callable[[Collection[str]], Collection[str]]
"""Of asks (uids) for which no decision is open: those of which it is not known here that their decision has ended."""


class Executor(Protocol):
    """Carries a plan out. No method raises for what a cluster may answer, or not answer; the result says it."""

    def reserve(self, node: str, ask: PodRef, terms: ReservationTerms) -> Result:
        """Keep a node for an ask: our taint, the matching toleration, and nominatedNodeName for people to read.

        After RETRY the taint may be there already: repeat, or release.
        """

    def release(self, node: str, ask_uid: str) -> Result:
        """Take our taint for this ask off the node; DONE when there is none."""

    def sweep(
        self, open_ask_uids: Collection[str], *, thorough: bool = False, forgotten: Forgotten | None = None
    ) -> Swept:
        """Take off all our taints that belong to none of these asks.

        ``thorough`` asks the API server which there are, where the watch may still be behind. What is kept for asks
        that were ``forgotten`` stays until the time that stands on the node.
        """

    def evict(self, victim: PodRef, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        """Evict through the Eviction API, this very pod (UID) only; ``dry_run`` lets the server judge, not act.

        ``again``: a request may have been sent before; the pod is looked at first, and no second one is sent for one
        that is on its way.
        """

    def event(self, pod: PodRef, reason: str, message: str, type_: str = "Normal") -> Result:
        """Tell the pod's readers; the same thing said again counts up the same Event."""

    def mark(self, victim: PodRef, reason: str, message: str) -> Result:
        """Set our own condition on a pod that was told to go; GONE when it went before."""


def reserved_for(node: Node) -> frozenset[str]:
    """The UIDs of the asks for which our taints keep this node."""
    return frozenset(taint.value for taint in node.taints if taint.key == RESERVED_TAINT_KEY)
