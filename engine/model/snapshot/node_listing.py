"""Lists the pods and nodes of a snapshot, and finds what changed since an earlier snapshot.

Finding the changes costs as much as what changed, not as much as the cluster.
"""

from collections.abc import Hashable, Iterable, Mapping
from enum import StrEnum
from itertools import count
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import msgspec
import numpy as np

from engine.model.columns import pod_fields
from engine.model.columns.group_codes import Rows
from engine.model.objects.kubernetes import Node, Pod
from engine.model.quantities import Amounts, total

if TYPE_CHECKING:
    from engine.model.snapshot.snapshot import Snapshot

PARTS = 64
"""The number of parts in which pods without a node are kept, by application: a new pod rewrites only one part."""

_stamps = count(1)


class PodPhase(StrEnum):
    """The scheduling phase of a pod in a list."""

    PENDING = "pending"
    GATED = "scheduling-gated"
    STARTING = "starting"
    RUNNING = "running"

    @classmethod
    def _missing_(cls, value: object) -> "PodPhase | None":
        """Read what releases before 0.2 stored."""
        return {"waiting": cls.PENDING, "gated": cls.GATED}.get(str(value))


class ListedPod(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A pod as lists show it. Stored values are read by the order of the fields."""

    uid: str
    namespace: str
    name: str
    queue: str | None
    application: str
    phase: PodPhase
    since_ms: int
    """When the pod was started; if it was not, since when it waits."""
    priority: int
    priority_class: str
    requests: Amounts
    node: str | None
    leaving: bool
    """Whether the pod has a deletionTimestamp."""
    leaving_ms: int | None
    disruption: str
    """Why the pod is evicted, as its condition says; empty if it is not."""
    unread: bool

    @classmethod
    def of(cls, pod: Pod) -> "ListedPod":
        """Return the list entry of a pod of a snapshot."""
        phase, since_ms = _phase(pod)
        return cls(
            uid=pod.uid,
            namespace=pod.namespace,
            name=pod.name,
            queue=pod.queue,
            application=pod.application,
            phase=phase,
            since_ms=since_ms,
            priority=pod.priority,
            priority_class=pod.priority_class,
            requests=pod.requests,
            node=pod.node,
            leaving=pod.terminating,
            leaving_ms=pod.deleted_ms,
            disruption=pod.disruption,
            unread=pod.unread,
        )


def _phase(pod: Pod) -> tuple[PodPhase, int]:
    if pod.node is not None:
        if pod.started_ms is not None:
            return PodPhase.RUNNING, pod.started_ms
        return PodPhase.STARTING, pod.created_ms
    return PodPhase.GATED if pod.gated else PodPhase.PENDING, pod.unschedulable_ms or pod.created_ms


class ListedNode(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A node as lists show it. Stored values are read by the order of the fields."""

    name: str
    there: bool
    """False if only pods say that they are on the node."""
    ready: bool
    unschedulable: bool
    unread: bool
    taints: tuple[str, ...]
    """The taints as kubectl writes them: key=value:Effect."""
    allocatable: Amounts
    used: Amounts
    """What its pods request, terminating pods included."""
    pods: int
    leaving: int
    unknown: int
    """The number of pods whose requests are unknown; these are not in ``used``."""

    @classmethod
    def of(cls, name: str, node: Node | None, pods: Iterable[Pod]) -> "ListedNode":
        """Return the list entry of a node with its pods."""
        every = list(pods)
        one = node or Node(name=name, ready=False)
        return cls(
            name=name,
            there=node is not None,
            ready=one.ready,
            unschedulable=one.unschedulable,
            unread=one.unread,
            taints=tuple(f"{taint.key}{taint.value and '='}{taint.value}:{taint.effect}" for taint in one.taints),
            allocatable=one.allocatable,
            used=total(pod.requests for pod in every),
            pods=len(every),
            leaving=sum(pod.terminating for pod in every),
            unknown=sum(pod.unread for pod in every),
        )


def part_of(namespace: str, application: str) -> str:
    """Return the part in which an application's pods without a node are kept. No node has such a name."""
    return f"/{crc32(f'{namespace}/{application}'.encode()) % PARTS}"


def _place(pod: Pod) -> str:
    return part_of(pod.namespace, pod.application) if pod.node is None else pod.node


def _stamp(pod: Pod) -> int:
    """Return a number larger than all before, as a stamp of what is new in a roster; pods that are kept keep theirs."""
    del pod
    return next(_stamps)


class Marks(NamedTuple):
    """What distinguishes each place of a snapshot from the same place in a later snapshot.

    A place is a node, or one of the parts in which pods without a node are kept.
    """

    numbers: dict[Hashable, int]
    """Place -> its number in the columns. Some places may have no pods any more."""
    many: Rows
    """Number -> how many pods are there."""
    newest: Rows
    """Number -> the stamp of the newest pod there. If no pod came or left, it and the number of pods are unchanged."""
    nodes: dict[str, Node]
    refused: frozenset[str]
    """Queues that pods want and that can't exist. If they change, their pods may have moved without having changed."""

    @classmethod
    def of(cls, snapshot: "Snapshot") -> "Marks":
        """Return the marks of a snapshot that was frozen from a state, or of a snapshot that was derived from one."""
        plain, tree = snapshot.frozen.plain, snapshot.tree
        places, stamps = plain.coded(_place), plain.numbers(_stamp)
        newest = np.zeros(len(places.each), np.int64)
        np.maximum.at(newest, places.of, stamps)
        many = np.bincount(places.of, minlength=len(places.each))
        wanted = {pod.queue for pod in plain.coded(pod_fields.queue).there if pod.queue is not None}
        refused = frozenset(path for path in wanted if path not in tree or not tree.is_leaf(path))
        return cls(places.numbers, many, newest, {node.name: node for node in snapshot.nodes}, refused)

    def changed(self, before: "Marks", snapshot: "Snapshot") -> set[str]:
        """Return the places that may differ from ``before``, removed places included.

        ``snapshot`` is the snapshot of these marks.
        """
        found = {name for name, node in self.nodes.items() if before.nodes.get(name) is not node}
        found |= before.nodes.keys() - self.nodes.keys()
        if self.numbers is before.numbers:
            other = np.flatnonzero((self.many != before.many) | (self.newest != before.newest)).tolist()
            names = list(self.numbers) if other else []
            found |= {str(names[number]) for number in other}
        else:
            now, then = self.counted(), before.counted()
            found |= {place for place in now.keys() | then.keys() if now.get(place) != then.get(place)}
        if others := self.refused ^ before.refused:
            found |= {_place(pod) for pod in snapshot.frozen.plain.pods if pod.queue in others}
        return found

    def counted(self) -> dict[str, tuple[int, int]]:
        """Return the number of pods, and the newest pod's stamp, of each place that has pods."""
        places = zip(self.numbers, self.many.tolist(), self.newest.tolist(), strict=True)
        return {str(place): (many, newest) for place, many, newest in places if many}

    @property
    def places(self) -> set[str]:
        """Return all places that have a node or pods."""
        return self.nodes.keys() | self.counted().keys()

    def has(self, place: str) -> bool:
        """Return whether a place has a node or pods."""
        number = self.numbers.get(place)
        return place in self.nodes or (number is not None and bool(self.many[number]))


def pods_at(snapshot: "Snapshot", places: Iterable[str]) -> Mapping[str, list[Pod]]:
    """Return the pods of each place, sorted by namespace and name."""
    roster, wanted = snapshot.frozen, set(places)
    on_nodes = ((place, roster.pods.blocks[roster.place[place]]) for place in wanted & roster.place.keys())
    found = {place: sorted(pods, key=pod_fields.sort_key) for place, pods in on_nodes if pods}
    for pod in roster.elsewhere:
        if (place := _place(pod)) in wanted:
            found.setdefault(place, []).append(pod)
    return found
