"""The facts on which a decision rests: about pods, nodes, and queues with their quota and shares."""

import msgspec
from msgspec import UNSET, UnsetType

from engine.model.decision.reasons import NodeReason, PodReason
from engine.model.objects import Pod
from engine.model.quantities import Amounts


class PodFacts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The facts about a pod that a decision records."""

    uid: str
    namespace: str
    name: str
    queue: str
    application: str
    priority: int
    requests: Amounts
    node: str = ""
    created_ms: int = 0
    started_ms: int | None = None
    checkpoint_ms: int | None = None
    odd_checkpoint: str = ""
    originator: bool = False
    opted_out: bool = False
    controller: str = ""
    grace_s: int = 30
    unschedulable: str = ""
    """The message of the cluster's own scheduler about a pod for which it finds no node."""

    @classmethod
    def of(cls, pod: Pod) -> "PodFacts":
        """Return the facts about a pod of a snapshot."""
        return cls(
            uid=pod.uid,
            namespace=pod.namespace,
            name=pod.name,
            queue=pod.queue or "",
            application=pod.application,
            priority=pod.priority,
            requests=pod.requests,
            node=pod.node or "",
            created_ms=pod.created_ms,
            started_ms=pod.started_ms,
            checkpoint_ms=pod.checkpoint_ms,
            odd_checkpoint=pod.odd_checkpoint,
            originator=pod.originator,
            opted_out=pod.opted_out,
            controller=pod.controller,
            grace_s=pod.grace_s,
            unschedulable=pod.unschedulable_message,
        )

    @property
    def key(self) -> str:
        """Return the pod's ``namespace/name``."""
        return f"{self.namespace}/{self.name}"


class PodVerdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A pod with the reason why it is evicted or kept; ``detail`` names the queue, priority or resource meant."""

    pod: PodFacts
    reason: PodReason
    detail: str = ""


class JointLimit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A limit that lets pods of a node be evicted one by one but not together, though together they would make room."""

    queue: str = ""
    """The queue whose guarantee is the limit; empty: the limit is a disruption budget."""
    resource: str = ""
    guaranteed: int = 0
    used: int = 0
    """What the queue uses of the resource, terminating pods excluded."""
    budget: str = ""
    """The disruption budget's ``namespace/name``."""
    left: int
    """How much of the resource, or how many of the budget's pods, may be evicted for the pending pod."""
    held: int
    """How much is evicted if all needed pods are."""


class NodeVerdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why a node was not chosen; ``detail`` names what the sentence of the reason mentions."""

    node: str
    reason: NodeReason
    detail: str = ""
    victims: int = 0
    limit: JointLimit | UnsetType = UNSET
    """With reason ``not-enough``, what stops the pods that would make room. Unset if there are no such pods."""


class QueueFigures(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A queue's usage before and after a decision, as the invariants count it, summed up the tree."""

    path: str
    before: Amounts
    after: Amounts
    guaranteed: Amounts
    max: Amounts


class QuotaFigures(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A resource of which a queue has too little quota left for what is requested."""

    queue: str
    resource: str
    asked: int
    available: int
    """What the queue could still get, of its own quota and of what others lend it."""
    nominal: int
    """The queue's own quota."""
    used: int


class ShareFigures(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The share of a queue or cohort under fair sharing, for the resource that it borrows most of."""

    queue: str
    text: str
    """The share in thousandths of what could be lent, divided by the weight: ``187.5``."""
    after: str
    """The share once the decision has been carried out."""
    resource: str = ""
    borrowed: int = 0
    lendable: int = 0
    weight: str = "1"


class DeservedFigures(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A queue under policy ``deserved``: what it requests, uses and deserves, summed up the tree."""

    queue: str
    requested: Amounts
    used: Amounts
    after: Amounts
    """What the queue uses once the decision has been carried out."""
    reserved: Amounts
    hard: Amounts
    deserved: Amounts


class ReclaimNotice(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A notice to a queue to give back what it uses beyond what it deserves."""

    queue: str
    over: Amounts
    """What the queue uses beyond what it deserves."""
    due_ms: int
    """When pods of the queue may first be preempted."""
