"""What was decided for one ask, and the trace that explains it: plain data, serialisable, stable."""

from enum import StrEnum

import msgspec
from msgspec import UNSET, UnsetType

from engine.model.objects import Pod
from engine.model.quantities import Amounts
from engine.model.snapshot import Reservation, Snapshot


class Outcome(StrEnum):
    PREEMPT = "preempt"
    FITS = "fits"
    """A node has room without any eviction."""
    NO_CANDIDATE = "no-candidate"
    """The ask may preempt, but no set of pods that may go makes room."""
    SEARCH_LIMIT = "search-limit"
    """The ask may preempt, and among more sets of pods than were tried one may make room: none was found."""
    NOT_ELIGIBLE = "not-eligible"
    """The ask may not preempt."""


class Reason(StrEnum):
    """Why a decision ended as it did. engine.explain has the sentences."""

    BELOW_GUARANTEE = "below-guarantee"
    DAEMONSET = "daemonset"
    LAST_RESORT = "last-resort"
    LOWER_PRIORITY = "lower-priority"
    """Pods of lower priority make room."""
    FITS = "fits"
    FITS_SOON = "fits-soon"
    """It fits once pods that are on their way out are gone."""
    NO_QUEUE = "no-queue"
    WAITING_FOR_VICTIMS = "waiting-for-victims"
    """Pods are on their way out for it already, on the node that it is nominated to."""
    NEVER = "preemption-policy-never"
    DISABLED = "preemption-disabled"
    NOT_TRIED = "not-tried"
    """The scheduler has not yet found the ask unschedulable."""
    DELAY = "delay"
    NO_GUARANTEE = "no-guarantee"
    AT_GUARANTEE = "at-guarantee"
    OVER_MAX = "over-max"
    OVER_GUARANTEE = "over-guarantee"
    """The ask does not fit wholly into what is left of its queue's guarantee, as YuniKorn demands."""
    QUEUE_FULL = "queue-full"
    """A max is reached, and no pod that may go lies under it."""
    TURNED_OFF = "turned-off"
    """Preemption is turned off for the whole partition."""
    VICTIMS_TOO_SMALL = "victims-too-small"
    """The victims hold less than the ask requests, whatever is free besides."""
    LOWERED_MAX = "lowered-max"
    """Pods go because their queue's max was lowered below its usage."""
    UNREAD_RULES = "unread-rules"
    UNREAD = "unread"
    """A pod of a queue whose guarantee is claimed, or whose max counts, can't be read: what it uses is not known."""
    FENCE = "fence"
    """The fence leaves no other queue to take from."""
    NO_CANDIDATES = "no-candidates"
    NO_ROOM = "no-room"
    """There are candidates, but on no node do they make room."""
    SEARCH_LIMIT = "search-limit"
    """There are candidates, and not all of their sets were tried."""
    # Of policies that give quota (BY_QUOTA):
    SHORT_OF_QUOTA = "short-of-quota"
    """Its queue has too little quota left, and others give some back."""
    DECIDED_WITH = "decided-with"
    """It is one of several pods that get room together; ``detail`` names the one that was asked for."""
    BEYOND_QUOTA = "beyond-quota"
    """Its queue could not have so much if all others had nothing; ``detail`` names the queue and the resource."""
    BORROWS = "borrows"
    """Its queue would have to borrow, and may not take from others for that; ``detail`` as above."""
    # Of policy ``deserved``:
    BELOW_DESERVED = "below-deserved"
    """Its queue uses less than it deserves, and others more."""
    HIGH_PRIORITY = "high-priority"
    """Its queue would have more than it deserves, but pods of its priority class may take beyond that."""
    GRACE = "grace"
    """Those that use more than they deserve are told to give back; ``detail`` names the queue whose grace ends last."""
    BEYOND_DESERVED = "beyond-deserved"
    """With it its queue would have more than it deserves; ``detail`` names the queue and the resource."""


class PodReason(StrEnum):
    """Why a pod is a victim, stays, or never was a candidate."""

    OVER_GUARANTEE = "over-guarantee"
    LAST_RESORT = "last-resort"
    LOWER_PRIORITY = "lower-priority"
    OVER_BUDGET = "over-budget"
    """The disruption budgets that cover it do not allow for it; ``detail`` names them."""
    NOT_NEEDED = "not-needed"
    """A candidate: the others make the room."""
    GUARANTEE = "guarantee"
    """Without it its queue, or one above, would be below its guarantee."""
    NO_HELP = "no-help"
    """Holds nothing of what is missing."""
    WANTED_NEAR = "wanted-near"
    """The ask runs only near it, or near one like it."""
    SAME_QUEUE = "same-queue"
    SAME_APPLICATION = "same-application"
    ENTITLED_SUBTREE = "entitled-subtree"
    """Inside the queue whose guarantee is claimed: taking from it would gain nothing."""
    OUTSIDE_FENCE = "outside-fence"
    HIGHER_PRIORITY = "higher-priority"
    OUTSIDE_SCOPE = "outside-scope"
    """It is in none of the queues and namespaces that we act within."""
    PAUSED = "paused"
    """People have paused its queue, or one above; ``detail`` names that."""
    DISABLED = "preemption-disabled"
    OPTED_OUT = "opted-out"
    DAEMONSET = "daemonset"
    TERMINATING = "terminating"
    NO_QUEUE = "no-queue"
    SHIELDED = "shielded"
    # Of policies that give quota:
    IN_QUEUE = "in-queue"
    """Its own queue's ask takes its place."""
    RECLAIMED = "reclaimed"
    """Its queue borrows, and what it borrows is claimed back."""
    RECLAIMED_BORROWING = "reclaimed-while-borrowing"
    """The same, and the ask's queue borrows as well."""
    FAIR_SHARING = "fair-sharing"
    """Its queue has the larger share."""
    RULES = "rules"
    """The rules of the ask's queue let it take nothing there."""
    NOT_BORROWING = "not-borrowing"
    """Its queue borrows nothing of what is short, or no longer by then."""
    NOT_WHILE_BORROWING = "not-while-borrowing"
    """The ask's queue may take it only while it borrows nothing itself."""
    SHARE = "share"
    """The ask's side would have the larger share."""
    # Of policy ``deserved``:
    OVER_DESERVED = "over-deserved"
    """Its queue uses more than it deserves."""
    WITHIN_DESERVED = "within-deserved"
    """Its queue, or one above, uses no more than it deserves, or would by then; ``detail`` names it."""
    IN_GRACE = "in-grace"
    """Its queue uses more than it deserves, and still has time to give back by itself."""
    SYSTEM = "system"
    """Of the cluster's own namespace, which deserves all that it asks."""


class NodeReason(StrEnum):
    """Why a node was passed over."""

    DEARER = "dearer"
    """Its victims would cost more; ``detail`` names the first thing in which it loses."""
    UNSCHEDULABLE = "unschedulable"
    NOT_READY = "not-ready"
    TAINT = "taint"
    SELECTOR = "selector"
    AFFINITY = "affinity"
    HOST_PORT = "host-port"
    TOO_SMALL = "too-small"
    """It can't hold so much of a resource even when it is empty."""
    INSUFFICIENT = "insufficient"
    """Too little of a resource is free."""
    CLAIM_IN_USE = "claim-in-use"
    """Another pod uses a claim that one pod at a time may use."""
    UNBOUND_CLAIM = "unbound-claim"
    VOLUME = "volume"
    """It can't reach the volume of a claim."""
    VOLUME_ZONE = "volume-zone"
    SPREAD = "spread"
    """The topology would have too many of the pods that are to be spread."""
    SPREAD_KEY = "spread-key"
    """It lacks the label by which pods are to be spread."""
    POD_AFFINITY = "pod-affinity"
    """No pod that the ask wants to be near is there."""
    ANTI_AFFINITY = "anti-affinity"
    """A pod that the ask keeps away from is there."""
    KEPT_OUT = "kept-out"
    """A pod there keeps away from the ask."""
    RESERVED = "reserved"
    UNREAD = "unread"
    """The node, or a pod on it, can't be read: what is free there is not known."""
    NO_CANDIDATES = "no-candidates"
    NOT_ENOUGH = "not-enough"
    """All candidates together don't make room."""


class Interlock(StrEnum):
    """A limit on carrying out, which holds a whole decision back."""

    PAUSED = "paused"
    QUEUE_PAUSED = "queue-paused"
    """The ask's queue, a victim's, or one above."""
    DENY_WINDOW = "deny-window"
    ALLOW_WINDOW = "allow-window"
    """It is none of the hours in which evictions are allowed there."""
    WATCH_GAP = "watch-gap"
    """A kind of objects has not been followed for a while."""
    CLOCK_SKEW = "clock-skew"
    NODES_NOT_READY = "nodes-not-ready"
    FAILING_WRITES = "failing-writes"
    """The API server does not do what we ask it to."""
    EVICTIONS_PER_PASS = "evictions-per-pass"  # noqa: S105 - no password
    EVICTIONS_PER_MINUTE = "evictions-per-minute"
    EVICTIONS_PER_QUEUE = "evictions-per-queue"
    EVICTIONS_PER_NAMESPACE = "evictions-per-namespace"
    EVICTIONS_PER_NODE = "evictions-per-node"
    RESERVED_NODES = "reserved-nodes"
    DISRUPTION_BUDGET = "disruption-budget"
    COOL_DOWN = "cool-down"
    """Its ask was evicted for in vain a moment ago."""
    LEASE = "lease"
    """Another installation acts on this cluster."""
    RIVAL = "rival"
    """Another scheduler has appeared in the cluster since somebody let us act there."""
    SCOPE = "scope"
    """We act for some queues and namespaces alone, and it concerns others."""
    STOPPED = "stopped"
    """Somebody stopped all engines in the cluster itself."""
    NO_LEASE = "no-lease"
    """Nobody holds the lease, and we can't take it."""


class PodFacts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a decision keeps of a pod."""

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
    """What the cluster's scheduler itself says of a pod that it finds no room for."""

    @classmethod
    def of(cls, pod: Pod) -> "PodFacts":
        """The facts of a pod of a snapshot."""
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
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


class PodVerdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A pod with the reason why it goes or stays; ``detail`` names the queue, priority or resource meant."""

    pod: PodFacts
    reason: PodReason
    detail: str = ""


class JointLimit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What lets pods of one node go one by one, but not together, though together they would make the room."""

    queue: str = ""
    """Whose guarantee it is; empty: it is a disruption budget's."""
    resource: str = ""
    guaranteed: int = 0
    used: int = 0
    """What the queue uses of the resource, pods on their way out left aside."""
    budget: str = ""
    """``namespace/name``."""
    left: int
    """So much of the resource, or so many of the budget's pods, may go for the ask."""
    held: int
    """So much goes where all go that are needed."""


class NodeVerdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why a node was passed over; ``detail`` names what its reason's sentence does."""

    node: str
    reason: NodeReason
    detail: str = ""
    victims: int = 0
    limit: JointLimit | UnsetType = UNSET
    """With reason ``not-enough``, what stops those who would make the room. Unset where they would not."""


class QueueFigures(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A queue before and after: usage as the laws count it, rolled up."""

    path: str
    before: Amounts
    after: Amounts
    guaranteed: Amounts
    max: Amounts


class QuotaFigures(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A resource of which a queue has too little quota left for what is asked."""

    queue: str
    resource: str
    asked: int
    available: int
    """What the queue could still have, of its own and of what others lend it."""
    nominal: int
    """Its own."""
    used: int


class ShareFigures(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The share of a queue, or of all below it, under fair sharing: of the resource that it borrows most of."""

    queue: str
    text: str
    """``187.5``: in thousandths of what could be lent, by the weight."""
    after: str
    """The same once the decision has come about."""
    resource: str = ""
    borrowed: int = 0
    lendable: int = 0
    weight: str = "1"


class DeservedFigures(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A queue under policy ``deserved``: what it asks, uses and deserves, rolled up."""

    queue: str
    requested: Amounts
    used: Amounts
    after: Amounts
    """What it uses once the decision has come about."""
    reserved: Amounts
    hard: Amounts
    deserved: Amounts


class ReclaimNotice(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A queue that is told to give back."""

    queue: str
    over: Amounts
    """What it uses beyond what it deserves."""
    due_ms: int
    """From when on pods may be taken from it."""


class Trace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a decision rests on. Pods and nodes in full for the chosen node and the twenty best; the rest counted."""

    fence: str = ""
    """The queue whose fence bounds the ask; empty: none does."""
    entitling: dict[str, str] = {}
    """Resource -> the queue whose guarantee the ask claims."""
    queues: tuple[QueueFigures, ...] = ()
    """The ask's queue and all above it first, then those of the victims and all above them."""
    reprieved: tuple[PodVerdict, ...] = ()
    excluded: tuple[PodVerdict, ...] = ()
    """Pods of the chosen node that never were candidates."""
    nodes: tuple[NodeVerdict, ...] = ()
    candidates: int = 0
    excluded_counts: dict[str, int] = {}
    """PodReason -> number of pods of the whole cluster."""
    node_counts: dict[str, int] = {}
    """NodeReason -> number of nodes passed over."""
    short: tuple[QuotaFigures, ...] = ()
    """Under policies that give quota: what there is too little of."""
    shares: tuple[ShareFigures, ...] = ()
    """Under ``fair-share``: the queues and cohorts on both sides."""
    deserved: tuple[DeservedFigures, ...] = ()
    """Under ``deserved``: the ask's queue and all above it first, then those of the victims and all above them."""


BY_QUOTA = frozenset({"cohort", "fair-share"})
"""The policies that give quota, on no node: where its pods run then is for the scheduler."""


class Safeguard(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What holds back a decision for as long as it is there."""

    interlock: Interlock
    detail: str
    """The queue that is paused, the disruption budgets (``namespace/name``), or the queue that we do not act in."""


class Decision(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One ask, what was found, what was chosen."""

    policy: str
    dialect: str = ""
    ask: PodFacts
    outcome: Outcome
    reason: Reason
    detail: str = ""
    """What the reason's sentence names: a queue, a resource, a rule."""
    due_ms: int | None = None
    """With reason ``delay`` or ``grace``: when the ask may preempt."""
    node: str | None = None
    victims: tuple[PodVerdict, ...] = ()
    together: tuple[PodFacts, ...] = ()
    """The other pods of its workload, which get quota with it."""
    notices: tuple[ReclaimNotice, ...] = ()
    """Under ``deserved``: who is told to give back for the ask."""
    safeguard: Safeguard | UnsetType = UNSET
    """What lastingly holds it back, as no set of victims is let through. Unset where nothing does: then it is not
    written either, as it was not before there were any."""
    trace: Trace = Trace()

    @property
    def by_quota(self) -> bool:
        """Whether it is about quota alone, and not about a node."""
        return self.policy in BY_QUOTA

    @property
    def admits(self) -> tuple[PodFacts, ...]:
        """The pods that quota is given to."""
        given = self.by_quota and (self.evicts or self.outcome is Outcome.FITS)
        return (self.ask, *self.together) if given else ()

    @property
    def rooms(self) -> tuple[Reservation, ...]:
        """What is kept from now on: for the ask on a node, or on any, or quota for all that get some."""
        anywhere = self.reason in (Reason.BELOW_DESERVED, Reason.HIGH_PRIORITY)
        pods = self.admits or ((self.ask,) if self.evicts and (self.node is not None or anywhere) else ())
        return tuple(
            Reservation(ask_uid=pod.uid, node=self.node or "", queue=pod.queue, requests=pod.requests) for pod in pods
        )

    @property
    def to_evict(self) -> tuple[PodVerdict, ...]:
        """The victims that have to be told to go: not those that are on their way out already."""
        return tuple(verdict for verdict in self.victims if verdict.reason is not PodReason.TERMINATING)

    @property
    def evicts(self) -> bool:
        """Whether pods go for it, though all of them may be on their way out already."""
        return self.outcome is Outcome.PREEMPT and bool(self.victims)


def carried_out(snapshot: Snapshot, decision: Decision) -> Snapshot:
    """The snapshot as the next ask sees it: the victims on their way out, the room kept for those who get it."""
    rooms = decision.rooms
    if not rooms:
        return snapshot
    victims = (snapshot.pod(verdict.pod.uid, decision.node or verdict.pod.node) for verdict in decision.victims)
    snapshot = snapshot.expecting(pod for pod in victims if pod is not None)
    for held in rooms:
        snapshot = snapshot.reserving(held)
    return snapshot


def encode(decision: Decision) -> bytes:
    """Canonical JSON: the same decision gives the same bytes."""
    return msgspec.json.encode(decision, order="sorted")


def decode(data: bytes | str) -> Decision:
    """Read back what ``encode`` wrote. Raises msgspec.ValidationError."""
    return msgspec.json.decode(data, type=Decision)
