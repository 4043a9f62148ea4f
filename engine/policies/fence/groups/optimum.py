"""Weigh sets of units as policy ``fence``: for gangs, and for single pods where whole groups may be evicted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
import numpy as np

from engine.model.columns.departures import DepartingPods
from engine.model.objects import Pod
from engine.model.quantities import total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.groups.members_in_place import Placed
from engine.policies.common.groups.placing import MemberShapes
from engine.policies.common.groups.stages import MOST_CHOICES
from engine.policies.common.groups.unit_weighing import MembersToPlace, UnitRules, UnitWeighing, WeighedUnit
from engine.policies.common.weighing import Weighing
from engine.policies.fence.candidates import claim_of
from engine.policies.fence.decision import may_resort
from engine.policies.fence.groups.allowances import Allowances
from engine.policies.fence.groups.attempt import GangAttempt
from engine.policies.fence.groups.decision import gang_of
from engine.policies.fence.groups.joint_rules import FenceJointRules
from engine.policies.fence.groups.unit_costs import LARGEST
from engine.policies.fence.groups.units import CandidateUnits
from engine.policies.fence.optimum import FenceWeighing
from engine.policies.fence.parameters import Parameters
from engine.policies.fence.victims.preemptable_amounts import find_preemptable_amounts


def weighing_of(
    snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Mapping[str, Any]
) -> Weighing | UnitWeighing:
    """Return how the decision about a pending pod, or about its gang, is weighed."""
    given = msgspec.convert(parameters, Parameters)
    gang = gang_of(snapshot, tree, ask)
    if gang is not None:
        return GangWeighing(gang, given)
    if snapshot.groups:
        alone = PodWeighing(PreemptionAttempt(snapshot, tree, ask), given)
        if alone.candidates.some_whole:
            return alone
    return FenceWeighing(snapshot, tree, ask, parameters)


class FenceUnitWeighing(UnitWeighing):
    """Sets of units, by the same criteria as sets of pods of one node."""

    parts, nothing, largest = FenceWeighing.parts, FenceWeighing.nothing, LARGEST
    _of_all: CandidateUnits

    def units_of(self, rows: Iterable[int]) -> Sequence[WeighedUnit]:
        """Return the units of some pods (rows)."""
        return self._of_all.of(np.unique(self._of_all.units.lead[list(rows)]))


class PodWeighing(FenceUnitWeighing):
    """A single pod for which whole groups may be evicted."""

    def __init__(self, attempt: PreemptionAttempt, parameters: Parameters) -> None:
        self.columns, self._attempt = attempt.columns, attempt
        claim = claim_of(attempt, opted_out=may_resort(attempt.ask, parameters))
        amounts = find_preemptable_amounts(attempt.pod_index, attempt.usage, attempt.leaf, attempt.ask)
        self.candidates = self._of_all = CandidateUnits(attempt, claim, amounts)

    def choices(self) -> Iterator[MembersToPlace]:
        """Yield the pod alone."""
        shapes = MemberShapes(self._attempt.snapshot, (self._attempt.ask,))
        yield FenceMembers(self.candidates, shapes, (), (self._attempt.ask,))


class GangWeighing(FenceUnitWeighing):
    """A gang, of which the members are placed first that need no eviction."""

    def __init__(self, gang: GangAttempt, parameters: Parameters) -> None:
        self.columns, self._gang, self._parameters = gang.first.columns, gang, parameters
        self._of_all = self._candidates(gang.members)

    def choices(self) -> Iterator[MembersToPlace]:
        """Yield the members that may preempt beside those that need no eviction."""
        _, placed = self._gang.free
        for chosen in islice(self._gang.choices(placed), MOST_CHOICES):
            if self._gang.refusal(placed, chosen, check_delay=self._parameters.check_delay) is None:
                yield FenceMembers(self._candidates(chosen), self._gang.shapes, placed, chosen)

    def _candidates(self, chosen: Sequence[Pod]) -> CandidateUnits:
        gang, (_, placed) = self._gang, self._gang.free
        requests = total(pod.requests for pod in (*(pod for pod, _place in placed), *chosen))
        claim = gang.claim(chosen, opted_out=self._parameters.last_resort == "any")
        return CandidateUnits(gang.first, claim, gang.amounts(requests), gang.group)


class FenceMembers(MembersToPlace):
    """Members of a gang that need a node, or a single pod."""

    def __init__(
        self, candidates: CandidateUnits, shapes: MemberShapes, placed: Placed, members: Sequence[Pod]
    ) -> None:
        """Find the nodes where they could be. ``placed``: members that need no eviction, with their nodes."""
        self.members, self._candidates, self._shapes, self.placed = members, candidates, shapes, placed
        attempt = candidates.attempt
        gone = np.union1d(attempt.columns.leaving, np.flatnonzero(candidates.may_go)).astype(np.intp)
        checks = shapes.without(DepartingPods(attempt.columns, gone), ~attempt.open).checks
        for other, place in placed:
            for each in checks.values():
                each.bind(other, place)
        self.monotone = all(each.local and not each.mends for each in checks.values())
        own = [checks[shapes.shape_of(pod)] for pod in members]
        flags = [each.allowed() if self.monotone else each.open for each in own]
        self.nodes = [np.flatnonzero(each).tolist() for each in flags]
        places = {*np.flatnonzero(np.any(flags, axis=0)).tolist(), *(place for _pod, place in placed)}
        self.number_of_units = len(candidates.on(places))

    def alike(self, one: int, other: int) -> bool:
        """Return whether two members (by number) differ in identity alone."""
        first, second = self.members[one], self.members[other]
        return self._shapes.shape_of(first) == self._shapes.shape_of(second)

    def rules(self, places: Sequence[int]) -> UnitRules:
        """Return the rules with the first members on some nodes (by index)."""
        placed = [*self.placed, *zip(self.members, places, strict=False)]
        allowances = Allowances(self._candidates.attempt, self._candidates.amounts)
        for pod, _place in placed:
            allowances.ask(pod.requests)
        return FenceJointRules(self._candidates, self._shapes, placed, allowances)
