"""The decision about a pending pod, and the trace that explains it: plain, serializable, stable data."""

import msgspec
from msgspec import UNSET, UnsetType

from engine.model.decision.facts import (
    DeservedFigures,
    NodeVerdict,
    PodFacts,
    PodVerdict,
    QueueFigures,
    QuotaFigures,
    ReclaimNotice,
    ShareFigures,
)
from engine.model.decision.group_facts import GroupFacts, UnitFacts
from engine.model.decision.reasons import Interlock, Outcome, PodReason, Reason
from engine.model.snapshot import Reservation, Snapshot


class Trace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a decision rests on.

    Pods and nodes are listed in full for the chosen node and the twenty best nodes; the others are counted.
    """

    fence: str = ""
    """The queue whose fence bounds the pending pod's preemption; empty: none does."""
    entitling: dict[str, str] = {}
    """Resource -> the queue whose guarantee the pending pod claims."""
    queues: tuple[QueueFigures, ...] = ()
    """The pending pod's queue and all above it, then the victims' queues and all above them."""
    reprieved: tuple[PodVerdict, ...] = ()
    excluded: tuple[PodVerdict, ...] = ()
    """Pods of the chosen node that never were candidates."""
    nodes: tuple[NodeVerdict, ...] = ()
    candidates: int = 0
    excluded_counts: dict[str, int] = {}
    """PodReason -> number of pods in the whole cluster."""
    node_counts: dict[str, int] = {}
    """NodeReason -> number of nodes that were not chosen."""
    short: tuple[QuotaFigures, ...] = ()
    """Under policies that give quota: the resources of which there is too little quota."""
    shares: tuple[ShareFigures, ...] = ()
    """Under ``fair-share``: the queues and cohorts on both sides."""
    deserved: tuple[DeservedFigures, ...] = ()
    """Under ``deserved``: the pending pod's queue and all above it, then the victims' queues and all above them."""
    units: tuple[UnitFacts, ...] | UnsetType = UNSET
    """Where groups are evicted whole: those that are, then those that stay. Unset where every pod goes alone."""


BY_QUOTA: set[str] = set()
"""The policies that give quota and choose no node; the scheduler then decides where the pods run. The registry of
policies fills it."""


class Safeguard(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A restriction that holds back a decision for as long as it exists."""

    interlock: Interlock
    detail: str
    """The paused queue, the disruption budgets (``namespace/name``), or the queue in which this engine does not act."""


class Decision(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The decision about one pending pod: what was found and what was chosen."""

    policy: str
    dialect: str = ""
    ask: PodFacts
    outcome: Outcome
    reason: Reason
    detail: str = ""
    """What the sentence of the reason mentions: a queue, a resource, a rule."""
    due_ms: int | None = None
    """With reason ``delay`` or ``grace``: when the pod may preempt."""
    node: str | None = None
    victims: tuple[PodVerdict, ...] = ()
    together: tuple[PodFacts, ...] = ()
    """The other pods of its workload or group, which are decided with it."""
    notices: tuple[ReclaimNotice, ...] = ()
    """Under ``deserved``: the notices to the queues that are to give back for the pod."""
    safeguard: Safeguard | UnsetType = UNSET
    """What lastingly holds the decision back, because no set of victims is permitted. Unset if nothing does: then it is
    not written, just as it is missing in decisions that are older than this field."""
    group: GroupFacts | UnsetType = UNSET
    """The group that the pending pod is a member of, if it is decided as a whole; ``node`` is None then. Unset: the pod
    is decided alone."""
    trace: Trace = Trace()

    @property
    def nodes(self) -> dict[str, str]:
        """Return the uid of each pod that gets a node, and the node."""
        if self.group:
            return self.group.nodes
        return {} if self.node is None else {self.ask.uid: self.node}

    @property
    def pending(self) -> tuple[PodFacts, ...]:
        """Return the pods that the decision is about."""
        return (self.ask, *self.together)

    @property
    def placed(self) -> tuple[PodFacts, ...]:
        """Return those of them that get a node."""
        nodes = self.nodes
        return tuple(pod for pod in self.pending if pod.uid in nodes)

    @property
    def by_quota(self) -> bool:
        """Return whether the decision is about quota alone, and not about a node."""
        return self.policy in BY_QUOTA

    @property
    def admits(self) -> tuple[PodFacts, ...]:
        """Return the pods to which the decision gives quota."""
        given = self.by_quota and (self.evicts or self.outcome is Outcome.FITS)
        return self.pending if given else ()

    @property
    def rooms(self) -> tuple[Reservation, ...]:
        """Return what is reserved from now on.

        It is capacity for each pending pod on its node or on any node, or quota for all pods that get some.
        """
        anywhere = self.reason in (Reason.BELOW_DESERVED, Reason.HIGH_PRIORITY)
        pods, nodes = self.admits, self.nodes
        if not pods and self.evicts:
            pods = self.placed or ((self.ask,) if anywhere else ())
        return tuple(
            Reservation(ask_uid=pod.uid, node=nodes.get(pod.uid, ""), queue=pod.queue, requests=pod.requests)
            for pod in pods
        )

    def node_of(self, verdict: PodVerdict) -> str:
        """Return the node of a victim; decisions of the past may not say it of the victim itself."""
        return verdict.pod.node or self.node or ""

    @property
    def to_evict(self) -> tuple[PodVerdict, ...]:
        """Return the victims that have to be evicted, without those that are terminating already."""
        return tuple(verdict for verdict in self.victims if verdict.reason is not PodReason.TERMINATING)

    @property
    def evicts(self) -> bool:
        """Return whether pods are evicted for the decision, even if all of them are terminating already."""
        return self.outcome is Outcome.PREEMPT and bool(self.victims)


def apply_decision(snapshot: Snapshot, decision: Decision) -> Snapshot:
    """Return the snapshot that the next pending pod sees: the victims terminate, and capacity is reserved."""
    rooms = decision.rooms
    if not rooms:
        return snapshot
    victims = (snapshot.pod(verdict.pod.uid, decision.node_of(verdict)) for verdict in decision.victims)
    snapshot = snapshot.expecting(pod for pod in victims if pod is not None)
    for held in rooms:
        snapshot = snapshot.reserving(held)
    return snapshot


def encode(decision: Decision) -> bytes:
    """Return the decision as canonical JSON: the same decision gives the same bytes."""
    return msgspec.json.encode(decision, order="sorted")


def decode(data: bytes | str) -> Decision:
    """Read back what ``encode`` wrote. Raises msgspec.ValidationError."""
    return msgspec.json.decode(data, type=Decision)
