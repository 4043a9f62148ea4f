"""Finds nodes for the members of a group, one member after the other.

Source: schedule_one_podgroup.go of kube-scheduler 1.37 (pkg/scheduler). No choice is taken back: the order in which the
members are placed may fail where another would not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from engine.feasibility import Feasibility
from engine.feasibility.moving_checks import MovingChecks
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Flags
from engine.model.objects import Pod
from engine.model.snapshot import Snapshot
from engine.policies.common.groups.node_scores import HeldAmounts, NodeScores


@dataclass(frozen=True)
class Placement:
    """Where the members of a group get a node."""

    places: dict[str, int]
    """Uid of a member -> the index of its node, in the order in which they were placed."""
    scheduled: int
    """How many members have a node, the bound ones included."""
    remaining: int
    """How many had not been tried when it was clear that they are too few."""
    enough: bool


class MemberShapes:
    """The checks of a group's members. Members that differ only in identity share theirs."""

    def __init__(self, snapshot: Snapshot, members: Sequence[Pod]) -> None:
        self.snapshot, self.members = snapshot, members
        self._of: dict[str, bytes] = {}
        self._feasibility: dict[bytes, Feasibility] = {}
        for pod in members:
            shape = msgspec.msgpack.encode(_nameless(pod))
            self._of[pod.uid] = shape
            if shape not in self._feasibility:
                self._feasibility[shape] = Feasibility(snapshot, pod, expected=members)

    def checks_of(self, pod: Pod, gone: DepartingPods, closed: Flags | None = None) -> MovingChecks:
        """Return checks of one member of its own, in the cluster in which some pods are gone; see ``without``."""
        return MovingChecks(self._feasibility[self._of[pod.uid]], gone, closed)

    def shape_of(self, pod: Pod) -> bytes:
        """Return what members have in common that share their checks."""
        return self._of[pod.uid]

    def without(self, gone: DepartingPods, closed: Flags | None = None) -> "GroupState":
        """Return the state of the cluster in which some pods are gone, and some nodes (by index) are ``closed``."""
        checks = {shape: MovingChecks(feasibility, gone, closed) for shape, feasibility in self._feasibility.items()}
        return GroupState(self, checks, self._of, HeldAmounts(self.snapshot.columns, gone))


def _nameless(pod: Pod) -> Pod:
    identity = {"uid": "", "name": "", "created_ms": 0, "nominated_node": ""}
    return msgspec.structs.replace(pod, unschedulable_ms=None, unschedulable_message="", originator=False, **identity)


@dataclass
class GroupState:
    """The cluster while members are placed in it: where each of them can run, and which node is best."""

    shapes: MemberShapes
    checks: dict[bytes, MovingChecks]
    """Shape of members -> their checks."""
    _of: dict[str, bytes]
    _held: HeldAmounts
    _scores: dict[bytes, NodeScores] = field(default_factory=dict)

    def place(self, bound: int, needed: int) -> Placement:
        """Place the members in their order. ``bound``: how many more have a node; ``needed``: of all of them."""
        places: dict[str, int] = {}
        for number, pod in enumerate(self.shapes.members):
            place = self.best(pod)
            if place is not None:
                places[pod.uid] = place
                self.bind(pod, place)
            remaining = len(self.shapes.members) - number - 1
            if bound + len(places) + remaining < needed:
                return Placement(places, bound + len(places), remaining, enough=False)
        scheduled = bound + len(places)
        return Placement(places, scheduled, 0, enough=bool(places) and scheduled >= needed)

    def best(self, pod: Pod) -> int | None:
        """Return the index of the node that a member gets: the one it is nominated to, else the best; None: none."""
        shape = self._of[pod.uid]
        checks = self.checks[shape]
        nominated = self.shapes.snapshot.columns.place.get(pod.nominated_node)
        if nominated is not None and checks.allowed_on(nominated):
            return nominated
        allowed = checks.allowed()
        if not allowed.any():
            return None
        if shape not in self._scores:
            self._scores[shape] = NodeScores(self._held, pod)
        return self._scores[shape].best(allowed)

    def bind(self, pod: Pod, place: int) -> None:
        """Let a member come to a node."""
        for checks in self.checks.values():
            checks.bind(pod, place)
        self._held.bind(pod, place)
        for scores in self._scores.values():
            scores.moved(place)
