"""Track what queues use, independently of the policies: summed once per snapshot, then updated with each decision."""

from collections.abc import Callable, Hashable, Iterable
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

import msgspec

from engine.audit.bound_usage import BoundUsage
from engine.model.decision import Decision
from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts
from engine.model.queue_tree import PreemptionPolicy, Queue, QueueTree
from engine.model.snapshot import Reservation, Snapshot

Made = TypeVar("Made")

_NOBODY: AbstractSet[str] = frozenset()


class SettledUsage(msgspec.Struct, gc=False):
    """What a queue uses, including its descendants, by resource; a missing resource is not used."""

    bound: Amounts
    """What its pods with a node request."""
    staying: Amounts
    """The same without terminating pods."""
    reserved: Amounts
    """What open decisions reserve for pods that are not bound yet."""


class Changes(msgspec.Struct, gc=False):
    """Requests that are not yet counted in the usage of a queue."""

    leaving: list[Amounts]
    """Those of pods that terminate."""
    reserved: list[Amounts]


class AuditState:
    """The cluster state against which the next decision is audited.

    It keeps what queues use, as the rules of policy `fence` define it. The bound pods of the whole cluster are summed
    once; after that, only what concerns the queues of a decision is calculated or changed.
    """

    def __init__(self, snapshot: Snapshot, tree: QueueTree) -> None:
        self.tree = tree
        self.snapshot = snapshot
        self.leaving_uids: set[str] = set()
        self.leaving_queues: list[str] = []
        """The queues of terminating pods, in the order in which the pods were found to terminate; one entry per pod."""
        self._cache: dict[Hashable, Any] = {}
        self.reservations: dict[str, Reservation] = {}
        self._reservations_by_node: dict[str, list[Reservation]] = {}
        self._bound = BoundUsage(snapshot.columns, tree)
        self._usage: dict[str, SettledUsage] = {}
        self._pending: dict[str, Changes] = {}
        """Queue -> what is to be counted when its usage is next asked for; that of most queues never is."""
        self._shortfalls: dict[str, int] = {}
        self._lacks: dict[tuple[str, str], int] = {}
        """Queue and resource -> the part of the shortfalls that is the queue's, once it has changed."""
        self._changed: set[str] = set()
        """The queues that changed since the shortfalls were last asked for."""
        self.promises = _SortedAmounts(tree, lambda queue: queue.guaranteed)
        """Path -> the queue's guarantees, sorted by resource; checks list them in this order."""
        self.limits = _SortedAmounts(tree, lambda queue: queue.max)
        """Path -> the queue's maximum of each limited resource, sorted by resource."""
        columns = snapshot.columns
        for pod in (*[columns.pods[row] for row in columns.leaving.tolist()], *columns.stray):
            if pod.terminating:
                self._count_leaving(pod)
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

    def node(self, name: str | None) -> Node | None:
        """Return the node with that name, or None."""
        place = self.snapshot.columns.place.get(name or "")
        return None if place is None else self.snapshot.nodes[place]

    def claimant_usage(self, queue: str, resource: str, *pods: Pod) -> int:
        """Return the usage of a queue that may preempt: its bound pods, and what is reserved, but not for ``pods``."""
        usage = self._of(queue)
        used = usage.bound.get(resource, 0) + usage.reserved.get(resource, 0)
        return used - self._reserved_for(queue, resource, pods)

    def victim_usage(self, queue: str, resource: str) -> int:
        """Return the usage of a queue that may lose pods: its bound pods, without those that are terminating."""
        if queue not in self._usage and queue not in self._pending:
            return self._bound.of(queue, resource)
        return self._of(queue).staying.get(resource, 0)

    def settled(self, queue: str, resource: str, *pods: Pod) -> int:
        """Return what the queue will use once all open decisions, except those for ``pods``, are carried out."""
        usage = self._of(queue)
        used = usage.staying.get(resource, 0) + usage.reserved.get(resource, 0)
        return used - self._reserved_for(queue, resource, pods) if pods else used

    @property
    def shortfalls(self) -> dict[str, int]:
        """Return, by resource, how far all queues together are below their guarantees.

        All open decisions count as carried out. Once the sums are known, only queues that changed are looked at.
        """
        if not self._shortfalls:
            for path, queue in self.tree.queues.items():
                for resource, promised in queue.guaranteed.items():
                    lacks = max(0, promised - self._bound.of(path, resource))
                    self._shortfalls[resource] = self._shortfalls.get(resource, 0) + lacks
        for path in self._changed:
            for resource, promised in self.tree[path].guaranteed.items():
                before = self._lacks.get((path, resource))
                if before is None:
                    before = max(0, promised - self._bound.of(path, resource))
                lacks = self._lacks[path, resource] = max(0, promised - self.settled(path, resource))
                self._shortfalls[resource] += lacks - before
        self._changed.clear()
        return self._shortfalls

    def queues_with_policy(self, policy: PreemptionPolicy) -> frozenset[str]:
        """Return the queues that have this preemption policy themselves, except the root, where it has no effect."""
        return self.once(("policy", policy), lambda: _queues_with_policy(self.tree, policy))

    def reserved_by(self, node: str) -> list[Reservation]:
        """Return the reservations of a node."""
        return [
            reservation
            for reservation in self._reservations_by_node.get(node, ())
            if self.reservations[reservation.ask_uid] is reservation
        ]

    def nominated_to(self, node: str) -> AbstractSet[str]:
        """Return the uids of the pending pods that a scheduler has nominated to a node."""
        if not self.snapshot.nominated:
            return _NOBODY
        return self.once("nominated", lambda: _nominated(self.snapshot)).get(node, _NOBODY)

    def carry_out(self, decision: Decision, after: Snapshot) -> None:
        """Apply a decision: count its victims as terminating, and add its reservations."""
        for verdict in decision.victims:
            if verdict.pod.uid not in self.leaving_uids:
                pod = self.snapshot.pod(verdict.pod.uid, decision.node_of(verdict))
                if pod is not None and pod.node is not None:
                    self._count_leaving(pod)
        self.snapshot = after
        for reservation in decision.rooms:
            self._reserve(reservation)

    def _of(self, queue: str) -> SettledUsage:
        """Return what a queue uses."""
        usage = self._usage.get(queue)
        if usage is None:
            bound = self._bound.amounts(queue)
            usage = self._usage[queue] = SettledUsage(bound, bound.copy(), {})
        if queue in self._pending:
            changes = self._pending.pop(queue)
            for requests in changes.leaving:
                for resource, requested in requests.items():
                    usage.staying[resource] = usage.staying.get(resource, 0) - requested
            for requests in changes.reserved:
                for resource, requested in requests.items():
                    usage.reserved[resource] = usage.reserved.get(resource, 0) + requested
        return usage

    def _count_leaving(self, pod: Pod) -> None:
        self.leaving_uids.add(pod.uid)
        if pod.queue is not None:
            self.leaving_queues.append(pod.queue)
            for changes in self._changes(pod.queue):
                changes.leaving.append(pod.requests)

    def _reserve(self, reservation: Reservation) -> None:
        self.reservations[reservation.ask_uid] = reservation
        self._reservations_by_node.setdefault(reservation.node, []).append(reservation)
        if not self._is_bound(reservation.ask_uid):
            for changes in self._changes(reservation.queue):
                changes.reserved.append(reservation.requests)

    def _changes(self, queue: str) -> list[Changes]:
        """Return the pending changes of a queue and of all queues above it; none if it is not in the tree."""
        lineage, pending = self.tree.lineage(queue) if queue in self.tree.queues else (), self._pending
        self._changed.update(lineage)
        for path in lineage:
            if path not in pending:
                pending[path] = Changes([], [])
        return [pending[path] for path in lineage]

    def _is_bound(self, uid: str) -> bool:
        pod = self.snapshot.pod(uid)
        return pod is not None and pod.node is not None

    def _reserved_for(self, queue: str, resource: str, pods: Iterable[Pod]) -> int:
        """Return what is reserved for some pods in a queue and its descendants."""
        reserved = 0
        for pod in pods:
            if pod.uid in self.reservations:
                held = self.reservations[pod.uid]
                if held.queue in self.tree and self.tree.contains(queue, held.queue):
                    reserved += held.requests.get(resource, 0)
        return reserved


class _SortedAmounts(dict[str, list[tuple[str, int]]]):
    """A setting of each queue of a tree, sorted by resource when the queue is first looked at."""

    def __init__(self, tree: QueueTree, setting: Callable[[Queue], Amounts]) -> None:
        super().__init__()
        self._tree, self._setting = tree, setting

    def __missing__(self, path: str) -> list[tuple[str, int]]:
        found = self[path] = sorted(self._setting(self._tree[path]).items())
        return found


def _nominated(snapshot: Snapshot) -> dict[str, set[str]]:
    uids_by_node: dict[str, set[str]] = {}
    for pod in snapshot.nominated:
        uids_by_node.setdefault(pod.nominated_node, set()).add(pod.uid)
    return uids_by_node


def _queues_with_policy(tree: QueueTree, policy: PreemptionPolicy) -> frozenset[str]:
    paths = (path for path, queue in tree.queues.items() if queue.preemption_policy is policy)
    return frozenset(path for path in paths if path != tree.root)
