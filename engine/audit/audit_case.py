"""One decision under audit: what its checks need to know, each fact calculated once."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar, overload

import msgspec

from engine.audit.audit_state import AuditState
from engine.audit.checks import InvariantCheck, Relation, Sum, amount
from engine.model.decision import Decision
from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts, total
from engine.model.queue_tree import QueueTree
from engine.model.quota.tree_reading import QuotaReading
from engine.model.snapshot import Snapshot

Value = TypeVar("Value")


class fact(Generic[Value]):  # noqa: N801 - used as a decorator, as property is
    """A cached property that takes no lock.

    Before Python 3.12, functools.cached_property takes one, which costs more than most facts about a decision.
    """

    def __init__(self, calculate: Callable[[Any], Value]) -> None:
        self._calculate, self._name = calculate, calculate.__name__
        self.__doc__ = calculate.__doc__

    @overload
    def __get__(self, case: None, owner: type) -> "fact[Value]": ...
    @overload
    def __get__(self, case: object, owner: type) -> Value: ...
    def __get__(self, case: object | None, owner: type) -> "fact[Value] | Value":
        if case is None:
            return self
        value = case.__dict__[self._name] = self._calculate(case)
        return value


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

    @fact
    def tree(self) -> QueueTree:
        return self.ledger.tree

    @fact
    def snapshot(self) -> Snapshot:
        return self.ledger.snapshot

    @fact
    def preemptor_queues(self) -> tuple[str, ...]:
        """Return the pending pod's leaf and every queue above it; empty for a pod without a queue."""
        return self.queues_above(self.ask)

    def queues_above(self, pod: Pod) -> tuple[str, ...]:
        """Return the queue of any pod and every queue above it; empty for a pod that is in no queue of the tree."""
        queue = pod.queue
        return self.tree.lineage(queue) if queue is not None and queue in self.tree.queues else ()

    @fact
    def keys(self) -> list[str]:
        """Return the ``namespace/name`` of each victim."""
        return [pod.key for pod in self.victims]

    @fact
    def above_victims(self) -> tuple[str, ...]:
        """Return the victims' leaves and all queues above them, in the tree's order."""
        return tuple(sorted(self._victims_within, key=self.tree.turn.__getitem__))

    @fact
    def members(self) -> tuple[Pod, ...]:
        """Return the pods that get a node, in the order in which they were placed: the pending pod, if it is alone."""
        if not self.decision.group:
            return (self.ask,)
        found = (self.snapshot.pod(uid) for uid in self.decision.nodes)
        return tuple(pod for pod in found if pod is not None)

    @fact
    def requests(self) -> Amounts:
        """Return what all pods that get a node request together."""
        members = self.members
        return members[0].requests if len(members) == 1 else total(pod.requests for pod in members)

    @property
    def reserved_queues(self) -> tuple[str, ...]:
        """Return the leaf in which capacity is already reserved for the pending pods, and the queues above it."""
        reservations, tree = self.ledger.reservations, self.tree
        held = [reservations[pod.uid] for pod in self.members if pod.uid in reservations]
        leaves = [reservation.queue for reservation in held if reservation.queue in tree]
        return tuple(dict.fromkeys(path for leaf in leaves for path in tree.lineage(leaf))) if leaves else ()

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
        inside = self.victims_within(queue)
        if without:
            kept = {id(pod) for pod in without}
            inside = [pod for pod in inside if id(pod) not in kept]
        return tuple([held for pod in inside if (held := pod.requests.get(resource, 0))])

    @fact
    def takings(self) -> list[PromisedTaking]:
        """Return the guaranteed resources of which victims hold something, in the tree's order, then by resource."""
        ledger = self.ledger
        return [
            PromisedTaking(path, resource, promised, ledger.victim_usage(path, resource), taken)
            for path in self.above_victims
            for resource, promised in ledger.promises[path]
            if (taken := self.taken(path, resource))
        ]

    @fact
    def _victims_within(self) -> dict[str, list[Pod]]:
        """Return a map: queue path -> the victims in its subtree; queues without victims are left out."""
        victims_by_queue: dict[str, list[Pod]] = {}
        for pod in self.victims:
            for path in self.queues_above(pod):
                if path in victims_by_queue:
                    victims_by_queue[path].append(pod)
                else:
                    victims_by_queue[path] = [pod]
        return victims_by_queue

    @fact
    def victims_by_leaf(self) -> dict[str, list[Pod]]:
        """Return the victims grouped by their leaf."""
        return {path: pods for path, pods in self._victims_within.items() if self.tree.is_leaf(path)}

    def victims_within(self, queue: str) -> list[Pod]:
        """Return the victims in the subtree of a queue."""
        return self._victims_within.get(queue, [])

    @fact
    def staying(self) -> list[Pod]:
        """Return the node's pods that remain once the victims and all terminating pods are gone."""
        going, leaving = {pod.uid for pod in self.victims}, self.ledger.leaving_uids
        return [pod for pod in self.on_node if pod.uid not in leaving and pod.uid not in going]

    @fact
    def resource_lines(self) -> list[Sum]:
        """Compare what the node has left with the request, for each resource that the pending pod requests.

        Each line subtracts the pods that remain on the node from what the node can hold.
        """
        name, allocatable = (self.node.name, self.node.allocatable) if self.node else ("", {})
        lines, staying = [], [pod.requests for pod in self.staying]
        for resource, requested in sorted(self.ask.requests.items()):
            if requested > 0:
                held = tuple([amount_held for requests in staying if (amount_held := requests.get(resource, 0))])
                lines.append(
                    amount(name, resource, allocatable.get(resource, 0), Relation.AT_LEAST, requested, minus=held)
                )
        return lines

    @fact
    def on_node(self) -> tuple[Pod, ...]:
        """Return the pods bound to the decision's node."""
        columns = self.snapshot.columns
        return columns.on(columns.place[self.node.name]) if self.node else ()

    def departing_uids(self, *back: Pod) -> set[str]:
        """Return the uids of the victims, except ``back``, and of all terminating pods on the node."""
        going = {pod.uid for pod in self.victims}
        return (going - {pod.uid for pod in back} if back else going) | self._leaving

    @fact
    def _leaving(self) -> set[str]:
        leaving = self.ledger.leaving_uids
        return {pod.uid for pod in self.on_node if pod.uid in leaving}


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
