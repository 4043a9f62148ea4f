"""Track what queues use, independently of the policies: summed once per snapshot, then updated with each decision."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from engine.audit.checks import InvariantCheck, Relation, Sum, amount
from engine.model.columns.node_columns import Columns
from engine.model.decision import Decision
from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts, total
from engine.model.queue_tree import PreemptionPolicy, QueueTree
from engine.model.quota.tree_reading import QuotaReading
from engine.model.snapshot import Reservation, Snapshot

Made = TypeVar("Made")
Book = dict[str, dict[str, int]]
"""Queue path -> resource -> amount, each queue including its descendants."""


class AuditState:
    """The cluster state against which the next decision is audited.

    It keeps three usage tables, as the rules of policy `fence` define them: ``bound`` (pods with a node), ``staying``
    (bound pods that are not terminating) and ``reserved`` (capacity that open decisions reserve for pods that are not
    bound yet). ``shortfalls`` is, per resource, how far all queues together are below their guarantees once all open
    decisions have been carried out.
    """

    def __init__(self, snapshot: Snapshot, tree: QueueTree) -> None:
        self.tree = tree
        self.snapshot = snapshot
        self.nodes = {node.name: node for node in snapshot.nodes}
        self.leaving_uids: set[str] = set()
        self.leaving_queues: list[str] = []
        """The queues of terminating pods, in the order in which the pods were found to terminate; one entry per pod."""
        self._cache: dict[Hashable, Any] = {}
        self.reservations: dict[str, Reservation] = {}
        self._reservations_by_node: dict[str, list[Reservation]] = {}
        self._bound, self._staying, self._reserved = _book(), _book(), _book()
        self.shortfalls: dict[str, int] = {}
        self.promises = {path: sorted(queue.guaranteed.items()) for path, queue in tree.queues.items()}
        """Path -> the queue's guarantees, sorted by resource; checks list them in this order."""
        self.limits = {path: sorted(queue.max.items()) for path, queue in tree.queues.items()}
        """Path -> the queue's maximum of each limited resource, sorted by resource."""
        for resource, promised in chain.from_iterable(self.promises.values()):
            self.shortfalls[resource] = self.shortfalls.get(resource, 0) + max(0, promised)
        self._count_bound(snapshot.columns)
        for row in snapshot.columns.leaving.tolist():
            self._count_leaving(snapshot.columns.pods[row])
        for reservation in snapshot.reservations:
            self._reserve(reservation)

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the result of ``make``, computed once and then cached across decisions.

        The result must not refer to this state, nor to any snapshot.
        """
        made: Made | None = self._cache.get(key)
        if made is None:
            made = self._cache[key] = make()
        return made

    def claimant_usage(self, queue: str, resource: str, *pods: Pod) -> int:
        """Return the usage of a queue that may preempt: its bound pods, and what is reserved, but not for ``pods``."""
        return self._bound[queue][resource] + self._reserved_for_others(queue, resource, pods)

    def victim_usage(self, queue: str, resource: str) -> int:
        """Return the usage of a queue that may lose pods: its bound pods, without those that are terminating."""
        return self._staying[queue][resource]

    def settled(self, queue: str, resource: str, *pods: Pod) -> int:
        """Return what the queue will use once all open decisions, except those for ``pods``, are carried out."""
        return self._staying[queue][resource] + self._reserved_for_others(queue, resource, pods)

    def queues_with_policy(self, policy: PreemptionPolicy) -> frozenset[str]:
        """Return the queues that have this preemption policy themselves, except the root, where it has no effect."""
        tree = self.tree
        paths = (path for path, queue in tree.queues.items() if queue.preemption_policy is policy)
        return self.once(("policy", policy), lambda: frozenset(path for path in paths if path != tree.root))

    def reserved_by(self, node: str) -> list[Reservation]:
        """Return the reservations of a node."""
        return [
            reservation
            for reservation in self._reservations_by_node.get(node, ())
            if self.reservations[reservation.ask_uid] is reservation
        ]

    def carry_out(self, decision: Decision, after: Snapshot) -> None:
        """Apply a decision: count its victims as terminating, and add its reservations."""
        for verdict in decision.victims:
            pod = self.snapshot.pod(verdict.pod.uid, decision.node_of(verdict))
            if pod is not None and pod.node is not None and pod.uid not in self.leaving_uids:
                self._count_leaving(pod)
        self.snapshot = after
        for reservation in decision.rooms:
            self._reserve(reservation)

    def _count_bound(self, columns: Columns) -> None:
        """Add all bound pods; pods of the same queue with the same requests are added at once, as there are many."""
        queues, requests = columns.queue_kinds, columns.request_kinds
        kinds, times = np.unique(queues.of * len(requests.each) + requests.of, return_counts=True)
        for kind, count in zip(kinds.tolist(), times.tolist(), strict=True):
            queue, request = divmod(kind, len(requests.each))
            held = {resource: amount * count for resource, amount in requests.each[request].requests.items()}
            self._enter((self._bound, self._staying), queues.each[queue].queue, held)
        for pod in columns.stray:
            self._enter((self._bound, self._staying), pod.queue, pod.requests)
            if pod.terminating:
                self._count_leaving(pod)

    def _count_leaving(self, pod: Pod) -> None:
        self.leaving_uids.add(pod.uid)
        self.leaving_queues += [pod.queue] if pod.queue is not None else []
        self._enter((self._staying,), pod.queue, pod.requests, sign=-1)

    def _reserve(self, reservation: Reservation) -> None:
        self.reservations[reservation.ask_uid] = reservation
        self._reservations_by_node.setdefault(reservation.node, []).append(reservation)
        if not self._is_bound(reservation.ask_uid):
            self._enter((self._reserved,), reservation.queue, reservation.requests)

    def _is_bound(self, uid: str) -> bool:
        pod = self.snapshot.pod(uid)
        return pod is not None and pod.node is not None

    def _reserved_for_others(self, queue: str, resource: str, pods: Iterable[Pod]) -> int:
        own = (self.reservations.get(pod.uid) for pod in pods)
        return self._reserved[queue][resource] - sum(
            held.requests.get(resource, 0)
            for held in own
            if held is not None and held.queue in self.tree and self.tree.contains(queue, held.queue)
        )

    def _enter(self, books: tuple[Book, ...], queue: str | None, requests: Mapping[str, int], *, sign: int = 1) -> None:
        for path in self.tree.lineage(queue) if queue is not None and queue in self.tree else ():
            promised, staying, reserved = self.tree.queues[path].guaranteed, self._staying[path], self._reserved[path]
            rows = [book[path] for book in books]
            for resource, requested in requests.items():
                change = sign * requested
                for row in rows:
                    row[resource] += change
                if resource in promised:
                    lacks = promised[resource] - staying[resource] - reserved[resource]
                    self.shortfalls[resource] += max(0, lacks) - max(0, lacks + change)


class AuditTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The policy parameters that affect the audit."""

    last_resort: str = "daemonset"
    """For which pending pods a pod that opted out may be evicted: daemonset, any, never."""
    check_delay: bool = True
    """Whether a pending pod must have waited for its queue's delay."""
    reading: QuotaReading = QuotaReading()
    """How the queue tree is interpreted as quota."""
    method: str = "drf"
    """How the cluster's capacity is divided: drf, or proportional, which divides each resource by itself."""
    node_fit: bool = True
    """Whether victims must make room on one node, on which the pending pod then fits."""
    high_priority: tuple[str, ...] = ()
    """The priority classes whose pods may reclaim beyond what their queue deserves."""


class PromisedTaking(msgspec.Struct, frozen=True, gc=False):
    """What the victims of a queue's subtree hold of a resource that the queue guarantees."""

    path: str
    resource: str
    promised: int
    used: int
    """The queue's usage without terminating pods."""
    taken: tuple[int, ...]
    """What each victim holds of the resource."""


class AuditCase(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One decision to audit, with the snapshot's own pods and node in place of the decision's copies."""

    ledger: AuditState
    decision: Decision
    ask: Pod
    node: Node | None
    victims: tuple[Pod, ...]
    terms: AuditTerms

    @property
    def tree(self) -> QueueTree:
        return self.ledger.tree

    @property
    def snapshot(self) -> Snapshot:
        return self.ledger.snapshot

    @cached_property
    def preemptor_queues(self) -> tuple[str, ...]:
        """Return the pending pod's leaf and every queue above it; empty for a pod without a queue."""
        queue = self.ask.queue
        return self.tree.lineage(queue) if queue is not None and queue in self.tree else ()

    @cached_property
    def above_victims(self) -> tuple[str, ...]:
        """Return the victims' leaves and all queues above them, in the tree's order."""
        return tuple(sorted(self._victims_within, key=self.tree.turn.__getitem__))

    @cached_property
    def members(self) -> tuple[Pod, ...]:
        """Return the pods that get a node, in the order in which they were placed: the pending pod, if it is alone."""
        if not self.decision.group:
            return (self.ask,)
        found = (self.snapshot.pod(uid) for uid in self.decision.nodes)
        return tuple(pod for pod in found if pod is not None)

    @cached_property
    def requests(self) -> Amounts:
        """Return what all pods that get a node request together."""
        return total(pod.requests for pod in self.members)

    @property
    def reserved_queues(self) -> tuple[str, ...]:
        """Return the leaf in which capacity is already reserved for the pending pods, and the queues above it."""
        held = (self.ledger.reservations.get(pod.uid) for pod in self.members)
        leaves = (
            reservation.queue for reservation in held if reservation is not None and reservation.queue in self.tree
        )
        return tuple(dict.fromkeys(path for leaf in leaves for path in self.tree.lineage(leaf)))

    @property
    def entitling(self) -> dict[str, str]:
        """Return a map: resource that the pending pod requests -> nearest queue upward that guarantees it."""
        return self.entitling_of(self.ask)

    def entitling_of(self, pod: Pod) -> dict[str, str]:
        """Return the same for any pod of the preemptor's leaf."""
        queue_by_resource: dict[str, str] = {}
        for path in reversed(self.preemptor_queues):
            for resource in self.tree[path].guaranteed:
                if pod.requests.get(resource, 0) > 0:
                    queue_by_resource[resource] = path
        return queue_by_resource

    def taken(self, queue: str, resource: str, *without: Pod | None) -> tuple[int, ...]:
        """Return what each victim of the queue's subtree, except ``without``, holds of a resource, without zeros."""
        inside, kept = self._victims_within.get(queue, ()), {id(pod) for pod in without}
        return tuple([held for pod in inside if id(pod) not in kept and (held := pod.requests.get(resource, 0))])

    @cached_property
    def takings(self) -> list[PromisedTaking]:
        """Return the guaranteed resources of which victims hold something, in the tree's order, then by resource."""
        ledger = self.ledger
        return [
            PromisedTaking(path, resource, promised, ledger.victim_usage(path, resource), taken)
            for path in self.above_victims
            for resource, promised in ledger.promises[path]
            if (taken := self.taken(path, resource))
        ]

    @cached_property
    def _victims_within(self) -> dict[str, list[Pod]]:
        """Return a map: queue path -> the victims in its subtree; queues without victims are left out."""
        victims_by_queue: dict[str, list[Pod]] = {}
        for pod in self.victims:
            for path in self.tree.lineage(pod.queue) if pod.queue is not None and pod.queue in self.tree else ():
                victims_by_queue.setdefault(path, []).append(pod)
        return victims_by_queue

    @cached_property
    def victims_by_leaf(self) -> dict[str, list[Pod]]:
        """Return the victims grouped by their leaf."""
        return {path: pods for path, pods in self._victims_within.items() if self.tree.is_leaf(path)}

    def within(self, pod: Pod, queue: str) -> bool:
        """Return whether a pod runs in the subtree of a queue."""
        return pod.queue is not None and pod.queue in self.tree and self.tree.contains(queue, pod.queue)

    @cached_property
    def staying(self) -> list[Pod]:
        """Return the node's pods that remain once the victims and all terminating pods are gone."""
        leaving = self.departing_uids()
        return [pod for pod in self.on_node if pod.uid not in leaving]

    @cached_property
    def resource_lines(self) -> list[Sum]:
        """Compare what the node has left with the request, for each resource that the pending pod requests.

        Each line subtracts the pods that remain on the node from what the node can hold.
        """
        name, allocatable = (self.node.name, self.node.allocatable) if self.node else ("", {})
        lines = []
        for resource, requested in sorted(self.ask.requests.items()):
            if requested > 0:
                held = tuple([amount_held for pod in self.staying if (amount_held := pod.requests.get(resource, 0))])
                lines.append(
                    amount(name, resource, allocatable.get(resource, 0), Relation.AT_LEAST, requested, minus=held)
                )
        return lines

    @cached_property
    def on_node(self) -> tuple[Pod, ...]:
        """Return the pods bound to the decision's node."""
        return self.snapshot.pods_by_node.get(self.node.name if self.node else "", ())

    def departing_uids(self, *back: Pod) -> set[str]:
        """Return the uids of the victims, except ``back``, and of all terminating pods on the node."""
        return {pod.uid for pod in self.victims} - {pod.uid for pod in back} | self._leaving

    @cached_property
    def _leaving(self) -> set[str]:
        return {pod.uid for pod in self.on_node if pod.uid in self.ledger.leaving_uids}


def _book() -> Book:
    return defaultdict(lambda: defaultdict(int))


Check = Callable[[AuditCase], InvariantCheck]
"""Checks one invariant of a decision."""


class Invariants(NamedTuple):
    """The invariants of one policy's decisions."""

    of_decision: tuple[Check, ...]
    """Of a decision that preempts."""
    of_victims: tuple[Check, ...]
    """Those that still hold for the remaining victims while a decision is being carried out."""
    with_groups: "Invariants | None" = None
    """Those of decisions for groups of pods, or with whole groups among the victims; None: the same."""
