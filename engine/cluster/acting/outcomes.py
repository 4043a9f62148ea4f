"""The operations of an executor on a cluster, and their outcomes, as plain data."""

from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from typing import Protocol

import msgspec

from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from engine.model.objects import Node


class PodRef(Protocol):
    """The fields of a pod that an operation needs: model.objects.Pod and model.decision.PodFacts have them."""

    @property
    def uid(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def name(self) -> str: ...


class EvictionOutcome(StrEnum):
    """The outcome of a request to evict (or, in a server-side dry run, the outcome it would have)."""

    ACCEPTED = "accepted"
    """The pod is terminating."""
    GONE = "pod-gone"
    """No pod with this UID exists any more; a pod that took over its name is untouched."""
    HELD = "deferred"
    """A disruption budget, or the server's own load, does not allow it now: try again after ``retry_after_s``."""
    BLOCKED = "blocked"
    """It can't succeed at present, for instance with two budgets for one pod: do not retry without a change."""
    REFUSED = "rejected"
    """We lack the right, or the server rejects the request itself."""
    RETRY = "retry"
    """No clear answer: the same request may be sent again, its UID makes that harmless."""


class EvictionResult(msgspec.Struct, frozen=True, kw_only=True):
    outcome: EvictionOutcome
    sentence: str = ""
    """The server's message, or what went wrong; empty when accepted."""
    budget: bool = False
    """Whether a disruption budget, rather than the server's load, caused HELD."""
    retry_after_s: float | None = None
    """How many seconds the server asks to wait; None: it named no time."""


class OperationOutcome(StrEnum):
    """The outcome of any other operation. Each may be repeated; what was already done is DONE again."""

    DONE = "done"
    GONE = "gone"
    """The pending pod or the node no longer exists; nothing of ours is left behind."""
    BOUND = "bound"
    """The pod is already bound; nothing of ours is left behind."""
    TAKEN = "taken"
    """The node is reserved for another pending pod."""
    REFUSED = "refused"
    """We lack the right, or the server rejects the request itself."""
    RETRY = "retry"
    """No clear answer, or others kept changing the object: try again in the next pass."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    outcome: OperationOutcome
    sentence: str = ""
    retry_after_s: float | None = None

    @property
    def done(self) -> bool:
        """Return whether the cluster is now in the requested state."""
        return self.outcome is OperationOutcome.DONE


class ReservationMethod(StrEnum):
    """How freed capacity is reserved for its pending pod until the pod is bound there."""

    TAINT = "taint"
    """Our taint on the node, and the pod's toleration of it: no other pod is bound there."""
    NOMINATE = "nominate"
    """nominatedNodeName alone.

    Pods of higher priority ignore it. kube-scheduler drops it at the pod's next failed attempt, unless it preempts by
    itself and the pod's preemptionPolicy is Never.
    """
    NONE = "none"
    """No reservation: the first pod that the scheduler places gets the capacity."""


class ReservationTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The terms on which a node is reserved."""

    kept_by: ReservationMethod = ReservationMethod.TAINT
    until_ms: int
    """When the reservation ends at the latest, in milliseconds since 1970; it is also written to the node."""
    decision: str
    """Where the decision can be read."""


class SweepResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a sweep."""

    freed: tuple[str, ...] = ()
    """The names of the nodes that are no longer reserved."""
    sentence: str = ""
    """Why stale reservations may remain; empty when none do."""

    @property
    def done(self) -> bool:
        """Return whether no stale reservation is left."""
        return not self.sentence


ForgottenPods = Callable[[Collection[str]], Collection[str]]
"""Takes UIDs of pending pods without an open decision; returns those whose decision is not known here to have ended."""


class Executor(Protocol):
    """Carries out a plan. No method raises for an answer of a cluster or for a missing one; the result reports it."""

    def reserve(self, node: str, pod: PodRef, terms: ReservationTerms, *, owner: str = "") -> Result:
        """Reserve a node for a pending pod with our taint, the matching toleration, and nominatedNodeName for readers.

        ``owner``: the uid that the taint carries, which several pods of one group may share on a node; empty: the
        pod's own. After RETRY the taint may exist already: repeat, or release.
        """

    def release(self, node: str, owner: str, *, waiting: Iterable[PodRef] = ()) -> Result:
        """Remove our taint with this uid from the node; DONE when there is none.

        ``waiting``: pods that still wait for the node; they lose their nomination to it, which would keep others out.
        """

    def sweep(
        self, open_pod_uids: Collection[str], *, thorough: bool = False, forgotten: ForgottenPods | None = None
    ) -> SweepResult:
        """Remove all our taints that carry the uid of none of these pending pods.

        ``thorough`` lists the nodes from the API server, as the watch may still be behind. Reservations for pods that
        were ``forgotten`` are kept until the time that is written on the node.
        """

    def evict(self, victim: PodRef, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        """Evict exactly this pod (by UID) through the Eviction API; ``dry_run`` makes the server judge without acting.

        ``again``: a request may have been sent before; the pod is read first, and no second request is sent for a pod
        that is already terminating.
        """

    def event(self, pod: PodRef, reason: str, message: str, type_: str = "Normal") -> Result:
        """Record an Event of the pod; repeating the same message increases the count of the same Event."""

    def mark(self, victim: PodRef, reason: str, message: str) -> Result:
        """Set our own condition on a pod that is being evicted; GONE when it no longer exists."""


def reserved_for(node: Node) -> frozenset[str]:
    """Return the UIDs of the pending pods for which our taints reserve this node."""
    return frozenset(taint.value for taint in node.taints if taint.key == RESERVED_TAINT_KEY)
