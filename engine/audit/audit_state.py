"""Who uses what, kept by the audit itself: added up once for a snapshot, then moved on decision by decision."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from engine.audit.checks import LawCheck, Relation, Sum, amount
from engine.model.columns.node_columns import Columns
from engine.model.decision import Decision
from engine.model.objects import Node, Pod
from engine.model.queue_tree import PreemptionPolicy, QueueTree
from engine.model.quota.tree_reading import QuotaReading
from engine.model.snapshot import Reservation, Snapshot

Made = TypeVar("Made")
Book = dict[str, dict[str, int]]
"""Queue path -> resource -> amount, rolled up."""


class AuditState:
    """The state that the next decision is held against.

    Three books, from the rules of the policy `fence`: ``bound`` (pods with a node), ``staying`` (those of them that are
    not on their way out) and ``reserved`` (room that open decisions keep for asks which are not bound yet). ``lacking``
    is what all queues together lack of their guarantees, by resource, once all open decisions have come about.
    """

    def __init__(self, snapshot: Snapshot, tree: QueueTree) -> None:
        self.tree = tree
        self.snapshot = snapshot
        self.nodes = {node.name: node for node in snapshot.nodes}
        self.leaving_uids: set[str] = set()
        self.gave: list[str] = []
        """The queues of pods on their way out, in the order in which that was found out; of each pod once."""
        self._kept: dict[Hashable, Any] = {}
        self.reservations: dict[str, Reservation] = {}
        self._keeping: dict[str, list[Reservation]] = {}
        self._bound, self._staying, self._reserved = _book(), _book(), _book()
        self.lacking: dict[str, int] = {}
        self.promises = {path: sorted(queue.guaranteed.items()) for path, queue in tree.queues.items()}
        """Path -> what is guaranteed there, in the order of resources, in which laws are told."""
        self.limits = {path: sorted(queue.max.items()) for path, queue in tree.queues.items()}
        """Path -> the max of resources likewise."""
        for resource, promised in chain.from_iterable(self.promises.values()):
            self.lacking[resource] = self.lacking.get(resource, 0) + max(0, promised)
        self._count_bound(snapshot.columns)
        for row in snapshot.columns.leaving.tolist():
            self._count_leaving(snapshot.columns.pods[row])
        for reservation in snapshot.reservations:
            self._reserve(reservation)

    def once(self, what: Hashable, make: Callable[[], Made]) -> Made:
        """What ``make`` makes, made once, whatever is carried out. It must not hold the ledger, nor any snapshot."""
        made: Made | None = self._kept.get(what)
        if made is None:
            made = self._kept[what] = make()
        return made

    def asker_side(self, queue: str, resource: str, ask: Pod) -> int:
        """What the queue uses when its claim is judged: bound, and reserved for other asks."""
        return self._bound[queue][resource] + self._reserved_for_others(queue, resource, ask)

    def victim_side(self, queue: str, resource: str) -> int:
        """What the queue uses when something is taken from it: bound, less what is on its way out."""
        return self._staying[queue][resource]

    def settled(self, queue: str, resource: str, ask: Pod | None = None) -> int:
        """What the queue will use once all open decisions, but one for the ``ask``, have come about."""
        others = self._reserved_for_others(queue, resource, ask) if ask else self._reserved[queue][resource]
        return self._staying[queue][resource] + others

    def saying(self, policy: PreemptionPolicy) -> frozenset[str]:
        """The queues that have this setting themselves; on the root it has no effect."""
        tree = self.tree
        saying = (path for path, queue in tree.queues.items() if queue.preemption_policy is policy)
        return self.once(("saying", policy), lambda: frozenset(path for path in saying if path != tree.root))

    def reserved_by(self, node: str) -> list[Reservation]:
        """The reservations that keep a node."""
        return [held for held in self._keeping.get(node, ()) if self.reservations[held.ask_uid] is held]

    def carry_out(self, decision: Decision, left: Snapshot) -> None:
        """Move on: the victims are on their way out, and room is kept."""
        for verdict in decision.victims:
            pod = self.snapshot.pod(verdict.pod.uid, decision.node or verdict.pod.node)
            if pod is not None and pod.node is not None and pod.uid not in self.leaving_uids:
                self._count_leaving(pod)
        self.snapshot = left
        for held in decision.rooms:
            self._reserve(held)

    def _count_bound(self, columns: Columns) -> None:
        """Those of one queue that request the same at once: in a large cluster many do."""
        queues, requests = columns.queue_kinds, columns.request_kinds
        alike, times = np.unique(queues.of * len(requests.each) + requests.of, return_counts=True)
        for kind, count in zip(alike.tolist(), times.tolist(), strict=True):
            queue, request = divmod(kind, len(requests.each))
            held = {resource: amount * count for resource, amount in requests.each[request].requests.items()}
            self._enter((self._bound, self._staying), queues.each[queue].queue, held)
        for pod in columns.stray:
            self._enter((self._bound, self._staying), pod.queue, pod.requests)
            if pod.terminating:
                self._count_leaving(pod)

    def _count_leaving(self, pod: Pod) -> None:
        self.leaving_uids.add(pod.uid)
        self.gave += [pod.queue] if pod.queue is not None else []
        self._enter((self._staying,), pod.queue, pod.requests, sign=-1)

    def _reserve(self, reservation: Reservation) -> None:
        self.reservations[reservation.ask_uid] = reservation
        self._keeping.setdefault(reservation.node, []).append(reservation)
        if not self._is_bound(reservation.ask_uid):
            self._enter((self._reserved,), reservation.queue, reservation.requests)

    def _is_bound(self, uid: str) -> bool:
        pod = self.snapshot.pod(uid)
        return pod is not None and pod.node is not None

    def _reserved_for_others(self, queue: str, resource: str, ask: Pod) -> int:
        own = self.reservations.get(ask.uid)
        amount = self._reserved[queue][resource]
        if own is None or own.queue not in self.tree or not self.tree.contains(queue, own.queue):
            return amount
        return amount - own.requests.get(resource, 0)

    def _enter(self, books: tuple[Book, ...], queue: str | None, requests: Mapping[str, int], *, sign: int = 1) -> None:
        for path in self.tree.lineage(queue) if queue is not None and queue in self.tree else ():
            promised, staying, kept = self.tree.queues[path].guaranteed, self._staying[path], self._reserved[path]
            rows = [book[path] for book in books]
            for resource, requested in requests.items():
                change = sign * requested
                for row in rows:
                    row[resource] += change
                if resource in promised:
                    lacks = promised[resource] - staying[resource] - kept[resource]
                    self.lacking[resource] += max(0, lacks) - max(0, lacks + change)


class AuditTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy's parameters have a say in."""

    last_resort: str = "daemonset"
    """For which asks a pod that opted out may go: daemonset, any, never."""
    check_delay: bool = True
    """Whether an ask has to have waited for its queue's delay."""
    reading: QuotaReading = QuotaReading()
    """How the tree is meant as quota."""
    method: str = "drf"
    """How a cluster is divided: drf, or proportional, each resource by itself."""
    node_fit: bool = True
    """Whether what a queue deserves is given to it on a node where its ask then fits."""
    high_priority: tuple[str, ...] = ()
    """The priority classes whose pods may reclaim beyond what their queue deserves."""


class PromisedTaking(msgspec.Struct, frozen=True, gc=False):
    """What victims hold of a resource that a queue above them is promised."""

    path: str
    resource: str
    promised: int
    used: int
    """On the victims' side."""
    gone: tuple[int, ...]
    """What each victim holds."""


class AuditCase(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One decision to be judged, with the snapshot's own pods and node in place of the decision's copies."""

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
    def above_ask(self) -> tuple[str, ...]:
        """The ask's leaf and every queue above it; nothing for an ask without a queue."""
        queue = self.ask.queue
        return self.tree.lineage(queue) if queue is not None and queue in self.tree else ()

    @cached_property
    def above_victims(self) -> tuple[str, ...]:
        """The victims' leaves and all queues above them, in the tree's order."""
        return tuple(sorted(self._victims_within, key=self.tree.turn.__getitem__))

    @property
    def above_reserved(self) -> tuple[str, ...]:
        """The queues in which room is kept for the ask already."""
        own = self.ledger.reservations.get(self.ask.uid)
        return self.tree.lineage(own.queue) if own is not None and own.queue in self.tree else ()

    @property
    def entitling(self) -> dict[str, str]:
        """Resource that the ask requests -> nearest queue upwards with a guarantee in it."""
        found: dict[str, str] = {}
        for path in reversed(self.above_ask):
            for resource in self.tree[path].guaranteed:
                if self.ask.requests.get(resource, 0) > 0:
                    found[resource] = path
        return found

    def taken(self, queue: str, resource: str, without: Pod | None = None) -> tuple[int, ...]:
        """What each victim of the queue's subtree holds of a resource, zeros left out."""
        inside = self._victims_within.get(queue, ())
        return tuple([held for pod in inside if pod is not without and (held := pod.requests.get(resource, 0))])

    @cached_property
    def takings(self) -> list[PromisedTaking]:
        """Where something is taken that is promised, in the tree's order and by resource."""
        ledger = self.ledger
        return [
            PromisedTaking(path, resource, promised, ledger.victim_side(path, resource), gone)
            for path in self.above_victims
            for resource, promised in ledger.promises[path]
            if (gone := self.taken(path, resource))
        ]

    @cached_property
    def _victims_within(self) -> dict[str, list[Pod]]:
        """Queue path -> the victims that run in its subtree; none has none."""
        found: dict[str, list[Pod]] = {}
        for pod in self.victims:
            for path in self.tree.lineage(pod.queue) if pod.queue is not None and pod.queue in self.tree else ():
                found.setdefault(path, []).append(pod)
        return found

    @cached_property
    def victims_by_leaf(self) -> dict[str, list[Pod]]:
        """The victims by the leaf that they run in."""
        return {path: pods for path, pods in self._victims_within.items() if self.tree.is_leaf(path)}

    def within(self, pod: Pod, queue: str) -> bool:
        """Whether a pod runs in the subtree of a queue."""
        return pod.queue is not None and pod.queue in self.tree and self.tree.contains(queue, pod.queue)

    @cached_property
    def staying(self) -> list[Pod]:
        """The node's pods once the victims, and all that are on their way out, are gone."""
        gone = self.gone()
        return [pod for pod in self.on_node if pod.uid not in gone]

    @cached_property
    def room(self) -> list[Sum]:
        """For each resource of the ask: what the node can hold, less what stays on it, against the request."""
        name, there = (self.node.name, self.node.allocatable) if self.node else ("", {})
        lines = []
        for resource, wanted in sorted(self.ask.requests.items()):
            if wanted > 0:
                held = tuple([part for pod in self.staying if (part := pod.requests.get(resource, 0))])
                lines.append(amount(name, resource, there.get(resource, 0), Relation.AT_LEAST, wanted, minus=held))
        return lines

    @cached_property
    def on_node(self) -> tuple[Pod, ...]:
        """The pods bound to the decision's node."""
        return self.snapshot.pods_by_node.get(self.node.name if self.node else "", ())

    def gone(self, *back: Pod) -> set[str]:
        """Uids of the victims but ``back``, and of all on the node that are on their way out."""
        return {pod.uid for pod in self.victims} - {pod.uid for pod in back} | self._leaving

    @cached_property
    def _leaving(self) -> set[str]:
        return {pod.uid for pod in self.on_node if pod.uid in self.ledger.leaving_uids}


def _book() -> Book:
    return defaultdict(lambda: defaultdict(int))


Check = Callable[[AuditCase], LawCheck]
"""Checks one invariant of a decision."""


class Invariants(NamedTuple):
    """The invariants of one policy's decisions."""

    of_decision: tuple[Check, ...]
    """Of a decision that preempts."""
    of_victims: tuple[Check, ...]
    """Those that still hold for the remaining victims while a decision is being carried out."""
