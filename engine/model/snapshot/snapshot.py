"""A cluster at one moment: what policies decide on."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec
import numpy as np

from engine.model.collections.overlay import Amended
from engine.model.columns import pod_fields
from engine.model.columns.node_columns import Columns
from engine.model.columns.pod_table import Roster
from engine.model.columns.pods_by_node import ByNode
from engine.model.objects.kubernetes import Claim, DisruptionBudget, Node, Pod, Volume
from engine.model.quantities import PODS, Amounts, subtract, total
from engine.model.queue_tree import BARE, QueueTree
from engine.model.snapshot.safeguards import Safeguards


class Reservation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Room that an open decision keeps for its ask: the ask counts as used in its queue, the node takes no other."""

    ask_uid: str
    node: str
    queue: str
    requests: Amounts


Made = TypeVar("Made")

# What a snapshot works out once, by what it is that it depends on:
_OF_BOUND = ("_places", "_kept", "capacity", "_held")
_OF_PENDING = ("_unbound", "asks", "nominated")
_OF_RESERVATIONS = ("kept_for",)
_PODS = ("keeping_apart", "unread")


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a policy sees. Nodes are sorted by name, pods by namespace and name: input order never matters."""

    now_ms: int
    tree: QueueTree = BARE
    """The tree that it was frozen under, grown by the dynamic queues that its pods are in."""
    nodes: tuple[Node, ...] = ()
    pods: Sequence[Pod] = ()
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
    notices: dict[str, int] = {}
    """Queue -> when it was told to give back what it uses beyond what it deserves."""
    safeguards: Safeguards | None = None
    """What a policy has to choose within; None where nothing is to be carried out by us, as where another scheduler
    decides or a recorded case is decided again."""

    @classmethod
    def of_roster(cls, roster: Roster, **rest: Any) -> "Snapshot":
        """Of pods that are in order already, with what is known of them by column."""
        made = cls(pods=roster.pods, **rest)
        bound = roster.numbers(pod_fields.bound, np.bool_)
        unbound = roster.at(np.flatnonzero(~bound))
        unread = roster.at(np.flatnonzero(roster.numbers(pod_fields.unread, np.bool_) & bound))
        known = {"roster": roster, "frozen": roster, "unread": tuple(unread)}
        made.__dict__.update(known, _unbound={pod.uid: pod for pod in unbound})
        return made

    def expecting(self, going: Iterable[Pod]) -> "Snapshot":
        """The same with these of its pods on their way out, whether or not the cluster shows it yet."""
        rows: dict[int, Pod] = {}
        elsewhere: dict[int, Pod] = {}
        """By place: pods that are on none of the nodes."""
        for pod in going:
            if not pod.terminating:
                row = self.columns.row_of(pod.uid, pod.node)
                at, those = (self._places[pod.uid], elsewhere) if row is None else (row, rows)
                those[at] = msgspec.structs.replace(pod, terminating=True)
        if not rows and not elsewhere:
            return self
        told = self.columns.told
        expected = {int(told[row]): pod for row, pod in rows.items()}
        expected.update(elsewhere)
        later = msgspec.structs.replace(self, pods=Amended(self.pods, expected))
        later.__dict__.update(self._worked_out(rows, {pod.uid: pod for pod in elsewhere.values()}))
        return later

    def _worked_out(self, rows: Mapping[int, Pod], elsewhere: Mapping[str, Pod]) -> dict[str, Any]:
        """What is known of this snapshot, as it is with the pods of some rows, and others by uid, on their way out."""
        _ = self._kept
        known = {name: self.__dict__[name] for name in (*_OF_BOUND, *_OF_RESERVATIONS) if name in self.__dict__}
        if all(pod.node is not None for pod in elsewhere.values()):
            known |= {name: self.__dict__[name] for name in _OF_PENDING if name in self.__dict__}
        going = {pod.uid: pod for pod in (*rows.values(), *elsewhere.values())}
        for name in _PODS:
            if name in self.__dict__:
                known[name] = tuple(going.get(pod.uid, pod) for pod in self.__dict__[name])
        known["columns"], known["frozen"] = self.columns.expecting(rows, elsewhere), self.frozen
        return known

    def without_reservation(self, ask_uid: str) -> "Snapshot":
        """The same for an ask whose own reservation does not stand against it."""
        if ask_uid not in self.kept_for:
            return self
        others = tuple([held for held in self.reservations if held.ask_uid != ask_uid])
        return self._sharing(msgspec.structs.replace(self, reservations=others))

    def reserving(self, held: Reservation) -> "Snapshot":
        """The same with room kept for one more ask."""
        later = self._sharing(msgspec.structs.replace(self, reservations=(*self.reservations, held)))
        later.__dict__["kept_for"] = self.kept_for | {held.ask_uid}
        return later

    def asking(self, ask: Pod) -> "Snapshot":
        """The same where one of its asks is this one instead."""
        place = self._places[ask.uid]
        if self.pods[place] == ask:
            return self
        later = msgspec.structs.replace(self, pods=Amended(self.pods, {place: ask}))
        _ = self.columns
        names = ({*_OF_BOUND, *_OF_RESERVATIONS} - {"_kept"}) | {"columns", "keeping_apart", "pods_by_node"}
        later.__dict__.update({name: self.__dict__[name] for name in names if name in self.__dict__})
        later.__dict__["_unbound"] = {**self._unbound, ask.uid: ask}
        return later

    def with_budgets(self, budgets: tuple[DisruptionBudget, ...]) -> "Snapshot":
        """The same with other disruption budgets."""
        return self._sharing(msgspec.structs.replace(self, budgets=budgets))

    def guarded(self, safeguards: Safeguards | None) -> "Snapshot":
        """The same with other safeguards, or without any."""
        if safeguards == self.safeguards:
            return self
        later = self._sharing(msgspec.structs.replace(self, safeguards=safeguards))
        later.__dict__.update({name: self.__dict__[name] for name in _OF_RESERVATIONS if name in self.__dict__})
        return later

    def _sharing(self, other: "Snapshot") -> "Snapshot":
        """What is worked out from nodes and pods alone holds for the other one too."""
        _ = self._kept
        names = (*_OF_BOUND, *_OF_PENDING, *_PODS, "columns", "pods_by_node", "frozen")
        other.__dict__.update({name: self.__dict__[name] for name in names if name in self.__dict__})
        return other

    def once(self, what: str, of: Hashable, make: Callable[[], Made]) -> Made:
        """What ``make`` makes, made once for this snapshot and those that differ in reservations or who is leaving.

        It must hold for all of them, and must not hold any of them: nobody would ever let go of it.
        """
        made: Made | None = self._kept.get((what, of))
        if made is None:
            made = self._kept[what, of] = make()
        return made

    def pod(self, uid: str, node: str | None = None) -> Pod | None:
        """The pod of that uid; found sooner if it is bound to this ``node``, or to none where none is given."""
        if node is None and uid in self._unbound:
            return self._unbound[uid]
        if node is not None and (row := self.columns.row_of(uid, node)) is not None:
            return self.columns.pods[row]
        place = self._places.get(uid)
        return None if place is None else self.pods[place]

    @cached_property
    def _places(self) -> dict[str, int]:
        """Uid -> place, of all pods: in a large cluster that takes longer than many a decision."""
        return {pod.uid: place for place, pod in enumerate(self.pods)}

    @cached_property
    def _unbound(self) -> dict[str, Pod]:
        return {pod.uid: pod for pod in self.pods if pod.node is None}

    @cached_property
    def _kept(self) -> dict[tuple[str, Hashable], Any]:
        return {}

    @cached_property
    def kept_for(self) -> frozenset[str]:
        """Uids of the asks that room is reserved for."""
        return frozenset(held.ask_uid for held in self.reservations)

    @cached_property
    def roster(self) -> Roster:
        """The pods column by column, from which ``columns`` are made."""
        return Roster(tuple(self.pods))

    @cached_property
    def frozen(self) -> Roster:
        """The pods as the cluster showed them: also where some are expected to leave."""
        return self.roster

    @cached_property
    def columns(self) -> Columns:
        """Nodes and bound pods column by column."""
        return Columns(self.nodes, self.roster, self.now_ms)

    @cached_property
    def nominated(self) -> tuple[Pod, ...]:
        """Pods without a node that a scheduler makes room for on one, as it knows them.

        Of one that is not in its queue it knows no more than that there is such a pod: to it that has priority 0 and
        requests nothing. Source: nominatedPodToInfo of kube-scheduler's scheduling queue, since 1.31.
        """
        found = (pod for pod in self._unbound.values() if pod.nominated_node and not pod.gated)
        return tuple(pod if self.queued is None or pod.uid in self.queued else _unknown(pod) for pod in found)

    @cached_property
    def pods_by_node(self) -> ByNode:
        """Node -> the pods bound to it, those on their way out included."""
        return ByNode(self.columns)

    @cached_property
    def keeping_apart(self) -> tuple[Pod, ...]:
        """Pods bound to a node that keep others out of its topology, node by node."""
        columns = self.columns
        rows = np.flatnonzero(columns.anti_kinds.flags(lambda pod: bool(pod.anti_affinity)))
        rows = rows[np.lexsort((columns.told[rows], columns.node[rows]))]
        return tuple([columns.pods[row] for row in rows.tolist()])

    @cached_property
    def asks(self) -> tuple[Pod, ...]:
        """Pending pods that want a node."""
        return tuple(pod for pod in self._unbound.values() if not pod.terminating and not pod.gated)

    @cached_property
    def unread(self) -> tuple[Pod, ...]:
        """Pods bound to a node of which nobody knows what they hold; what is bound to none holds nothing yet."""
        return tuple(pod for pod in self.pods if pod.unread and pod.node is not None)

    def unread_for(self, ask: Pod) -> tuple[Pod, ...]:
        """Return the pods of which has to be known what they request before ``ask`` is decided: those, and itself."""
        return (*self.unread, ask) if ask.unread and ask.node is None else self.unread

    @cached_property
    def capacity(self) -> Amounts:
        """The sum of what all nodes can hold."""
        return total(node.allocatable for node in self.nodes)

    @cached_property
    def _held(self) -> dict[str, Amounts]:
        """Node -> what the pods bound to it request, those on their way out included; of nodes that were asked for."""
        return {}

    def free(self, node: Node, without: Iterable[Pod] = ()) -> Amounts:
        """What is free on a node once ``without``, pods bound to it, are gone; others on their way out hold theirs."""
        if node.name not in self._held:
            self._held[node.name] = total(pod.requests for pod in self.pods_by_node[node.name])
        held = subtract(self._held[node.name], total(pod.requests for pod in without))
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
