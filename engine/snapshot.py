"""A cluster at one moment, in the types that policies decide on, and the same kept by deltas.

Times are integer milliseconds since 1970 (UTC). Requests and allocatable are Amounts; both count ``pods``.
"""

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from operator import attrgetter

import msgspec

from engine.queues import QueueTree
from engine.resources import Amounts, subtract, total

SYSTEM_PRIORITY = 2_000_000_000
"""Priorities from here on belong to system-cluster-critical and system-node-critical."""


class Taint(msgspec.Struct, frozen=True, gc=False):
    key: str
    value: str = ""
    effect: str = "NoSchedule"


class Toleration(msgspec.Struct, frozen=True, gc=False):
    """An empty key tolerates every taint; an empty effect every effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """One expression of a node selector term; ``operator`` is In, NotIn, Exists, DoesNotExist, Gt or Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class NodeSelectorTerm(msgspec.Struct, frozen=True, gc=False):
    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


class HostPort(msgspec.Struct, frozen=True, gc=False):
    port: int
    protocol: str = "TCP"
    ip: str = "0.0.0.0"  # noqa: S104 - Kubernetes' word for every address


class Node(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    name: str
    uid: str = ""
    allocatable: Amounts = {}
    labels: dict[str, str] = {}
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    ready: bool = True
    unread: bool = False
    """It can't be read as it is now; this is how it was, if it ever could be."""


class PriorityClass(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    name: str
    value: int = 0
    never_preempts: bool = False
    opted_out: bool = False
    """Annotation ``yunikorn.apache.org/allow-preemption: "false"``."""
    may_preempt: bool = False
    """Annotation ``scheduler-admin.io/may-preempt: "true"``: Never holds for kube-scheduler, not for us."""


class Shield(StrEnum):
    """Why a pod is never a victim of our acting, whatever the policy says."""

    NONE = ""
    MIRROR = "mirror"
    DAEMONSET = "daemonset"
    SYSTEM_PRIORITY = "system-priority"
    NAMESPACE = "namespace"
    NO_QUEUE = "no-queue"
    NO_CONTROLLER = "no-controller"
    JUST_STARTED = "just-started"
    UNREAD = "unread"
    """It can't be read, with or without a protection."""


class Pod(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    uid: str
    namespace: str
    name: str
    created_ms: int = 0
    started_ms: int | None = None
    requests: Amounts = {}
    labels: dict[str, str] = {}
    node: str | None = None
    """The node it is bound to."""
    finished: bool = False
    """Succeeded or failed: holds nothing any more."""
    terminating: bool = False
    """Has a deletionTimestamp: on its way out."""
    grace_s: int = 30
    priority: int = 0
    priority_class: str = ""
    never_preempts: bool = False
    """preemptionPolicy Never; a PriorityClass with may_preempt lifts it for us."""
    opted_out: bool = False
    controller: str = ""
    """``Kind/name`` of the controlling owner."""
    mirror: bool = False
    unschedulable_ms: int | None = None
    """Since when PodScheduled is False with reason Unschedulable."""
    unschedulable_message: str = ""
    """What the scheduler itself says of that, in its own words."""
    disruption: str = ""
    """The reason of its condition DisruptionTarget: who makes it go. Empty: nobody does."""
    disrupted_ms: int | None = None
    """Since when it has that condition."""
    disruption_message: str = ""
    """What the condition says of it, in the words of who set it."""
    gated: bool = False
    nominated_node: str = ""
    scheduler: str = "default-scheduler"
    node_selector: dict[str, str] = {}
    node_affinity: tuple[NodeSelectorTerm, ...] = ()
    """Required terms, of which one must match; empty: no such rule."""
    tolerations: tuple[Toleration, ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    unread_rules: tuple[str, ...] = ()
    """Placement rules of the pod that feasibility can't judge; such an ask is left alone rather than misjudged."""
    queue_label: str = ""
    application_label: str = ""
    unread: bool = False
    """It can't be read as it is now: this is how it was, if it ever could be, on the node where it is now."""
    # What follows is known only within a snapshot:
    queue: str | None = None
    application: str = ""
    originator: bool = False
    shield: Shield = Shield.NONE
    scheduler_preempts: bool = True
    """Whether the cluster's own scheduler would preempt for it; once it is bound, for the pod that comes after it."""

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def daemonset(self) -> bool:
        """Whether a DaemonSet made it."""
        return self.controller.startswith("DaemonSet/")

    @property
    def required_node(self) -> str | None:
        """The one node that a DaemonSet's pod is for (matchFields metadata.name), None for other pods."""
        if not self.daemonset:
            return None
        names = {
            rule.values[0]
            for term in self.node_affinity
            for rule in term.fields
            if rule.key == "metadata.name" and rule.operator == "In" and len(rule.values) == 1
        }
        return names.pop() if len(names) == 1 else None


class DisruptionBudget(msgspec.Struct, frozen=True, kw_only=True):
    namespace: str
    name: str
    expressions: tuple[Requirement, ...] = ()
    """All must match the pod's labels; none at all matches every pod of the namespace."""
    allowed: int = 0


class Preempted(msgspec.Struct, frozen=True, kw_only=True):
    """An Event ``Preempted`` on a pod: what a scheduler tells of the pod that went and of the one that it went for."""

    uid: str
    namespace: str
    name: str
    at_ms: int
    node: str = ""
    by_scheduler: bool = True
    """Whether a kube-scheduler, or one made of its parts, wrote it; else it tells us nothing."""
    ask_uid: str = ""
    """Empty where the Event does not say for whom, as before Kubernetes 1.27 without ``related``."""
    ask_namespace: str = ""
    ask_name: str = ""
    ask_kind: str = "Pod"
    """``PodGroup`` where a scheduler preempts for several pods at once."""


class Reservation(msgspec.Struct, frozen=True, kw_only=True):
    """Room that an open decision keeps for its ask: the ask counts as used in its queue, the node takes no other."""

    ask_uid: str
    node: str
    queue: str
    requests: Amounts


class Protection(msgspec.Struct, frozen=True, kw_only=True):
    """Which pods are never victims of our acting."""

    namespaces: frozenset[str] = frozenset({"kube-system"})
    min_run_ms: int = 0
    """Pods that have run for less are spared: what has just begun would lose its start and bring back no less load."""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a policy sees. Nodes are sorted by name, pods by namespace and name: input order never matters."""

    now_ms: int
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    """Every pod that is not finished, bound or not."""
    budgets: tuple[DisruptionBudget, ...] = ()
    reservations: tuple[Reservation, ...] = ()

    def expecting(self, going: Collection[str]) -> "Snapshot":
        """The same with these pods (uids) on their way out, whether or not the cluster shows it yet."""
        pods = (msgspec.structs.replace(pod, terminating=True) if pod.uid in going else pod for pod in self.pods)
        return msgspec.structs.replace(self, pods=tuple(pods)) if going else self

    @cached_property
    def pods_by_node(self) -> dict[str, tuple[Pod, ...]]:
        """Node -> the pods bound to it, those on their way out included."""
        found: dict[str, list[Pod]] = {node.name: [] for node in self.nodes}
        for pod in self.pods:
            if pod.node in found:
                found[pod.node].append(pod)
        return {name: tuple(pods) for name, pods in found.items()}

    @cached_property
    def asks(self) -> tuple[Pod, ...]:
        """Pending pods that want a node."""
        return tuple(pod for pod in self.pods if pod.node is None and not pod.terminating and not pod.gated)

    @cached_property
    def unread(self) -> tuple[Pod, ...]:
        """Pods of which nobody knows what they hold."""
        return tuple(pod for pod in self.pods if pod.unread)

    @cached_property
    def capacity(self) -> Amounts:
        """The sum of what all nodes can hold."""
        return total(node.allocatable for node in self.nodes)

    @cached_property
    def held_by_node(self) -> dict[str, Amounts]:
        """Node -> what the pods bound to it request, those on their way out included."""
        return {name: total(pod.requests for pod in pods) for name, pods in self.pods_by_node.items()}

    def free(self, node: Node, without: Iterable[Pod] = ()) -> Amounts:
        """What is free on a node once ``without``, pods bound to it, are gone; others on their way out hold theirs."""
        held = subtract(self.held_by_node[node.name], total(pod.requests for pod in without))
        return subtract(node.allocatable, held)

    def usage(self, tree: QueueTree) -> dict[str, Amounts]:
        """Queue path -> what its bound pods hold, those on their way out included, rolled up."""
        return tree.roll_up(_by_leaf(tree, (pod for pod in self.pods if pod.node is not None)))


DEPARTED_KEPT = 2_000
"""Pods that are remembered after they have gone: what was evicted a moment ago is explained with its numbers."""


class ClusterState:
    """A cluster's objects, kept by deltas; ``snapshot`` freezes them. Not safe for threads: its owner locks."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        """By uid."""
        self.classes: dict[str, PriorityClass] = {}
        self.budgets: dict[tuple[str, str], DisruptionBudget] = {}
        self.preempted: dict[str, Preempted] = {}
        """Events, by their own uid; the API server forgets them after an hour."""
        self.departed: dict[str, Pod] = {}
        """The pods that left last, as they were, by uid, oldest first."""
        self._placing = _Placing()

    def copy(self) -> "ClusterState":
        """The same objects (they never change), kept apart from what happens to this one from now on."""
        copy = ClusterState()
        for column, kept in vars(self).items():
            setattr(copy, column, dict(kept) if isinstance(kept, dict) else kept)
        return copy

    def depart(self, pod: Pod) -> None:
        """Remember a pod that has just left ``pods``."""
        self.departed[pod.uid] = pod
        if len(self.departed) > DEPARTED_KEPT:
            del self.departed[next(iter(self.departed))]

    def placed(self, uid: str, tree: QueueTree) -> Pod | None:
        """A pod with its queue and application, also when it has just left; None when it is not known."""
        pod = self.pods.get(uid) or self.departed.get(uid)
        return None if pod is None else _placed(pod, tree, self.classes.get(pod.priority_class))

    def snapshot(
        self,
        tree: QueueTree,
        *,
        now_ms: int,
        protection: Protection | None = None,
        reservations: Iterable[Reservation] = (),
    ) -> Snapshot:
        """Freeze: every pod with its queue, application, originator mark and, given a protection, its shield."""
        pods = self._placing.of(self, tree, protection)
        first = _originators(pods)
        pods = [msgspec.structs.replace(pod, originator=True) if pod.uid in first else pod for pod in pods]
        if protection is not None and protection.min_run_ms:
            pods = [_sparing(pod, since_ms=now_ms - protection.min_run_ms) for pod in pods]
        return Snapshot(
            now_ms=now_ms,
            nodes=tuple(sorted(self.nodes.values(), key=lambda node: node.name)),
            pods=tuple(sorted(pods, key=attrgetter("namespace", "name", "uid"))),
            budgets=tuple(budget for _, budget in sorted(self.budgets.items())),
            reservations=tuple(sorted(reservations, key=lambda held: held.ask_uid)),
        )


class _Placing:
    """Pods as they stand in a snapshot, remembered until the next: of most nothing has changed between two passes."""

    def __init__(self) -> None:
        self._last: tuple[QueueTree | None, Protection | None, dict[str, tuple[Pod, PriorityClass | None, Pod]]]
        self._last = (None, None, {})
        """Uid -> the pod and its class as they were then, and what was made of them under tree and protection."""

    def of(self, state: ClusterState, tree: QueueTree, protection: Protection | None) -> list[Pod]:
        """Every pod that is not finished, with its queue and application and, given a protection, its shield."""
        last_tree, last_protection, known = self._last
        if last_tree is not tree or last_protection != protection:
            known = {}
        found = {}
        for uid, pod in state.pods.items():
            if pod.finished:
                continue
            priority_class = state.classes.get(pod.priority_class)
            before = known.get(uid)
            if before is None or before[0] is not pod or before[1] is not priority_class:
                before = (pod, priority_class, _shielded(_placed(pod, tree, priority_class), tree, protection))
            found[uid] = before
        # Replaced, never changed: copies of a state share this, and may be frozen from several threads.
        self._last = (tree, protection, found)
        return [placed for _, _, placed in found.values()]


def queue_of(pod: Pod, tree: QueueTree) -> str | None:
    """The leaf a pod runs in: its queue label, else the leaf that claims its namespace, else none."""
    if pod.queue_label:
        path = pod.queue_label if pod.queue_label.startswith(f"{tree.root}.") else f"{tree.root}.{pod.queue_label}"
        if path in tree and tree.is_leaf(path):
            return path
    return tree.leaf_by_namespace.get(pod.namespace)


def _by_leaf(tree: QueueTree, pods: Iterable[Pod]) -> Mapping[str, Amounts]:
    by_leaf: dict[str, list[Amounts]] = {}
    for pod in pods:
        if pod.queue is not None and pod.queue in tree:
            by_leaf.setdefault(pod.queue, []).append(pod.requests)
    return {leaf: total(requests) for leaf, requests in by_leaf.items()}


def _placed(pod: Pod, tree: QueueTree, priority_class: PriorityClass | None) -> Pod:
    return msgspec.structs.replace(
        pod,
        queue=queue_of(pod, tree),
        application=pod.application_label or pod.controller or pod.name,
        opted_out=priority_class is not None and priority_class.opted_out,
        scheduler_preempts=not _never_by_scheduler(pod, priority_class),
        never_preempts=pod.never_preempts and not (priority_class is not None and priority_class.may_preempt),
    )


def _never_by_scheduler(pod: Pod, priority_class: PriorityClass | None) -> bool:
    # It has its room, and its policy for good. The pod that comes after it takes that of the class.
    return (priority_class or pod).never_preempts if pod.node is not None else pod.never_preempts


def _originators(pods: Iterable[Pod]) -> set[str]:
    """The uids of each application's first pod: the oldest, ties by name."""
    first: dict[tuple[str, str], Pod] = {}
    for pod in pods:
        key = (pod.namespace, pod.application)
        other = first.get(key)
        if other is None or (pod.created_ms, pod.name) < (other.created_ms, other.name):
            first[key] = pod
    return {pod.uid for pod in first.values()}


def _shielded(pod: Pod, tree: QueueTree, protection: Protection | None) -> Pod:
    shield = _shield(pod, tree, protection)
    return pod if shield is Shield.NONE else msgspec.structs.replace(pod, shield=shield)


def _shield(pod: Pod, tree: QueueTree, protection: Protection | None) -> Shield:
    if pod.unread:
        return Shield.UNREAD
    if protection is None:
        return Shield.NONE
    if pod.mirror:
        return Shield.MIRROR
    if pod.daemonset:
        return Shield.DAEMONSET
    if pod.priority >= SYSTEM_PRIORITY:
        return Shield.SYSTEM_PRIORITY
    if pod.namespace in protection.namespaces:
        return Shield.NAMESPACE
    if pod.queue is None:
        return Shield.NO_QUEUE
    if not pod.controller and not tree[pod.queue].evict_uncontrolled:
        return Shield.NO_CONTROLLER
    return Shield.NONE


def _sparing(pod: Pod, *, since_ms: int) -> Pod:
    """The pod, shielded if it was started after ``since_ms``."""
    if pod.shield is Shield.NONE and pod.started_ms is not None and pod.started_ms > since_ms:
        return msgspec.structs.replace(pod, shield=Shield.JUST_STARTED)
    return pod
