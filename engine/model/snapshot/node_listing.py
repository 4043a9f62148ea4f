"""What stands on each node, told apart from the snapshot before at the cost of what changed since."""

from collections.abc import Hashable, Iterable, Mapping
from enum import StrEnum
from itertools import count
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import msgspec
import numpy as np

from engine.model.columns import pod_fields
from engine.model.columns.pod_table import Rows
from engine.model.objects.kubernetes import Node, Pod
from engine.model.quantities import Amounts, total

if TYPE_CHECKING:
    from engine.model.snapshot.snapshot import Snapshot

PARTS = 64
"""Pods without a node are kept in so many parts, by their application: none is rewritten for every ask that comes."""

_stamps = count(1)


class PodPhase(StrEnum):
    """How far a pod has come."""

    WAITING = "waiting"
    GATED = "gated"
    STARTING = "starting"
    RUNNING = "running"


class ListedPod(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A pod as lists of them tell it. What is kept is read by the order of the members."""

    uid: str
    namespace: str
    name: str
    queue: str | None
    application: str
    phase: PodPhase
    since_ms: int
    """When it was started; else since when it waits."""
    priority: int
    priority_class: str
    requests: Amounts
    node: str | None
    leaving: bool
    """It has a deletionTimestamp."""
    leaving_ms: int | None
    disruption: str
    """Why it goes, as its condition says; empty where it does not."""
    unread: bool

    @classmethod
    def of(cls, pod: Pod) -> "ListedPod":
        """Those of a pod of a snapshot."""
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
    return PodPhase.GATED if pod.gated else PodPhase.WAITING, pod.unschedulable_ms or pod.created_ms


class ListedNode(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A node as lists of them tell it. What is kept is read by the order of the members."""

    name: str
    there: bool
    """False: only pods say that they are on it."""
    ready: bool
    unschedulable: bool
    unread: bool
    taints: tuple[str, ...]
    """As kubectl writes them: key=value:Effect."""
    allocatable: Amounts
    used: Amounts
    """What its pods request, those on their way out included."""
    pods: int
    leaving: int
    unknown: int
    """Pods of which nobody knows what they hold; it is not in ``used``."""

    @classmethod
    def of(cls, name: str, node: Node | None, pods: Iterable[Pod]) -> "ListedNode":
        """Those of a node with its pods."""
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
    """Where the pods of an application are kept that have no node. No node has such a name."""
    return f"/{crc32(f'{namespace}/{application}'.encode()) % PARTS}"


def _place(pod: Pod) -> str:
    return part_of(pod.namespace, pod.application) if pod.node is None else pod.node


def _stamp(pod: Pod) -> int:
    """A number of its own for whatever is new in a roster, larger than all before: what is carried on keeps its."""
    del pod
    return next(_stamps)


class Marks(NamedTuple):
    """What tells a place from the same one in a later snapshot."""

    numbers: dict[Hashable, int]
    """Place -> its number in the columns. Of some there may be no pods any more."""
    many: Rows
    """Number -> how many pods there are."""
    newest: Rows
    """Number -> the newest one's stamp. Where nothing came and nothing went both are the same."""
    nodes: dict[str, Node]
    refused: frozenset[str]
    """Queues that pods want and that can't be: theirs may have come back since without any change of the pods."""

    @classmethod
    def of(cls, snapshot: "Snapshot") -> "Marks":
        """Those of a snapshot that was frozen from a state, or of one that was made of it."""
        plain, tree = snapshot.frozen.plain, snapshot.tree
        places, stamps = plain.coded(_place), plain.numbers(_stamp)
        newest = np.zeros(len(places.each), np.int64)
        np.maximum.at(newest, places.of, stamps)
        many = np.bincount(places.of, minlength=len(places.each))
        wanted = {pod.queue for pod in plain.coded(pod_fields.queue).there if pod.queue is not None}
        refused = frozenset(path for path in wanted if path not in tree or not tree.is_leaf(path))
        return cls(places.numbers, many, newest, {node.name: node for node in snapshot.nodes}, refused)

    def changed(self, before: "Marks", snapshot: "Snapshot") -> set[str]:
        """The places that may be others than before, those that are gone included. ``snapshot`` is that of these."""
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
        """Place -> how many pods there are, and the newest one's stamp; where there are any."""
        told = zip(self.numbers, self.many.tolist(), self.newest.tolist(), strict=True)
        return {str(place): (many, newest) for place, many, newest in told if many}

    @property
    def places(self) -> set[str]:
        """All of which there is something to tell."""
        return self.nodes.keys() | self.counted().keys()

    def has(self, place: str) -> bool:
        """Whether there is something to tell of it."""
        number = self.numbers.get(place)
        return place in self.nodes or (number is not None and bool(self.many[number]))


def pods_at(snapshot: "Snapshot", places: Iterable[str]) -> Mapping[str, list[Pod]]:
    """Place -> its pods, in the order of namespaces and names."""
    roster = snapshot.frozen
    coded = roster.plain.coded(_place)
    numbers = [coded.numbers[place] for place in places if place in coded.numbers]
    wanted = np.zeros(len(coded.each), np.bool_)
    wanted[numbers] = True
    found: dict[str, list[Pod]] = {}
    for pod in roster.at(np.flatnonzero(wanted[coded.of])):
        found.setdefault(_place(pod), []).append(pod)
    return found
