"""A snapshot's nodes and bound pods as columns, so that queries over all of them are array operations.

Rows of pods are those of the roster, without the pods that are on none of the nodes.
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.model.collections.offsets import running_sums
from engine.model.collections.overlay import PatchedSequence
from engine.model.columns import pod_fields
from engine.model.columns.distinct import ItemGroups
from engine.model.columns.expendability import ExpendabilityOrder
from engine.model.columns.node_fields import SAFE, NodeFields
from engine.model.columns.pod_fields import Key, Number

if TYPE_CHECKING:
    from engine.model.columns.roster import Roster
    from engine.model.objects.kubernetes import Node, Pod

Flags = NDArray[np.bool_]
Numbers = NDArray[Any]
"""64-bit integers, or Python integers where sums might not fit into 64 bits."""
Rows = NDArray[np.intp]


class Columns:
    """The nodes by their index in the snapshot, and the pods bound to them by row."""

    def __init__(self, of_nodes: NodeFields, roster: "Roster") -> None:
        """Build the columns that every policy needs. ``roster``: the pods, sorted for these nodes."""
        self.of_nodes, self._roster, self.now_ms = of_nodes, roster, roster.now_ms
        self.nodes: tuple[Node, ...] = of_nodes.nodes
        self.place: Mapping[str, int] = roster.place
        """Node name -> node index."""
        on_nodes = roster.pods.head(len(self.nodes))
        self.first: Rows = on_nodes.first
        """Node index -> the first row of its pods; the first row of the next node is the end."""
        self.pods: Sequence[Pod] = on_nodes
        self.node: Rows = np.repeat(np.arange(len(self.nodes)), np.diff(self.first))
        """Row -> the index of the pod's node."""
        self.priority: Numbers = self.numbers(pod_fields.priority)
        started = self.numbers(pod_fields.started)
        self.started: Numbers = np.where(started == pod_fields.NEVER, self.now_ms, started)
        """Row -> when the pod started; a pod that has not started counts as started now."""
        self.stray = tuple([pod for pod in roster.elsewhere if pod.node is not None])
        """Pods bound to nodes that are not in the snapshot."""
        self.leaving: Rows = np.flatnonzero(self.numbers(pod_fields.terminating, np.bool_))
        """The rows of terminating pods, in the order in which they were marked."""
        self._kept: dict[tuple[str, Hashable], Any] = {}
        self._on: dict[int, tuple[Pod, ...]] = {}
        """Node index -> its pods, cached because deciding, auditing and carrying out query the same nodes."""

    def expecting(self, going: Mapping[int, "Pod"], elsewhere: Mapping[str, "Pod"]) -> "Columns":
        """Return a copy in which the pods of some rows, and some pods without a row (by uid), are terminating.

        Values that do not depend on termination are shared with the copy.
        """
        later = Columns.__new__(Columns)
        later.__dict__.update(self.__dict__)
        later.pods, later._on = PatchedSequence(self.pods, going), {}  # noqa: SLF001 - an instance of this class
        later.leaving = np.concatenate([self.leaving, np.array(list(going), np.intp)])
        later.__dict__.pop("terminating", None)
        if elsewhere:
            later.stray = tuple(elsewhere.get(pod.uid, pod) for pod in self.stray)
        return later

    def row_of(self, uid: str, node: str | None) -> int | None:
        """Return the row of a pod, or None if it is on none of these nodes.

        This is faster than ``row``, which numbers all pods.
        """
        place = self.place.get(node or "")
        for at, one in enumerate(() if place is None else self.on(place)):
            if one.uid == uid:
                return int(self.first[place]) + at
        return None

    def pod_on(self, node: str, uid: str) -> "Pod | None":
        """Return the pod with that uid if it is bound to this node, or None."""
        place = self.place.get(node)
        return None if place is None else next((one for one in self.on(place) if one.uid == uid), None)

    def since(self, earlier: "Columns") -> Rows | None:
        """Return the rows that became terminating since an earlier state of the same pass; None for any other state."""
        known = len(earlier.leaving)
        if earlier.node is not self.node or known > len(self.leaving):
            return None
        if not (self.leaving[:known] == earlier.leaving).all():
            return None
        return self.leaving[known:]

    def sums(self, numbers: Numbers) -> Numbers:
        """Return the sum of ``numbers`` over the pods of each node, by node index."""
        upto: Numbers = running_sums(numbers)
        sums: Numbers = upto[self.first[1:]] - upto[self.first[:-1]]
        return sums

    def rows(self, place: int) -> range:
        """Return the rows of a node's pods."""
        return range(int(self.first[place]), int(self.first[place + 1]))

    def on(self, place: int) -> "tuple[Pod, ...]":
        """Return a node's pods in row order."""
        found = self._on.get(place)
        if found is None:
            rows = self.rows(place)
            found = self._on[place] = tuple(self.pods[rows.start : rows.stop])
        return found

    def once(self, what: str, of: Hashable, make: Callable[[], Any]) -> Any:
        """Return what ``make`` returns, calling it once for each ``what`` and ``of``.

        The result must depend neither on the caller nor on which pods are terminating.
        """
        made = self._kept.get((what, of))
        if made is None:
            made = self._kept[what, of] = make()
        return made

    def numbers(self, of: Number, dtype: type = np.int64) -> Numbers:
        """Return a number or a flag of each pod, by row."""
        return self._roster.numbers(of, dtype)[: len(self.pods)]

    def kinds(self, key: Key) -> ItemGroups:
        """Return the bound pods grouped by a key."""
        return ItemGroups.picked(len(self.pods), self._roster.coded(key))

    @property
    def expendable_first(self) -> ExpendabilityOrder:
        """Return the bound pods node by node, on each node the most expendable one first."""
        order, many = self._roster.expendable_first, len(self.pods)
        return ExpendabilityOrder(order.rows[:many], order.begins[:many])

    def requests(self, resource: str) -> Numbers:
        """Return what each pod requests of a resource, by row."""
        made: Numbers = self.once("requests", resource, lambda: self._requests(resource))
        return made

    def requested_upto(self, resource: str) -> Numbers:
        """Return the running sum of ``requests`` of a resource."""
        made: Numbers = self.once("upto", resource, lambda: running_sums(self.requests(resource)))
        return made

    def held(self, resource: str) -> Numbers:
        """Return what the pods of each node request of a resource, by node index."""
        made: Numbers = self.once("held", resource, lambda: self.sums(self.requests(resource)))
        return made

    def allocatable(self, resource: str) -> Numbers:
        """Return what each node can hold of a resource, by node index."""
        of_nodes = self.of_nodes
        made: Numbers = self.once(
            "allocatable", resource, lambda: of_nodes.numbers(lambda node: node.allocatable.get(resource, 0))
        )
        return made

    def label(self, key: str) -> tuple[Rows, list[str]]:
        """Return the number of each node's value of a label, by node index, and the values by their numbers.

        The number is -1 where a node lacks the label.
        """
        return self.of_nodes.label(key)

    def among(self, uids: Collection[str]) -> Flags:
        """Return a flag per row that is set for the pods with these uids."""
        return self.only([self.row[uid] for uid in uids if uid in self.row])

    def only(self, rows: Rows | list[int]) -> Flags:
        """Return a flag per row that is set for these rows alone."""
        only = np.zeros(len(self.pods), np.bool_)
        only[rows] = True
        return only

    @cached_property
    def terminating(self) -> Flags:
        """Return a flag per row that is set for terminating pods."""
        return self.only(self.leaving)

    @cached_property
    def row(self) -> dict[str, int]:
        """Return the row of each bound pod by uid."""
        return {pod.uid: row for row, pod in enumerate(self.pods)}

    @cached_property
    def pod_kinds(self) -> ItemGroups:
        """Return the bound pods grouped by namespace and labels, which is all that selectors look at."""
        return self.kinds(pod_fields.selector_key)

    @cached_property
    def anti_kinds(self) -> ItemGroups:
        """Return the bound pods grouped by their required anti-affinity."""
        return self.kinds(pod_fields.anti_affinity)

    @cached_property
    def port_kinds(self) -> ItemGroups:
        """Return the bound pods grouped by their host ports."""
        return self.kinds(pod_fields.host_ports)

    @cached_property
    def claim_kinds(self) -> ItemGroups:
        """Return the bound pods grouped by namespace and claims; all pods without claims are one group."""
        return self.kinds(pod_fields.claims)

    @cached_property
    def shielded(self) -> Flags:
        """Return a flag per row that is set for pods that are never victims."""
        return self.numbers(pod_fields.shielded, np.bool_)

    @cached_property
    def unread(self) -> Flags:
        """Return a flag per row that is set for pods whose requests are unknown."""
        return self.numbers(pod_fields.unread, np.bool_)

    @cached_property
    def unschedulable(self) -> Flags:
        """Return a flag per node that is set for cordoned nodes."""
        return self.of_nodes.flags(lambda node: node.unschedulable)

    @cached_property
    def unread_nodes(self) -> Flags:
        """Return a flag per node that is set for nodes that can't be read."""
        return self.of_nodes.flags(lambda node: node.unread)

    @cached_property
    def not_ready(self) -> Flags:
        """Return a flag per node that is set for nodes that are not ready."""
        return self.of_nodes.flags(lambda node: not node.ready)

    @cached_property
    def queue_kinds(self) -> ItemGroups:
        """Return the bound pods grouped by queue."""
        return self.kinds(pod_fields.queue)

    @cached_property
    def request_kinds(self) -> ItemGroups:
        """Return the bound pods grouped by the identity of their requests.

        In a cluster that was read, pods with equal requests share them in memory.
        """
        return self.kinds(pod_fields.requests)

    def _requests(self, resource: str) -> Numbers:
        kinds = self.request_kinds
        amounts = [pod.requests.get(resource, 0) for pod in kinds.each]
        times = np.maximum(kinds.times, 1).tolist()  # an empty group may have an amount too large as well
        every = sum(abs(amount) * count for amount, count in zip(amounts, times, strict=True))
        return np.array(amounts, np.int64 if every <= SAFE else object)[kinds.of]
