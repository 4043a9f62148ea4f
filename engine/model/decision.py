"""The decision about a pending pod, and the trace that explains it: plain, serializable, stable data."""

from enum import StrEnum

import msgspec
from msgspec import UNSET, UnsetType

from engine.model.group_facts import GroupFacts, UnitFacts
from engine.model.objects import Pod
from engine.model.quantities import Amounts
from engine.model.snapshot import Reservation, Snapshot


class Outcome(StrEnum):
    PREEMPT = "preempt"
    FITS = "fits"
    """A node has enough free capacity without any eviction."""
    NO_CANDIDATE = "no-candidate"
    """The pod may preempt, but no set of evictable pods makes enough room."""
    SEARCH_LIMIT = "search-limit"
    """The pod may preempt, but none of the sets that were tried makes enough room, and there are more sets."""
    NOT_ELIGIBLE = "not-eligible"
    """The pod may not preempt."""


class Reason(StrEnum):
    """Why a decision ended as it did. The sentences for these reasons are in engine.explain."""

    BELOW_GUARANTEE = "below-guarantee"
    DAEMONSET = "daemonset"
    LAST_RESORT = "last-resort"
    LOWER_PRIORITY = "lower-priority"
    """Pods of lower priority make room."""
    FITS = "fits"
    FITS_SOON = "fits-soon"
    """The pod fits once terminating pods have left."""
    NO_QUEUE = "no-queue"
    WAITING_FOR_VICTIMS = "waiting-for-victims"
    """Pods are already being evicted for it, on the node that it is nominated to."""
    NEVER = "preemption-policy-never"
    DISABLED = "preemption-disabled"
    NOT_TRIED = "not-tried"
    """The scheduler has not yet found the pod unschedulable."""
    DELAY = "delay"
    NO_GUARANTEE = "no-guarantee"
    AT_GUARANTEE = "at-guarantee"
    OVER_MAX = "over-max"
    OVER_GUARANTEE = "over-guarantee"
    """The pod does not fit wholly into what is left of its queue's guarantee, as YuniKorn demands."""
    QUEUE_FULL = "queue-full"
    """A max is reached, and no evictable pod counts against that max."""
    TURNED_OFF = "turned-off"
    """Preemption is turned off for the whole partition."""
    VICTIMS_TOO_SMALL = "victims-too-small"
    """The victims hold less than the pod requests, whatever else is free."""
    LOWERED_MAX = "lowered-max"
    """Pods are evicted because their queue's max was lowered below its usage."""
    UNREAD_RULES = "unread-rules"
    UNREAD = "unread"
    """A pod that counts against a claimed guarantee or a max can't be read, so the usage is unknown."""
    FENCE = "fence"
    """The fence leaves no other queue to preempt in."""
    NO_CANDIDATES = "no-candidates"
    NO_ROOM = "no-room"
    """There are candidates, but on no node do they make enough room."""
    SEARCH_LIMIT = "search-limit"
    """There are candidates, but not all sets of them were tried."""
    DECIDED_WITH = "decided-with"
    """The pod is one of several that are decided together; ``detail`` names the pod that was considered for all."""
    # Of groups of pods:
    NO_GROUP = "no-group"
    """The group that the pod names does not exist; ``detail`` names it."""
    TOO_FEW_MEMBERS = "too-few-members"
    """Fewer pods of the group exist than have to run together."""
    MEMBERS_DIFFER = "members-differ"
    """The members do not have one scheduler, one preemption policy and the group's priority; ``detail`` names one."""
    QUEUES_DIFFER = "queues-differ"
    """The members are of several queues or applications; ``detail`` names one of the others."""
    ONE_NODE_ONLY = "one-node-only"
    """A member can run on one node only, as a DaemonSet's pod; ``detail`` names it."""
    # Of policies that give quota (BY_QUOTA):
    SHORT_OF_QUOTA = "short-of-quota"
    """Its queue has too little quota left, and other queues give some back."""
    BEYOND_QUOTA = "beyond-quota"
    """Its queue could not get that much even if all others had nothing; ``detail`` names queue and resource."""
    BORROWS = "borrows"
    """Its queue would have to borrow, and may not preempt for that; ``detail`` names queue and resource."""
    # Of policy ``deserved``:
    BELOW_DESERVED = "below-deserved"
    """Its queue uses less than it deserves, and other queues use more."""
    HIGH_PRIORITY = "high-priority"
    """Its queue would have more than it deserves, but pods of its priority class may preempt beyond that."""
    GRACE = "grace"
    """Queues that use more than they deserve are notified; ``detail`` names the queue whose grace period ends last."""
    BEYOND_DESERVED = "beyond-deserved"
    """With the pod its queue would have more than it deserves; ``detail`` names queue and resource."""


class PodReason(StrEnum):
    """Why a pod is a victim, is reprieved, or never was a candidate."""

    OVER_GUARANTEE = "over-guarantee"
    LAST_RESORT = "last-resort"
    LOWER_PRIORITY = "lower-priority"
    OVER_BUDGET = "over-budget"
    """The disruption budgets that cover the pod do not allow its eviction; ``detail`` names them."""
    NOT_NEEDED = "not-needed"
    """The pod is a candidate, but the other victims make enough room."""
    GUARANTEE = "guarantee"
    """Without the pod its queue, or a queue above, would be below its guarantee."""
    NO_HELP = "no-help"
    """The pod holds none of the resources that are missing."""
    WANTED_NEAR = "wanted-near"
    """The pending pod can run only near this pod, or near a similar pod."""
    SAME_QUEUE = "same-queue"
    SAME_APPLICATION = "same-application"
    ENTITLED_SUBTREE = "entitled-subtree"
    """The pod is inside the queue whose guarantee is claimed, so that evicting it would gain nothing."""
    OUTSIDE_FENCE = "outside-fence"
    HIGHER_PRIORITY = "higher-priority"
    OUTSIDE_SCOPE = "outside-scope"
    """The pod is in none of the queues and namespaces that this engine acts in."""
    PAUSED = "paused"
    """Its queue, or a queue above, is paused; ``detail`` names that queue."""
    DISABLED = "preemption-disabled"
    OPTED_OUT = "opted-out"
    DAEMONSET = "daemonset"
    TERMINATING = "terminating"
    NO_QUEUE = "no-queue"
    SHIELDED = "shielded"
    WHOLE_GROUP = "whole-group"
    """Its group goes as a whole or stays, and stays; ``detail`` names the group."""
    # Of policies that give quota:
    IN_QUEUE = "in-queue"
    """A pending pod of the same queue takes its place."""
    RECLAIMED = "reclaimed"
    """Its queue borrows, and what it borrows is reclaimed."""
    RECLAIMED_BORROWING = "reclaimed-while-borrowing"
    """Its queue borrows, and what it borrows is reclaimed by a queue that borrows as well."""
    FAIR_SHARING = "fair-sharing"
    """Its queue has the larger share under fair sharing."""
    RULES = "rules"
    """The settings of the pending pod's queue do not let it preempt there."""
    NOT_BORROWING = "not-borrowing"
    """Its queue borrows none of the missing resources, or no longer does so by then."""
    NOT_WHILE_BORROWING = "not-while-borrowing"
    """The pending pod's queue may preempt the pod only while that queue borrows nothing itself."""
    SHARE = "share"
    """The side of the pending pod would have the larger share."""
    # Of policy ``deserved``:
    OVER_DESERVED = "over-deserved"
    """Its queue uses more than it deserves."""
    WITHIN_DESERVED = "within-deserved"
    """Its queue, or one above, uses no more than it deserves, or would not by then; ``detail`` names that queue."""
    IN_GRACE = "in-grace"
    """Its queue uses more than it deserves, but still has time to give back by itself."""
    SYSTEM = "system"
    """The pod is in the cluster's own namespace, which deserves all that it requests."""


class NodeReason(StrEnum):
    """Why a node was not chosen."""

    DEARER = "dearer"
    """Its victims would cost more; ``detail`` names the first criterion in which it loses."""
    UNSCHEDULABLE = "unschedulable"
    NOT_READY = "not-ready"
    TAINT = "taint"
    SELECTOR = "selector"
    AFFINITY = "affinity"
    HOST_PORT = "host-port"
    TOO_SMALL = "too-small"
    """The node can't hold that much of a resource even when it is empty."""
    INSUFFICIENT = "insufficient"
    """Too little of a resource is free."""
    CLAIM_IN_USE = "claim-in-use"
    """Another pod uses a claim that only one pod at a time may use."""
    UNBOUND_CLAIM = "unbound-claim"
    VOLUME = "volume"
    """The node can't reach the volume of a claim."""
    VOLUME_ZONE = "volume-zone"
    SPREAD = "spread"
    """The topology would have too many of the pods that are to be spread."""
    SPREAD_KEY = "spread-key"
    """The node lacks the label by which pods are to be spread."""
    POD_AFFINITY = "pod-affinity"
    """No pod is there that the pending pod must be near."""
    ANTI_AFFINITY = "anti-affinity"
    """A pod is there that the pending pod must keep away from."""
    KEPT_OUT = "kept-out"
    """A pod there keeps the pending pod away."""
    RESERVED = "reserved"
    UNREAD = "unread"
    """The node, or a pod on it, can't be read, so that its free capacity is unknown."""
    NO_CANDIDATES = "no-candidates"
    NOT_ENOUGH = "not-enough"
    """All candidates together do not make enough room."""


class Interlock(StrEnum):
    """A limit on carrying out decisions, which holds back a decision as a whole."""

    PAUSED = "paused"
    QUEUE_PAUSED = "queue-paused"
    """The pending pod's queue, a victim's queue, or a queue above one of these is paused."""
    DENY_WINDOW = "deny-window"
    ALLOW_WINDOW = "allow-window"
    """The present time is in none of the windows in which evictions are allowed there."""
    WATCH_GAP = "watch-gap"
    """A kind of objects has not been watched for a while."""
    CLOCK_SKEW = "clock-skew"
    NODES_NOT_READY = "nodes-not-ready"
    FAILING_WRITES = "failing-writes"
    """The API server does not do what this engine requests."""
    EVICTIONS_PER_PASS = "evictions-per-pass"  # noqa: S105 - no password
    EVICTIONS_PER_MINUTE = "evictions-per-minute"
    EVICTIONS_PER_QUEUE = "evictions-per-queue"
    EVICTIONS_PER_NAMESPACE = "evictions-per-namespace"
    EVICTIONS_PER_NODE = "evictions-per-node"
    RESERVED_NODES = "reserved-nodes"
    DISRUPTION_BUDGET = "disruption-budget"
    COOL_DOWN = "cool-down"
    """Pods were evicted for the pending pod in vain a moment ago."""
    OTHER_INSTALLATION = "other-installation"
    """Another installation acts on this cluster."""
    OTHER_SCHEDULER = "other-scheduler"
    """Another scheduler has appeared in the cluster since this engine was allowed to act there."""
    OUT_OF_SCOPE = "out-of-scope"
    """This engine acts for some queues and namespaces only, and the decision concerns others."""
    STOPPED_IN_CLUSTER = "stopped-in-cluster"
    """Somebody stopped all engines in the cluster itself."""
    NO_LEASE = "no-lease"
    """Nobody holds the lease, and this engine can't acquire it."""


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
            pods = (self.ask,) if anywhere else self.placed
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
