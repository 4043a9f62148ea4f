"""Which pod of a decision gets which node: one pod and its node, or all pods of a group that is decided as a whole."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from engine.model.decision import GroupFacts
from engine.model.objects import Pod
from engine.model.snapshot import ClusterState, Reservation
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.selectors.decisions import read


@dataclass(frozen=True)
class Ref:
    """What an executor needs of a pod."""

    uid: str
    namespace: str
    name: str


@dataclass(frozen=True)
class Seat:
    """A pending pod and the node that is kept for it."""

    pod: Ref
    node: str
    """Empty: no node is kept, as under a policy that makes room anywhere."""
    owner: str
    """The uid that the node's taint carries: of the first pod of the decision there. The pods of a node share it."""


@dataclass(frozen=True)
class Seats:
    """All seats of a decision."""

    each: tuple[Seat, ...]
    needed: int
    """How many of them must be taken for the decision to succeed."""

    @property
    def kept(self) -> dict[str, str]:
        """Return the nodes that are kept, and the owner of each."""
        return {seat.node: seat.owner for seat in self.each if seat.node}

    def taken(
        self, seen: Callable[[str], Pod | None], present: Callable[[str], Pod | None]
    ) -> tuple[list[Pod], list[Pod], int]:
        """Return the pods that run on their node, those that run elsewhere, and how many still wait.

        ``present``: a pod by its uid; ``seen``: the same, also if it has gone a moment ago.
        """
        here, elsewhere, waiting = list[Pod](), list[Pod](), 0
        for seat in self.each:
            pod = seen(seat.pod.uid)
            if pod is not None and pod.node is not None:
                (here if seat.node in ("", pod.node) else elsewhere).append(pod)
            elif pod is not None and present(pod.uid) is not None:
                waiting += not (pod.terminating or pod.finished)
        return here, elsewhere, waiting


def seats_of(row: Decision) -> Seats:
    """Return the seats of a decision. Of a group's, its document is read."""
    decision = read(row) if row.ask_group else None
    if decision is None or not decision.group:
        return Seats((Seat(Ref(row.ask_uid, row.ask_namespace, row.ask_name), row.node, row.ask_uid),), needed=1)
    owners: dict[str, str] = {}
    seats = []
    for pod in decision.placed:
        node = decision.nodes[pod.uid]
        seats.append(Seat(Ref(pod.uid, pod.namespace, pod.name), node, owners.setdefault(node, pod.uid)))
    return Seats(tuple(seats), needed=_still_needed(decision.group, len(seats)))


def _still_needed(group: GroupFacts, placed: int) -> int:
    """Return how many more pods of a group have to get a node before all of them may run."""
    return min(placed, max(1, group.needed - group.bound))


def reservations_of(row: Decision) -> Iterable[Reservation]:
    """Return the capacity that an open decision keeps for its pending pods."""
    decision = read(row) if row.ask_group else None
    if decision is not None and decision.group:
        return decision.rooms
    room = Reservation(ask_uid=row.ask_uid, node=row.node, queue=row.ask_queue, requests=row.ask_requests)
    return (room,)


def opened_seats(cluster: Cluster) -> list[Seats]:
    """Return the seats of all decisions that are being carried out."""
    return [seats_of(row) for row in Decision.objects.filter(cluster=cluster).open().defer("laws")]


def leave_out_own_taints(state: ClusterState, row: Decision) -> None:
    """Show a decision for a group its nodes as they are to its pods.

    Those of a node share one taint, and that each tolerates it may be seen later than the taint.
    """
    for name, owner in seats_of(row).kept.items() if row.ask_group else ():
        if (node := state.nodes.get(name)) is not None:
            taints = tuple(one for one in node.taints if (one.key, one.value) != (RESERVED_TAINT_KEY, owner))
            state.nodes[name] = msgspec.structs.replace(node, taints=taints)
