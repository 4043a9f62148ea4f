"""A cluster at one moment: what policies decide on."""

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

import msgspec

from engine.queues import BARE, QueueTree
from engine.resources import PODS, Amounts, subtract, total
from engine.snapshot.columns import Columns
from engine.snapshot.objects import Claim, DisruptionBudget, Node, Pod, Volume


class Reservation(msgspec.Struct, frozen=True, kw_only=True):
    """Room that an open decision keeps for its ask: the ask counts as used in its queue, the node takes no other."""

    ask_uid: str
    node: str
    queue: str
    requests: Amounts


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a policy sees. Nodes are sorted by name, pods by namespace and name: input order never matters."""

    now_ms: int
    tree: QueueTree = BARE
    """The tree that it was frozen under, grown by the dynamic queues that its pods are in."""
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    """Every pod that is not finished, bound or not."""
    budgets: tuple[DisruptionBudget, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    namespaces: dict[str, dict[str, str]] = {}
    """Name -> labels. Of one that is not here nobody knows them, as where namespaces may not be read."""
    claims: dict[tuple[str, str], Claim] = {}
    """By namespace and name. One that is not here is not known, so not known to be bound."""
    volumes: dict[str, Volume] = {}
    """By name. One that is not here is not known, so no node is known to reach it."""
    queued: frozenset[str] | None = None
    """Uids of the pods in the scheduler's queue; None: every pod without a node is."""

    def expecting(self, going: Collection[str]) -> "Snapshot":
        """The same with these pods (uids) on their way out, whether or not the cluster shows it yet."""
        if not going:
            return self
        pods = (msgspec.structs.replace(pod, terminating=True) if pod.uid in going else pod for pod in self.pods)
        later = msgspec.structs.replace(self, pods=tuple(pods))
        if "columns" in self.__dict__:
            later.__dict__["columns"] = self.columns.expecting(going)
        return later

    def without_reservation(self, ask_uid: str) -> "Snapshot":
        """The same for an ask whose own reservation does not stand against it."""
        others = tuple(held for held in self.reservations if held.ask_uid != ask_uid)
        if len(others) == len(self.reservations):
            return self
        return self._sharing_columns(msgspec.structs.replace(self, reservations=others))

    def reserving(self, held: Reservation) -> "Snapshot":
        """The same with room kept for one more ask."""
        return self._sharing_columns(msgspec.structs.replace(self, reservations=(*self.reservations, held)))

    def with_budgets(self, budgets: tuple[DisruptionBudget, ...]) -> "Snapshot":
        """The same with other disruption budgets."""
        return self._sharing_columns(msgspec.structs.replace(self, budgets=budgets))

    def _sharing_columns(self, other: "Snapshot") -> "Snapshot":
        if "columns" in self.__dict__:
            other.__dict__["columns"] = self.columns
        return other

    @cached_property
    def columns(self) -> Columns:
        """Nodes and bound pods column by column."""
        return Columns(self)

    @cached_property
    def nominated(self) -> tuple[Pod, ...]:
        """Pods without a node that a scheduler makes room for on one, as it knows them.

        Of one that is not in its queue it knows no more than that there is such a pod: to it that has priority 0 and
        requests nothing. Source: nominatedPodToInfo of kube-scheduler's scheduling queue, since 1.31.
        """
        found = (pod for pod in self.pods if pod.node is None and pod.nominated_node and not pod.gated)
        return tuple(pod if self.queued is None or pod.uid in self.queued else _unknown(pod) for pod in found)

    @cached_property
    def pods_by_node(self) -> dict[str, tuple[Pod, ...]]:
        """Node -> the pods bound to it, those on their way out included."""
        found: dict[str, list[Pod]] = {node.name: [] for node in self.nodes}
        for pod in self.pods:
            if pod.node in found:
                found[pod.node].append(pod)
        return {name: tuple(pods) for name, pods in found.items()}

    @cached_property
    def keeping_apart(self) -> tuple[Pod, ...]:
        """Pods bound to a node that keep others out of its topology."""
        return tuple(pod for pods in self.pods_by_node.values() for pod in pods if pod.anti_affinity)

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


def _unknown(pod: Pod) -> Pod:
    return Pod(
        uid=pod.uid,
        namespace=pod.namespace,
        name=pod.name,
        nominated_node=pod.nominated_node,
        scheduler=pod.scheduler,
        requests={PODS: 1},
    )


def _by_leaf(tree: QueueTree, pods: Iterable[Pod]) -> Mapping[str, Amounts]:
    by_leaf: dict[str, list[Amounts]] = {}
    for pod in pods:
        if pod.queue is not None and pod.queue in tree:
            by_leaf.setdefault(pod.queue, []).append(pod.requests)
    return {leaf: total(requests) for leaf, requests in by_leaf.items()}
