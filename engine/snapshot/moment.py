"""A cluster at one moment: what policies decide on."""

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

import msgspec

from engine.queues import QueueTree
from engine.resources import Amounts, subtract, total
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
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    """Every pod that is not finished, bound or not."""
    budgets: tuple[DisruptionBudget, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    namespaces: dict[str, dict[str, str]] = {}
    """Name -> labels."""
    claims: dict[tuple[str, str], Claim] = {}
    """By namespace and name."""
    volumes: dict[str, Volume] = {}
    """By name."""

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


def _by_leaf(tree: QueueTree, pods: Iterable[Pod]) -> Mapping[str, Amounts]:
    by_leaf: dict[str, list[Amounts]] = {}
    for pod in pods:
        if pod.queue is not None and pod.queue in tree:
            by_leaf.setdefault(pod.queue, []).append(pod.requests)
    return {leaf: total(requests) for leaf, requests in by_leaf.items()}
