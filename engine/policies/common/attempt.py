"""One ask at one moment, and what was worked out for it or for asks of its shape."""

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
    """What asks have in common that differ in nothing but who they are."""

    def __init__(self, snapshot: Snapshot, ask: Pod) -> None:
        self.columns = snapshot.columns
        self.spread = bool(ask.spread)
        self.feasibility = Feasibility(snapshot, ask)
        self.room: Flags = self.feasibility.refusing() == FITS
        """Place -> whether the ask fits there as it is."""
        self.kept: dict[Hashable, Any] = {}
        """What policies worked out for asks of this shape, by keys of their own."""

    def holds_for(self, columns: Columns) -> bool:
        """Whether it is the same at another moment: of a spread, pods on their way out no longer count."""
        return not self.spread or self.columns is columns


class PreemptionAttempt:
    """One ask at one moment."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod) -> None:
        self.snapshot, self.tree, self.ask, self.columns = snapshot, tree, ask, snapshot.columns
        self.leaf = ask.queue or tree.root
        self.ground = pod_index_of(snapshot, tree)
        self.usage = usage_of(self.ground, snapshot)
        self.shape = _shape_of(snapshot, self.ground, ask)
        self.feasibility = self.shape.feasibility

    @cached_property
    def restraints(self) -> Restraints:
        """The safeguards that victims have to be within."""
        return restraints_of(self.snapshot, self.tree)

    @cached_property
    def scope(self) -> Flags:
        """Place -> whether the ask may run there at all: one node for a DaemonSet's, else every one."""
        wanted = self.ask.required_node
        if wanted is None:
            return np.ones(len(self.columns.nodes), np.bool_)
        return np.fromiter((node.name == wanted for node in self.columns.nodes), np.bool_, len(self.columns.nodes))

    @cached_property
    def open(self) -> Flags:
        """Place -> whether the ask may be sent there, were there room."""
        return self.scope & ~self.usage.kept & ~self.columns.not_ready

    @cached_property
    def emptying(self) -> Flags:
        """Place -> whether a pod there is on its way out."""
        emptying = np.zeros(len(self.columns.nodes), np.bool_)
        emptying[self.columns.node[self.columns.leaving]] = True
        return emptying

    @cached_property
    def leaving(self) -> DepartingPods:
        """Pods on their way out."""
        return DepartingPods(self.columns, np.sort(self.columns.leaving))

    def node_with_room(self, *, leaving_counted: bool) -> str | None:
        """A node where the ask fits without eviction; with ``leaving_counted`` once pods on their way out are gone."""
        fitting = self.open & (self.emptying if leaving_counted else self.shape.room)
        if leaving_counted and fitting.any():
            fitting &= self.feasibility.refusing(self.leaving) == FITS
        return self.columns.nodes[int(fitting.argmax())].name if fitting.any() else None

    def excess(self) -> dict[tuple[str, str], int]:
        """Queue above the ask's own, and resource -> by how much the ask would exceed the max there; where it would."""
        found = {}
        for path in self.tree.lineage(self.leaf)[1:]:
            for resource in self.tree[path].max:
                if (more := self.over_max(path, resource)) > 0:
                    found[path, resource] = more
        return found

    def over_max(self, path: str, resource: str) -> int:
        """By how much a queue would be over its max of a resource with the ask; nothing where the ask wants none."""
        wanted = self.ask.requests.get(resource, 0)
        return self.used(path, resource) + wanted - self.tree[path].max[resource] if wanted > 0 else 0

    def used(self, path: str, resource: str) -> int:
        """What a queue uses as an asker is measured."""
        return int(self.usage.of(self.usage.asking, resource)[self.ground.number[path]])

    @cached_property
    def entitling(self) -> dict[str, str]:
        """E(r) of every resource that the ask requests and that is guaranteed somewhere above it."""
        asked = sorted(resource for resource, amount in self.ask.requests.items() if amount > 0)
        found = {resource: self.tree.entitling(self.leaf, resource) for resource in asked}
        return {resource: path for resource, path in found.items() if path is not None}


def _shape_of(snapshot: Snapshot, ground: PodIndex, ask: Pod) -> RequestShape:
    """The asks of a pass are of few shapes: those used last are kept."""
    if ask.nominated_node or ask.own_claims or ask.uid in _kept_for(snapshot.columns):
        return RequestShape(snapshot, ask)  # it counts who it is
    shapes = snapshot.once("fence shapes", ground.tree, dict[tuple[bytes, int], RequestShape])
    application = ground.applications.get((ask.namespace, ask.application), -1)
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


def _kept_for(columns: Columns) -> frozenset[str]:
    """Uids of the asks that some node is kept for."""
    made: frozenset[str] = columns.once(
        "kept for",
        None,
        lambda: frozenset(
            taint.value for node in columns.taint_kinds.each for taint in node.taints if taint.key == RESERVED_TAINT_KEY
        ),
    )
    return made
