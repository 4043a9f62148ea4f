"""A cluster at one moment: what policies decide on."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec
import numpy as np

from engine.model.collections.overlay import PatchedSequence
from engine.model.columns import pod_fields
from engine.model.columns.node_columns import Columns
from engine.model.columns.node_fields import NodeFields
from engine.model.columns.pods_by_node import PodsByNode
from engine.model.columns.roster import Roster
from engine.model.objects.kubernetes import Claim, DisruptionBudget, Node, Pod, Volume
from engine.model.objects.pod_groups import SchedulingGroup
from engine.model.quantities import PODS, Amounts, subtract, total
from engine.model.queue_tree import ROOT_ONLY, QueueTree
from engine.model.snapshot.safeguards import Safeguards


class Reservation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Capacity that an open decision reserves for its pending pod.

    The pod's requests count as used in its queue, and the node takes no other pod for them.
    """

    ask_uid: str
    node: str
    queue: str
    requests: Amounts


Made = TypeVar("Made")

# The cached values of a snapshot, by what they depend on:
_OF_BOUND = ("_places", "_kept", "capacity", "_held")
_OF_PENDING = ("_unbound", "asks", "nominated")
_OF_RESERVATIONS = ("kept_for",)
_PODS = ("keeping_apart", "unread")


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a policy sees. Nodes are sorted by name, pods by node: the order of the input never matters."""

    now_ms: int
    tree: QueueTree = ROOT_ONLY
    """The tree that the snapshot was frozen under, extended by the dynamic queues of its pods."""
    nodes: tuple[Node, ...] = ()
    pods: Sequence[Pod] = ()
    """Every pod that is not finished, bound or not: sorted as in a ``Roster``, or by namespace and name."""
    budgets: tuple[DisruptionBudget, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    namespaces: dict[str, dict[str, str]] = {}
    """Namespace name -> labels. The labels of a missing namespace are unknown, as where namespaces can't be read."""
    claims: dict[tuple[str, str], Claim] = {}
    """Claims by namespace and name. A missing claim is unknown, so it is not known to be bound."""
    volumes: dict[str, Volume] = {}
    """Volumes by name. A missing volume is unknown, so no node is known to reach it."""
    groups: dict[tuple[str, str], SchedulingGroup] = {}
    """The groups that pods are started with, by namespace and reference."""
    queued: frozenset[str] | None = None
    """Uids of the pods in the scheduler's queue; None: every pod without a node is in it."""
    notices: dict[str, int] = {}
    """Queue -> when it was notified to give back what it uses beyond what it deserves."""
    safeguards: Safeguards | None = None
    """The restrictions that a policy has to respect. None if this engine carries nothing out, as where another
    scheduler decides or a recorded case is decided again."""

    @classmethod
    def of_roster(cls, roster: Roster, of_nodes: NodeFields, **rest: Any) -> "Snapshot":
        """Return a snapshot of the pods of a roster and of its nodes, with the columns that they already have."""
        made = cls(pods=roster.pods, nodes=of_nodes.nodes, **rest)
        unread = roster.at(np.flatnonzero(roster.numbers(pod_fields.unread, np.bool_)))
        unbound = {pod.uid: pod for pod in roster.elsewhere if pod.node is None}
        known = {"roster": roster, "frozen": roster, "unread": tuple([pod for pod in unread if pod.node is not None])}
        made.__dict__.update(known, _unbound=unbound, of_nodes=of_nodes)
        return made

    def expecting(self, going: Iterable[Pod]) -> "Snapshot":
        """Return a snapshot in which these of its pods are terminating, whether or not the cluster shows it yet."""
        rows: dict[int, Pod] = {}
        elsewhere: dict[int, Pod] = {}
        """Row -> pod, for pods that are on none of the nodes."""
        for pod in going:
            if not pod.terminating:
                row = self.columns.row_of(pod.uid, pod.node)
                at, those = (self.roster.row_of(pod), elsewhere) if row is None else (row, rows)
                those[at] = msgspec.structs.replace(pod, terminating=True)
        if not rows and not elsewhere:
            return self
        later = msgspec.structs.replace(self, pods=PatchedSequence(self.by_row, rows | elsewhere))
        later.__dict__["by_row"] = later.pods
        later.__dict__.update(self._worked_out(rows, {pod.uid: pod for pod in elsewhere.values()}))
        return later

    def _worked_out(self, rows: Mapping[int, Pod], elsewhere: Mapping[str, Pod]) -> dict[str, Any]:
        """Return the cached values of this snapshot as they are once some pods are terminating.

        ``rows``: these pods by row. ``elsewhere``: those without a row, by uid.
        """
        _ = self._kept
        known = {name: self.__dict__[name] for name in (*_OF_BOUND, *_OF_RESERVATIONS) if name in self.__dict__}
        if all(pod.node is not None for pod in elsewhere.values()):
            known |= {name: self.__dict__[name] for name in _OF_PENDING if name in self.__dict__}
        going = {pod.uid: pod for pod in (*rows.values(), *elsewhere.values())}
        listed = any(pod.unread or pod.anti_affinity for pod in going.values())
        for name in _PODS:
            if name in self.__dict__:
                pods = self.__dict__[name]
                known[name] = tuple(going.get(pod.uid, pod) for pod in pods) if listed else pods
        known["columns"], known["frozen"] = self.columns.expecting(rows, elsewhere), self.frozen
        known["roster"] = self.roster
        return known

    def without_reservation(self, ask_uid: str) -> "Snapshot":
        """Return a snapshot for a pending pod, in which its own reservation does not count against it."""
        if ask_uid not in self.kept_for:
            return self
        others = tuple([held for held in self.reservations if held.ask_uid != ask_uid])
        return self._sharing(msgspec.structs.replace(self, reservations=others))

    def reserving(self, held: Reservation) -> "Snapshot":
        """Return a snapshot with one more reservation."""
        later = self._sharing(msgspec.structs.replace(self, reservations=(*self.reservations, held)))
        later.__dict__["kept_for"] = self.kept_for | {held.ask_uid}
        return later

    def asking(self, ask: Pod) -> "Snapshot":
        """Return a snapshot in which a pending pod is replaced by this version of it."""
        before = self._unbound[ask.uid]
        if before == ask:
            return self
        later = msgspec.structs.replace(self, pods=PatchedSequence(self.by_row, {self.roster.row_of(before): ask}))
        _ = self.columns
        names = ({*_OF_BOUND, *_OF_RESERVATIONS} - {"_kept"}) | {"columns", "keeping_apart", "pods_by_node", "roster"}
        later.__dict__.update({name: self.__dict__[name] for name in names if name in self.__dict__})
        later.__dict__.update(by_row=later.pods, _unbound={**self._unbound, ask.uid: ask})
        return later

    def with_budgets(self, budgets: tuple[DisruptionBudget, ...]) -> "Snapshot":
        """Return a snapshot with other disruption budgets."""
        return self._sharing(msgspec.structs.replace(self, budgets=budgets))

    def with_group(self, group: SchedulingGroup) -> "Snapshot":
        """Return a snapshot in which a group is replaced by this version of it."""
        later = self._sharing(
            msgspec.structs.replace(self, groups={**self.groups, (group.namespace, group.reference): group})
        )
        del later.__dict__["_kept"]
        return later

    def guarded(self, safeguards: Safeguards | None) -> "Snapshot":
        """Return a snapshot with other safeguards, or without any."""
        if safeguards == self.safeguards:
            return self
        later = self._sharing(msgspec.structs.replace(self, safeguards=safeguards))
        later.__dict__.update({name: self.__dict__[name] for name in _OF_RESERVATIONS if name in self.__dict__})
        return later

    def _sharing(self, other: "Snapshot") -> "Snapshot":
        """Copy the cached values that depend on nodes and pods alone to another snapshot, and return that snapshot."""
        _ = self._kept
        names = (*_OF_BOUND, *_OF_PENDING, *_PODS, "columns", "pods_by_node", "roster", "frozen", "by_row")
        other.__dict__.update({name: self.__dict__[name] for name in names if name in self.__dict__})
        return other

    def once(self, what: str, of: Hashable, make: Callable[[], Made]) -> Made:
        """Return what ``make`` returns, calling it once for this snapshot and those derived from it.

        The result must hold for all snapshots that differ in reservations or terminating pods only. It must not refer
        to any of them, or they would never be freed.
        """
        made: Made | None = self._kept.get((what, of))
        if made is None:
            made = self._kept[what, of] = make()
        return made

    def pod(self, uid: str, node: str | None = None) -> Pod | None:
        """Return the pod with that uid, or None.

        The pod is found sooner if it is bound to the given ``node``, or is not bound and no node is given.
        """
        if node is None and uid in self._unbound:
            return self._unbound[uid]
        if node is not None and (found := self.columns.pod_on(node, uid)) is not None:
            return found
        place = self._places.get(uid)
        return None if place is None else self.pods[place]

    @cached_property
    def _places(self) -> dict[str, int]:
        """Return the index of every pod by uid. In a large cluster this takes longer than many a decision."""
        return {pod.uid: place for place, pod in enumerate(self.pods)}

    @cached_property
    def _unbound(self) -> dict[str, Pod]:
        return {pod.uid: pod for pod in self.pods if pod.node is None}

    @cached_property
    def _kept(self) -> dict[tuple[str, Hashable], Any]:
        return {}

    @cached_property
    def kept_for(self) -> frozenset[str]:
        """Return the uids of the pending pods that capacity is reserved for."""
        return frozenset(held.ask_uid for held in self.reservations)

    @cached_property
    def roster(self) -> Roster:
        """Return the pods as a roster, from which ``columns`` are built.

        In a snapshot derived by ``expecting`` or ``asking``, it has the pods as they were before.
        """
        place = {node.name: number for number, node in enumerate(self.nodes)}
        return Roster.of(tuple(self.pods), place, self.now_ms)

    @cached_property
    def by_row(self) -> Sequence[Pod]:
        """Return the pods in the order of the roster, in derived snapshots with what became of them."""
        return self.roster.pods

    @cached_property
    def frozen(self) -> Roster:
        """Return the pods as the cluster showed them, without the terminations that ``expecting`` adds."""
        return self.roster

    @cached_property
    def columns(self) -> Columns:
        """Return the nodes and bound pods as columns."""
        return Columns(self.of_nodes, self.roster)

    @cached_property
    def of_nodes(self) -> NodeFields:
        """Return the nodes as columns."""
        return NodeFields(self.nodes)

    @cached_property
    def nominated(self) -> tuple[Pod, ...]:
        """Return the pods without a node that a scheduler has nominated to one, as that scheduler knows them.

        Of a pod that is not in its queue, the scheduler knows only that it exists: the pod then has priority 0 and
        requests nothing. Source: nominatedPodToInfo of kube-scheduler's scheduling queue, since 1.31.
        """
        found = (pod for pod in self._unbound.values() if pod.nominated_node and not pod.gated)
        return tuple(pod if self.queued is None or pod.uid in self.queued else _unknown(pod) for pod in found)

    @cached_property
    def pods_by_node(self) -> PodsByNode:
        """Return the pods bound to each node, terminating pods included."""
        return PodsByNode(self.columns)

    @cached_property
    def keeping_apart(self) -> tuple[Pod, ...]:
        """Return the bound pods whose anti-affinity keeps other pods out of their topology, sorted by node."""
        columns = self.columns
        rows = np.flatnonzero(columns.anti_kinds.flags(lambda pod: bool(pod.anti_affinity)))
        return tuple([columns.pods[row] for row in rows.tolist()])

    @property
    def unbound(self) -> Iterable[Pod]:
        """Return the pods without a node, those included that want none yet or are terminating."""
        return self._unbound.values()

    @cached_property
    def asks(self) -> tuple[Pod, ...]:
        """Return the pending pods that want a node."""
        return tuple(pod for pod in self._unbound.values() if not pod.terminating and not pod.gated)

    @cached_property
    def unread(self) -> tuple[Pod, ...]:
        """Return the bound pods whose requests are unknown; an unbound pod holds nothing yet."""
        return tuple(pod for pod in self.pods if pod.unread and pod.node is not None)

    def unread_for(self, ask: Pod) -> tuple[Pod, ...]:
        """Return the pods whose requests must be known before ``ask`` can be decided: ``unread`` and ``ask`` itself."""
        return (*self.unread, ask) if ask.unread and ask.node is None else self.unread

    @cached_property
    def capacity(self) -> Amounts:
        """Return the sum of what all nodes can hold."""
        return self.of_nodes.capacity

    @cached_property
    def _held(self) -> dict[str, Amounts]:
        """Return the cache of what the pods of each queried node request, terminating pods included."""
        return {}

    def free(self, node: Node, without: Iterable[Pod] = ()) -> Amounts:
        """Return what is free on a node once the pods ``without``, which are bound to it, have left.

        Other terminating pods still hold what they request.
        """
        if node.name not in self._held:
            self._held[node.name] = total(pod.requests for pod in self.pods_by_node[node.name])
        held = subtract(self._held[node.name], total(pod.requests for pod in without))
        return subtract(node.allocatable, held)

    def usage(self, tree: QueueTree) -> dict[str, Amounts]:
        """Return what the bound pods of each queue hold, terminating pods included, summed up the tree."""
        return tree.usage((pod.queue, pod.requests) for pod in self.pods if pod.node is not None)


def _unknown(pod: Pod) -> Pod:
    return Pod(
        uid=pod.uid,
        namespace=pod.namespace,
        name=pod.name,
        nominated_node=pod.nominated_node,
        scheduler=pod.scheduler,
        requests={PODS: 1},
    )
