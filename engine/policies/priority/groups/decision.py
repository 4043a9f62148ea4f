"""The stages in which a group of pods is decided.

Source: the scheduling cycle of a pod group in kube-scheduler 1.37 with feature gate GenericWorkload
(pkg/scheduler/schedule_one_podgroup.go and framework/preemption/podgrouppreemption.go), looking at all nodes.
"""

from collections.abc import Collection, Mapping
from enum import StrEnum
from functools import cached_property

import msgspec
import numpy as np

from engine.feasibility import unsupported_rules
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Flags, Rows
from engine.model.decision import Outcome
from engine.model.objects import PREEMPTION_BY_SCHEDULER, Pod, SchedulingGroup
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import group_of, units_of
from engine.policies.priority.groups.budget_charges import violations
from engine.policies.priority.groups.placing import MemberShapes, Placement
from engine.policies.priority.groups.reprieve import find_victims


class GroupReason(StrEnum):
    """Why the decision about a group ended as it did."""

    FITS = "fits"
    LOWER_PRIORITY = "lower-priority"
    """Units of lower priority make room."""
    UNREAD_RULES = "unread-rules"
    UNREAD = "unread"
    TOO_FEW_MEMBERS = "too-few-members"
    """Fewer pods of the group exist than have to run together."""
    MEMBERS_DIFFER = "members-differ"
    """The members do not have one scheduler, one preemption policy and the group's priority."""
    NEVER = "preemption-policy-never"
    WAITING_FOR_VICTIMS = "waiting-for-victims"
    NO_CANDIDATES = "no-candidates"
    """No unit has a lower priority."""
    NO_ROOM = "no-room"
    """Too few members get a node even without all units of lower priority."""


class UnitVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """A unit that is evicted."""

    pods: tuple[str, ...]
    """Its pods as ``namespace/name``."""
    group: str = ""
    """The group (``namespace/name``) that goes whole; empty: a pod alone."""
    priority: int
    violations: int = 0
    """How many of its pods violate a disruption budget."""


class GroupDecision(msgspec.Struct, frozen=True, kw_only=True):
    """The decision about a group of pending pods."""

    group: str
    """``namespace/name``."""
    outcome: Outcome
    reason: GroupReason
    detail: str = ""
    nodes: dict[str, str] = {}
    """A member (``namespace/name``) that gets a node -> the node, in the order in which they were placed."""
    scheduled: int = 0
    """How many members would have a node, if they are too few."""
    remaining: int = 0
    """How many members were not tried then."""
    victims: tuple[UnitVerdict, ...] = ()


def decide_group(snapshot: Snapshot, group: SchedulingGroup) -> GroupDecision:
    """Return where the members of a group of the snapshot get a node, and which units are evicted for them."""
    attempt = GroupAttempt(snapshot, group)
    return (
        attempt.undecidable()
        or attempt.refused()
        or attempt.fits_already()
        or attempt.not_eligible()
        or attempt.preempt()
    )


class GroupAttempt:
    """The state of preemption for one group, computed on demand."""

    def __init__(self, snapshot: Snapshot, group: SchedulingGroup) -> None:
        self.snapshot, self.group, self.columns = snapshot, group, snapshot.columns
        self.units = units_of(snapshot)
        bound = [self.columns.pods[row] for row in self.units.members(group).tolist()]
        self.bound = (*bound, *filter(self._is_named, self.columns.stray))
        """The members that have a node. Terminating ones count as long as they exist."""
        self.waiting = tuple(sorted(filter(self._is_named, snapshot.asks), key=_turn))
        """The members that want a node, in the order in which they are placed."""

    def _is_named(self, pod: Pod) -> bool:
        return (pod.namespace, pod.scheduling_group) == (self.group.namespace, self.group.name)

    @cached_property
    def shapes(self) -> MemberShapes:
        """Return the checks of the waiting members."""
        return MemberShapes(self.snapshot, self.waiting)

    @cached_property
    def lower(self) -> Flags:
        """Return for each row whether the pod's unit has a lower priority than the group."""
        return np.asarray(self.units.priority < self.group.priority, np.bool_)

    def undecidable(self) -> GroupDecision | None:
        """Return a decision with the reason why nothing can be decided for the group, None if it can."""
        rules = {rule for pod in self.waiting for rule in unsupported_rules(self.snapshot, pod)}
        rules.update(self.group.unread_rules)
        if rules:
            return self._answer(Outcome.NOT_ELIGIBLE, GroupReason.UNREAD_RULES, detail=", ".join(sorted(rules)))
        unread = self.group.key if self.group.unread else next((pod.key for pod in self.waiting if pod.unread), None)
        return None if unread is None else self._answer(Outcome.NOT_ELIGIBLE, GroupReason.UNREAD, detail=unread)

    def refused(self) -> GroupDecision | None:
        """Return a decision if the group is not tried at all, None if it is."""
        members = (*self.waiting, *self.bound)
        existing = len(self.bound) + sum(map(self._is_named, self.snapshot.unbound))
        if existing < self.group.needed:
            return self._answer(Outcome.NOT_ELIGIBLE, GroupReason.TOO_FEW_MEMBERS)
        alike = {(self.group.priority, pod.scheduler, pod.never_preempts) for pod in members[:1]}
        odd = next((pod for pod in members if (pod.priority, pod.scheduler, pod.never_preempts) not in alike), None)
        return None if odd is None else self._answer(Outcome.NOT_ELIGIBLE, GroupReason.MEMBERS_DIFFER, detail=odd.key)

    def fits_already(self) -> GroupDecision | None:
        """Return a decision with the nodes of the members if enough of them fit without any eviction."""
        placement = self._place(DepartingPods(self.columns, np.zeros(0, np.intp)))
        if not placement.enough:
            return None
        return self._answer(Outcome.FITS, GroupReason.FITS, nodes=self._named(placement))

    def not_eligible(self) -> GroupDecision | None:
        """Return a decision with the reason why the group may not preempt, None if it may."""
        if any(pod.never_preempts for pod in self.waiting):
            return self._answer(Outcome.NOT_ELIGIBLE, GroupReason.NEVER, detail=self.group.priority_class)
        if node := self._emptying():
            return self._answer(Outcome.NOT_ELIGIBLE, GroupReason.WAITING_FOR_VICTIMS, detail=node)
        return None

    def _emptying(self) -> str:
        """Return a node that a member is nominated to, and where a victim is terminating; empty: there is none."""
        for name in dict.fromkeys(pod.nominated_node for pod in self.waiting):
            place = self.columns.place.get(name)
            for row in () if place is None else self.columns.rows(place):
                pod = self.columns.pods[row]
                if self.lower[row] and pod.terminating and pod.disruption == PREEMPTION_BY_SCHEDULER:
                    return name
        return ""

    def preempt(self) -> GroupDecision:
        """Place the members in a cluster without all units of lower priority, then let stay what can."""
        if not self.lower.any():
            return self._answer(Outcome.NO_CANDIDATE, GroupReason.NO_CANDIDATES)
        gone = DepartingPods(self.columns, self.lower)
        placement = self._place(gone)
        if not placement.enough:
            return self._answer(
                Outcome.NO_CANDIDATE,
                GroupReason.NO_ROOM,
                scheduled=placement.scheduled,
                remaining=placement.remaining,
            )
        leads = self.units.order[self.lower[self.units.order]]
        violating = violations(self.columns, self.snapshot.budgets, self.units, leads)
        placed = [(pod, placement.places[pod.uid]) for pod in self.waiting if pod.uid in placement.places]
        turns = _violating_first(leads, violating)
        victims = [
            self._verdict(lead, violating) for lead in find_victims(self.shapes, gone, self.units, turns, placed)
        ]
        return self._answer(
            Outcome.PREEMPT, GroupReason.LOWER_PRIORITY, nodes=self._named(placement), victims=tuple(victims)
        )

    def _place(self, gone: DepartingPods) -> Placement:
        return self.shapes.without(gone).place(len(self.bound), self.group.needed)

    def _named(self, placement: Placement) -> dict[str, str]:
        keys = {pod.uid: pod.key for pod in self.waiting}
        return {keys[uid]: self.columns.nodes[place].name for uid, place in placement.places.items()}

    def _verdict(self, lead: int, violating: Mapping[int, int]) -> UnitVerdict:
        pods = [self.columns.pods[row] for row in self.units.rows(lead)]
        group = group_of(self.snapshot, pods[0]) if len(pods) > 1 else None
        return UnitVerdict(
            pods=tuple(pod.key for pod in pods),
            group="" if group is None else group.key,
            priority=int(self.units.priority[lead]),
            violations=violating.get(lead, 0),
        )

    def _answer(self, outcome: Outcome, reason: GroupReason, **rest: object) -> GroupDecision:
        return msgspec.structs.replace(GroupDecision(group=self.group.key, outcome=outcome, reason=reason), **rest)


def _turn(pod: Pod) -> tuple[int, str]:
    """Return the sort key by which members are placed: the oldest first."""
    return pod.created_ms, pod.name


def _violating_first(leads: Rows, violating: Collection[int]) -> Rows:
    first = np.isin(leads, np.array(list(violating), np.intp))
    return np.concatenate([leads[first], leads[~first]])
