"""Preemption for one pending pod at one moment, with results cached for pending pods of the same shape."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from engine.feasibility import FITS, Feasibility
from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Columns, Flags
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.pod_index import PodIndex, pod_index_of
from engine.policies.common.queue_usage import usage_of
from engine.policies.common.safeguards import Restraints, restraints_of

if TYPE_CHECKING:
    from collections.abc import Hashable

_SHAPES_KEPT = 64


class RequestShape:
    """The results that pending pods share if they differ only in identity (name, uid and timestamps)."""

    def __init__(self, snapshot: Snapshot, ask: Pod) -> None:
        self.columns = snapshot.columns
        self.spread = bool(ask.spread)
        self.feasibility = Feasibility(snapshot, ask)
        self.room: Flags = self.feasibility.refusing() == FITS
        """Place of a node -> whether the pending pod fits on that node without any eviction."""
        self.cache: dict[Hashable, Any] = {}
        """Results that policies cached for pending pods of this shape, by keys that each policy chooses."""

    def holds_for(self, columns: Columns) -> bool:
        """Return whether this shape is still valid for the columns of another moment.

        A pod with spread constraints has a new shape at every moment, because terminating pods no longer count.
        """
        return not self.spread or self.columns is columns


class PreemptionAttempt:
    """The state of preemption for one pending pod (``ask``) at one moment.

    Arrays are indexed by the place of a node in the snapshot.
    """

    def __init__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod) -> None:
        self.snapshot, self.tree, self.ask, self.columns = snapshot, tree, ask, snapshot.columns
        self.leaf = ask.queue or tree.root
        self.pod_index = pod_index_of(snapshot, tree)
        self.usage = usage_of(self.pod_index, snapshot)
        self.shape = _shape_of(snapshot, self.pod_index, ask)
        self.feasibility = self.shape.feasibility

    @cached_property
    def restraints(self) -> Restraints:
        """Return the safeguards that limit which pods may be victims."""
        return restraints_of(self.snapshot, self.tree)

    @cached_property
    def scope(self) -> Flags:
        """Return for each node (by place) whether the pending pod is meant for it.

        A DaemonSet pod is meant for one node, any other pod for every node.
        """
        wanted = self.ask.required_node
        if wanted is None:
            return np.ones(len(self.columns.nodes), np.bool_)
        return np.fromiter((node.name == wanted for node in self.columns.nodes), np.bool_, len(self.columns.nodes))

    @cached_property
    def open(self) -> Flags:
        """Return for each node (by place) whether the pending pod may be placed there, given enough room."""
        return self.scope & ~self.usage.reserved & ~self.columns.not_ready

    @cached_property
    def emptying(self) -> Flags:
        """Return for each node (by place) whether it has a terminating pod."""
        emptying = np.zeros(len(self.columns.nodes), np.bool_)
        emptying[self.columns.node[self.columns.leaving]] = True
        return emptying

    @cached_property
    def leaving(self) -> DepartingPods:
        """Return the terminating pods as departed."""
        return DepartingPods(self.columns, np.sort(self.columns.leaving))

    def node_with_room(self, *, leaving_counted: bool) -> str | None:
        """Return the first node where the pending pod fits without eviction, None if there is none.

        With ``leaving_counted``, return the first node where it fits as soon as terminating pods are gone.
        """
        fitting = self.open & (self.emptying if leaving_counted else self.shape.room)
        if leaving_counted and fitting.any():
            fitting &= self.feasibility.refusing(self.leaving) == FITS
        return self.columns.nodes[int(fitting.argmax())].name if fitting.any() else None

    def excess(self) -> dict[tuple[str, str], int]:
        """Return by how much the pending pod would exceed each max above its own queue.

        Keys are pairs of queue and resource. A max that would not be exceeded is left out.
        """
        found = {}
        for path in self.tree.lineage(self.leaf)[1:]:
            for resource in self.tree[path].max:
                if (more := self.over_max(path, resource)) > 0:
                    found[path, resource] = more
        return found

    def over_max(self, path: str, resource: str) -> int:
        """Return by how much the pending pod would take a queue over its max of a resource.

        The result is negative below the max, and 0 if the pod does not request the resource.
        """
        wanted = self.ask.requests.get(resource, 0)
        return self.used(path, resource) + wanted - self.tree[path].max[resource] if wanted > 0 else 0

    def used(self, path: str, resource: str) -> int:
        """Return a queue's usage of a resource as it counts for a preemptor: bound pods plus reservations."""
        return int(self.usage.of(self.usage.for_preemptor, resource)[self.pod_index.number[path]])

    @cached_property
    def entitling(self) -> dict[str, str]:
        """Return E(r) for each requested resource: the nearest queue upwards that has a guarantee in it.

        Resources that no queue from the leaf upwards guarantees are left out.

        Source: rule 4 of YuniKorn's design document "Preemption", read for several resources and levels.
        """
        asked = sorted(resource for resource, amount in self.ask.requests.items() if amount > 0)
        found = {resource: self.tree.entitling(self.leaf, resource) for resource in asked}
        return {resource: path for resource, path in found.items() if path is not None}


def _shape_of(snapshot: Snapshot, pod_index: PodIndex, ask: Pod) -> RequestShape:
    """Return the shape of a pending pod, from the cache if possible.

    The pending pods of a pass have few shapes, so the cache keeps the most recently used ones.
    """
    if ask.nominated_node or ask.own_claims or ask.uid in _pods_with_reserved_nodes(snapshot.columns):
        return RequestShape(snapshot, ask)  # its identity affects where it fits
    shapes = snapshot.once("fence shapes", pod_index.tree, dict[tuple[bytes, int], RequestShape])
    application = pod_index.application_of(ask)
    nameless = msgspec.structs.replace(
        ask, uid="", name="", created_ms=0, unschedulable_ms=None, unschedulable_message="", application=""
    )
    key = (msgspec.msgpack.encode(nameless), application)
    shape = shapes.pop(key, None)
    if shape is None or not shape.holds_for(snapshot.columns):
        shape = RequestShape(snapshot, ask)
    shapes[key] = shape
    if len(shapes) > _SHAPES_KEPT:
        del shapes[next(iter(shapes))]
    return shape


def _pods_with_reserved_nodes(columns: Columns) -> frozenset[str]:
    """Return the uids of the pending pods for which a node is reserved."""
    made: frozenset[str] = columns.once(
        "kept for",
        None,
        lambda: frozenset(
            taint.value for node in columns.of_nodes.kinds() for taint in node.taints if taint.key == RESERVED_TAINT_KEY
        ),
    )
    return made
