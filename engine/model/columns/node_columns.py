"""A snapshot's nodes and bound pods column by column: what is asked of all of them at once is asked of arrays.

Rows of pods are sorted by node, then by importance as kube-scheduler has it: higher priority first, then the earlier
start. A pod that has not started yet counts as started now.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.model.collections.offsets import running
from engine.model.collections.overlay import Amended, Picked
from engine.model.columns import pod_fields
from engine.model.columns.distinct import Kinds
from engine.model.columns.importance import importance, started_by
from engine.model.columns.pod_fields import Key, Number

if TYPE_CHECKING:
    from engine.model.columns.pod_table import Roster
    from engine.model.objects.kubernetes import Node, Pod

Flags = NDArray[np.bool_]
Numbers = NDArray[Any]
"""64-bit integers, or Python's own where sums of what is there might not fit into those."""
Rows = NDArray[np.intp]

SAFE = 2**61
"""Sums up to this, and sums and differences of a few such, are held by 64 bits."""


class Columns:
    """Nodes by their place in the snapshot, and the pods bound to them by row."""

    def __init__(self, nodes: "tuple[Node, ...]", roster: "Roster", now_ms: int) -> None:
        self.nodes = nodes
        self.place = {node.name: place for place, node in enumerate(self.nodes)}
        """A node's name -> its place."""
        self.now_ms = now_ms
        self._roster = roster
        order = importance(roster, self.place, self.now_ms)
        self.told: Rows = order.rows
        """Row -> the pod's place among all of the snapshot, which are in the order of namespaces and names."""
        self.pods: Sequence[Pod] = Picked(roster.pods, self.told)
        self.node: Rows = order.node[self.told]
        """Row -> the place of its node."""
        self.priority: Numbers = self.numbers(pod_fields.priority)
        self.started: Numbers = started_by(roster, self.now_ms)[self.told]
        self.first: Rows = np.searchsorted(self.node, np.arange(len(self.nodes) + 1)).astype(np.intp)
        """Place -> the first row of its pods; the next place's is where they end."""
        self.stray = tuple(roster.at(np.flatnonzero(roster.numbers(pod_fields.bound, np.bool_) & (order.node < 0))))
        """Pods bound to nodes that are not here."""
        self.leaving: Rows = np.flatnonzero(self.numbers(pod_fields.terminating, np.bool_))
        """The rows of pods on their way out, in the order in which it was found out."""
        self._kept: dict[tuple[str, Hashable], Any] = {}
        self._on: dict[int, tuple[Pod, ...]] = {}
        """Place -> its pods, of nodes that were asked for: deciding, auditing and carrying out ask for the same."""

    def expecting(self, going: Mapping[int, "Pod"], elsewhere: Mapping[str, "Pod"]) -> "Columns":
        """The same with the pods of some rows, and some of no row (by uid), on their way out.

        What does not depend on that is worked out once.
        """
        later = copy(self)
        later.pods, later._on = Amended(self.pods, going), {}  # noqa: SLF001 - of its own kind
        later.leaving = np.concatenate([self.leaving, np.array(list(going), np.intp)])
        later.__dict__.pop("terminating", None)
        if elsewhere:
            later.stray = tuple(elsewhere.get(pod.uid, pod) for pod in self.stray)
        return later

    def row_of(self, uid: str, node: str | None) -> int | None:
        """The row of a pod, None where it is on none of these nodes; sooner than all are numbered."""
        place = self.place.get(node or "")
        for at, one in enumerate(() if place is None else self.on(place)):
            if one.uid == uid:
                return int(self.first[place]) + at
        return None

    def since(self, earlier: "Columns") -> Rows | None:
        """The rows of pods on their way out since an earlier moment of the same pass; None of any other moment."""
        known = len(earlier.leaving)
        if earlier.node is not self.node or known > len(self.leaving):
            return None
        if not (self.leaving[:known] == earlier.leaving).all():
            return None
        return self.leaving[known:]

    def sums(self, numbers: Numbers) -> Numbers:
        """Place -> the sum over the rows of its pods."""
        upto: Numbers = running(numbers)
        sums: Numbers = upto[self.first[1:]] - upto[self.first[:-1]]
        return sums

    def rows(self, place: int) -> range:
        """The rows of a node's pods."""
        return range(int(self.first[place]), int(self.first[place + 1]))

    def on(self, place: int) -> "tuple[Pod, ...]":
        """A node's pods, row by row."""
        found = self._on.get(place)
        if found is None:
            rows = self.rows(place)
            found = self._on[place] = tuple(self.pods[rows.start : rows.stop])
        return found

    def once(self, what: str, of: Hashable, make: Callable[[], Any]) -> Any:
        """What ``make`` makes, made once: it must be the same whoever asks, and whichever pods are on their way out."""
        made = self._kept.get((what, of))
        if made is None:
            made = self._kept[what, of] = make()
        return made

    def numbers(self, of: Number, dtype: type = np.int64) -> Numbers:
        """Row -> a number of the pod, or whether something holds."""
        return self._roster.numbers(of, dtype)[self.told]

    def kinds(self, key: Key) -> Kinds:
        """Pods with the same key."""
        return Kinds.picked(self.pods, self._roster.coded(key), self.told)

    def requests(self, resource: str) -> Numbers:
        """Row -> what the pod requests of a resource."""
        made: Numbers = self.once("requests", resource, lambda: self._amounts(self.request_kinds, resource))
        return made

    def requested_upto(self, resource: str) -> Numbers:
        """The running sum of ``requests``."""
        made: Numbers = self.once("upto", resource, lambda: running(self.requests(resource)))
        return made

    def held(self, resource: str) -> Numbers:
        """Place -> what the pods there request of a resource."""
        made: Numbers = self.once("held", resource, lambda: self.sums(self.requests(resource)))
        return made

    def allocatable(self, resource: str) -> Numbers:
        """Place -> what the node can hold of a resource."""
        made: Numbers = self.once("allocatable", resource, lambda: self._amounts(self._allocatable_kinds, resource))
        return made

    def label(self, key: str) -> tuple[Rows, list[str]]:
        """Place -> number of the node's value of a label, -1 where it has none; and the values by their numbers."""
        made: tuple[Rows, list[str]] = self.once(
            "label", key, lambda: _numbered([node.labels.get(key) for node in self.nodes])
        )
        return made

    def among(self, uids: Collection[str]) -> Flags:
        """Row -> whether the pod is one of these (uids)."""
        return self.only([self.row[uid] for uid in uids if uid in self.row])

    def only(self, rows: Rows | list[int]) -> Flags:
        """Row -> whether it is one of these."""
        only = np.zeros(len(self.pods), np.bool_)
        only[rows] = True
        return only

    @cached_property
    def terminating(self) -> Flags:
        """Row -> whether the pod is on its way out."""
        return self.only(self.leaving)

    @cached_property
    def row(self) -> dict[str, int]:
        """A bound pod's uid -> its row."""
        return {pod.uid: row for row, pod in enumerate(self.pods)}

    @cached_property
    def labels(self) -> frozenset[str]:
        """The keys of labels that some node has."""
        return frozenset(key for node in self.nodes for key in node.labels)

    @cached_property
    def resources(self) -> frozenset[str]:
        """What some node can hold."""
        return frozenset(name for node in self.nodes for name, amount in node.allocatable.items() if amount > 0)

    @cached_property
    def pod_kinds(self) -> Kinds:
        """Pods that no selector tells apart: of the same namespace and labels."""
        return self.kinds(pod_fields.selected)

    @cached_property
    def anti_kinds(self) -> Kinds:
        """Pods with the same required anti-affinity."""
        return self.kinds(pod_fields.anti_affinity)

    @cached_property
    def port_kinds(self) -> Kinds:
        """Pods with the same host ports."""
        return self.kinds(pod_fields.host_ports)

    @cached_property
    def claim_kinds(self) -> Kinds:
        """Pods of the same namespace with the same claims."""
        return self.kinds(pod_fields.claims)

    @cached_property
    def taint_kinds(self) -> Kinds:
        """Nodes with the same taints."""
        return Kinds(self.nodes, lambda node: node.taints)

    @cached_property
    def shielded(self) -> Flags:
        """Row -> whether the pod is never a victim."""
        return self.numbers(pod_fields.shielded, np.bool_)

    @cached_property
    def unread(self) -> Flags:
        """Row -> whether nobody knows what the pod holds."""
        return self.numbers(pod_fields.unread, np.bool_)

    @cached_property
    def unschedulable(self) -> Flags:
        """Place -> whether the node is cordoned."""
        return _flags(node.unschedulable for node in self.nodes)

    @cached_property
    def unread_nodes(self) -> Flags:
        """Place -> whether the node can't be read."""
        return _flags(node.unread for node in self.nodes)

    @cached_property
    def not_ready(self) -> Flags:
        """Place -> whether the node is not ready."""
        return _flags(not node.ready for node in self.nodes)

    @cached_property
    def queue_kinds(self) -> Kinds:
        """Pods of the same queue."""
        return self.kinds(pod_fields.queue)

    @cached_property
    def request_kinds(self) -> Kinds:
        """Pods with the same requests; such that share them in memory, as all do of a cluster that is read."""
        return self.kinds(pod_fields.requests)

    @cached_property
    def _allocatable_kinds(self) -> Kinds:
        return Kinds(self.nodes, lambda node: id(node.allocatable))

    def _amounts(self, kinds: Kinds, resource: str) -> Numbers:
        attribute = "requests" if kinds is self.request_kinds else "allocatable"
        amounts = [getattr(one, attribute).get(resource, 0) for one in kinds.each]
        times = np.bincount(kinds.of, minlength=len(amounts)).tolist()
        every = sum(abs(amount) * count for amount, count in zip(amounts, times, strict=True))
        return np.array(amounts, np.int64 if every <= SAFE else object)[kinds.of]


def _flags(flags: Iterable[bool]) -> Flags:
    return np.fromiter(flags, np.bool_)


def _numbered(values: Sequence[str | None]) -> tuple[Rows, list[str]]:
    numbers: dict[str, int] = {}
    codes = [-1 if value is None else numbers.setdefault(value, len(numbers)) for value in values]
    return np.array(codes, np.intp), list(numbers)
