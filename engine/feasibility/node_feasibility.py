"""Evaluates for every node whether a pod can run there once some pods have left."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np

from engine.feasibility.affinity import affinity_checks
from engine.feasibility.amount_checks import Nominated, claim_checks, nominated_sums, port_checks, resource_checks
from engine.feasibility.checks import AmountCheck, Check, NodeRefusal, RuleCheck
from engine.feasibility.node_rules import first_unbound_claim, node_selection_checks, node_state_checks, volume_checks
from engine.feasibility.spread import spread_checks
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Numbers, Rows
from engine.model.decision import NodeReason
from engine.model.objects import Pod
from engine.model.snapshot import Snapshot

FITS = -1
"""Returned in place of the number of a check if no check refuses."""


class DepartingAmounts(Protocol):
    """Pods that leave, by what they take along."""

    def of(self, weight: Numbers, upto: Numbers | None = None) -> Numbers:
        """Return, by node, the sum of the weights of the pods that leave; ``upto`` is the running sum of ``weight``."""


class Feasibility:
    """Every check of a pod over a snapshot, in the order in which kube-scheduler performs them.

    Room is left for pods of the same or higher priority that are nominated to a node: the pod must fit with them and
    without them. ``miscounting``: whether to count as kube-scheduler does even where it is wrong. ``expected``: pods
    that may come to a node while the checks are used (see ``MovingChecks``).

    Source: RunFilterPluginsWithNominatedPods of kube-scheduler (pkg/scheduler/framework/runtime, framework.go).
    """

    def __init__(
        self, snapshot: Snapshot, pod: Pod, *, miscounting: bool = False, expected: Iterable[Pod] = ()
    ) -> None:
        self.pod, self.columns, self.miscounting = pod, snapshot.columns, miscounting
        self._expected = tuple(expected)
        self.nominated = _nominated_by_node(snapshot, pod)
        self.checks = tuple(self._checks(snapshot, miscounting=miscounting))
        self.limits = tuple(check for check in self.checks if isinstance(check, AmountCheck))

    def _checks(self, snapshot: Snapshot, *, miscounting: bool) -> Iterator[Check]:
        columns, pod = self.columns, self.pod
        if snapshot.unread or any(other.unread for others in self.nominated.values() for other in others):
            unread = columns.unread.astype(np.int64)
            nothing = np.zeros(len(columns.nodes), np.int64)
            coming = nominated_sums(self.nominated, lambda other: other.unread)
            yield AmountCheck(
                NodeReason.UNREAD,
                "",
                held=columns.sums(unread),
                cap=nothing,
                weight=unread,
                added=coming,
                times=lambda other: int(other.unread),
            )
        if (claim := first_unbound_claim(snapshot, pod)) is not None:
            yield RuleCheck(NodeReason.UNBOUND_CLAIM, np.ones(len(columns.nodes), np.bool_), claim)
        yield from node_state_checks(columns, pod)
        yield from node_selection_checks(columns, pod)
        yield from port_checks(columns, pod, self.nominated)
        yield from resource_checks(columns, pod, self.nominated)
        yield from claim_checks(snapshot, pod, self.nominated, miscounting=miscounting)
        yield from volume_checks(snapshot, pod)
        yield from spread_checks(columns, pod, self.nominated, miscounting=miscounting)
        yield from affinity_checks(snapshot, pod, self.nominated, self._expected)

    def refusing(
        self,
        without: DepartingAmounts | None = None,
        *,
        surely: DepartingAmounts | None = None,
        places: Rows | None = None,
    ) -> Rows:
        """Return, by node index, the number of the first check that refuses the pod, or FITS.

        ``without``: the pods that leave. ``surely``: the pods among them that leave in any case; then only those
        refusals count that hold whichever of the others stay. ``places``: the nodes to consider, if not all; then both
        give what leaves these nodes alone.
        """
        removed: list[Numbers | int] = []
        for limit in self.limits:
            leaving = surely if surely is not None and limit.mends else without
            removed.append(0 if leaving is None else leaving.of(limit.weight, limit.upto))
        every = slice(None) if places is None else places
        first = self._first(removed, without, every, nominated=False)
        if not self.nominated:
            return first
        with_nominated = self._first(removed, without, every, nominated=True)
        return np.where(with_nominated == FITS, first, with_nominated)

    def _first(
        self,
        removed: Sequence[Numbers | int],
        without: DepartingAmounts | None,
        places: Rows | slice,
        *,
        nominated: bool,
    ) -> Rows:
        first = np.full(len(self.columns.nodes) if isinstance(places, slice) else len(places), FITS, np.intp)
        removed_in_reverse = iter(reversed(removed))
        for number in range(len(self.checks) - 1, -1, -1):
            check = self.checks[number]
            if isinstance(check, RuleCheck):
                refused = check.refused[places]
            else:
                more = check.more()[places] if nominated and check.added else 0
                held = check.held[places] - next(removed_in_reverse) + more
                refused = np.asarray(held > check.cap[places], np.bool_)
                if check.unless is not None:
                    still = check.unless - (0 if without is None else without.of(check.unless_weight))
                    refused = refused & (still > 0)
            first[refused] = number
        return first

    def binding(self, without: DepartingPods, places: Rows) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield the limits that pods coming back to these nodes may exceed.

        For each limit, these are the weights by row, and what is left of the limit at each node.
        """
        for limit in self.limits:
            if limit.mends:
                continue
            freed = without.of(limit.weight, limit.upto)[places]
            room = (limit.cap - limit.held)[places] + freed
            if limit.added:
                room = room - np.maximum(limit.more(), 0)[places]
            if np.any(freed > room):
                yield limit.weight, room

    def refusal(self, number: int, place: int) -> NodeRefusal:
        """Return why the check of that number refuses a node."""
        check = self.checks[number]
        return check.refusal(place) if isinstance(check, RuleCheck) else check.refusal()

    def on(self, place: int) -> "NodeChecks":
        """Return the checks of the pod on one node, for repeated questions."""
        return NodeChecks(self, place)


def _nominated_by_node(snapshot: Snapshot, pod: Pod) -> Nominated:
    nominated: dict[int, list[Pod]] = {}
    for other in snapshot.nominated:
        place = snapshot.columns.place.get(other.nominated_node)
        counts = other.uid != pod.uid and other.priority >= pod.priority and other.scheduler == pod.scheduler
        if place is not None and counts and not _scheduled_together(pod, other):
            nominated.setdefault(place, []).append(other)
    return {place: tuple(pods) for place, pods in sorted(nominated.items())}


def _scheduled_together(pod: Pod, other: Pod) -> bool:
    """Return whether two pending pods are members of one group: it is out of the queue while it is scheduled."""
    return bool(pod.scheduling_group) and (pod.namespace, pod.scheduling_group) == (
        other.namespace,
        other.scheduling_group,
    )


class NodeChecks:
    """The checks of one pod on one node."""

    def __init__(self, feasibility: Feasibility, place: int) -> None:
        columns = feasibility.columns
        rows = columns.rows(place)
        self._turn = {pod.uid: turn for turn, pod in enumerate(columns.on(place))}
        """Uid of a pod -> how many of the node's pods come before it."""
        self._checks: list[tuple[NodeRefusal, _NodeLimit | None]] = []
        for check in feasibility.checks:
            if isinstance(check, AmountCheck):
                self._checks.append((check.refusal(), _NodeLimit(check, place, rows)))
            elif check.refused[place]:
                self._checks.append((check.refusal(place), None))

    def refusal(self, departed: Collection[str] = (), *, surely: Collection[str] | None = None) -> NodeRefusal | None:
        """Return the first reason why the pod can't run there once the pods ``departed`` have left, or None.

        Pods are given by uid; those of other nodes are ignored. ``surely``: the pods among them that leave in any case;
        then only refusals count that hold whichever of the others stay.
        """
        turns = self._turns(departed)
        sure = turns if surely is None else self._turns(surely)
        for nominated in (True, False):
            for reason, line in self._checks:
                if line is None or line.exceeded(turns, sure, nominated=nominated):
                    return reason
        return None

    def needed(self, departed: Collection[str] = ()) -> frozenset[str] | None:
        """Return the uids of pods whose leaving lowers a limit that is still exceeded without the pods ``departed``.

        Return None if no limit is exceeded.
        """
        turns = self._turns(departed)
        exceeded = (
            line
            for _, line in self._checks
            if line and any(line.exceeded(turns, turns, nominated=nominated) for nominated in (True, False))
        )
        lines = list(exceeded)
        if not lines:
            return None
        weights = (weight for line in lines for weight in zip(self._turn, line.weights, strict=True))
        return frozenset(uid for uid, weight in weights if weight > 0)

    def far(self, departed: Collection[str] = ()) -> bool:
        """Return whether the pod would lack a pod that it must be near, once the pods ``departed`` (uids) have left."""
        turns = self._turns(departed)
        near = (line for _, line in self._checks if line and line.limit.mends)
        return any(line.exceeded(turns, turns, nominated=False) for line in near)

    def weights(self, uid: str) -> tuple[int, ...]:
        """Return the weight of one of the node's pods in every limit."""
        turn = self._turn[uid]
        return tuple(int(line.weights[turn]) for _, line in self._checks if line)

    def _turns(self, uids: Collection[str]) -> list[int]:
        return [turn for uid in uids if (turn := self._turn.get(uid)) is not None]


class _NodeLimit:
    """A limit at one node, in plain integers."""

    def __init__(self, limit: AmountCheck, place: int, rows: range) -> None:
        self.limit = limit
        self.weights: list[int] = limit.weight[rows.start : rows.stop].tolist()
        """The weights of the node's pods, in their order."""
        self._unless: list[int] = limit.unless_weight[rows.start : rows.stop].tolist()
        self.over = int(limit.held[place]) - int(limit.cap[place])
        self.more = limit.added.get(place, 0)

    def exceeded(self, departed: Collection[int], surely: Collection[int], *, nominated: bool) -> bool:
        """Return whether the limit is exceeded, whichever of ``departed`` stay other than those of ``surely``."""
        limit = self.limit
        leaving = surely if limit.mends else departed
        over = self.over + (self.more if nominated else 0) - sum([self.weights[turn] for turn in leaving])
        if over <= 0:
            return False
        return limit.unless is None or limit.unless > sum([self._unless[turn] for turn in departed])
