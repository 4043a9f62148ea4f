"""Assigns flavors to a workload, and decides whether it fits in them, with or without preemption.

Source: Kueue's pkg/scheduler/flavorassigner, flavorassigner.go, and preemption_oracle.go.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum, StrEnum
from typing import NamedTuple

import msgspec

from engine.feasibility.selectors import first_untolerated, matches
from engine.model.objects import Requirement
from engine.model.quantities import PODS, Amounts, total
from engine.model.quota import (
    Flavor,
    FlavorResource,
    Fungibility,
    PodSet,
    Quantities,
    QuotaUsage,
    ResourceGroup,
    Take,
    Workload,
)
from engine.policies.cohort.search.quota_index import QuotaIndex
from engine.policies.cohort.search.targets import PreemptionReason, TargetSearch


class SearchResult(NamedTuple):
    """The result of a search for preemption targets, and the quota usage once these targets are preempted."""

    search: TargetSearch
    after: QuotaUsage


TargetFinder = Callable[[Quantities, tuple[FlavorResource, ...]], SearchResult]
"""A search for preemption targets, given the requested amounts and the contested flavors and resources."""


class Mode(StrEnum):
    """How a workload would be admitted, in Kueue's terms."""

    FIT = "Fit"
    PREEMPT = "Preempt"
    NO_FIT = "NoFit"


class AssignmentMode(IntEnum):
    """How well a flavor can provide a resource, from the worst to the best."""

    NONE = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4

    @property
    def mode(self) -> Mode:
        """Return the mode of admission to which this belongs, in Kueue's terms."""
        return {AssignmentMode.NONE: Mode.NO_FIT, AssignmentMode.FIT: Mode.FIT}.get(self, Mode.PREEMPT)


class AssignedFlavor(NamedTuple):
    """The flavor that a resource of a pod set is assigned."""

    flavor: str
    chance: AssignmentMode
    borrowing: int
    """The height of the lowest subtree of the quota tree that holds it; 0 means the queue's own nominal quota."""


class SetAssignment(msgspec.Struct, frozen=True):
    """A pod set with the flavors it would be assigned."""

    pod_set: PodSet
    count: int
    granted: Mapping[str, AssignedFlavor]
    """Resource -> its flavor; empty if no flavor can provide it."""
    wanted: Amounts
    """The amounts that all its pods request, including the number of pods if the queue has a quota of pods."""


class Assignment(msgspec.Struct, frozen=True):
    """The flavors that all pod sets of a workload would be assigned."""

    sets: tuple[SetAssignment, ...]

    @property
    def mode(self) -> Mode:
        """Return the worst mode of all assigned flavors."""
        if not self.sets or any(one.wanted and not one.granted for one in self.sets):
            return Mode.NO_FIT
        modes = {granted.chance.mode for one in self.sets for granted in one.granted.values()}
        return next((mode for mode in (Mode.NO_FIT, Mode.PREEMPT) if mode in modes), Mode.FIT)

    @property
    def borrowing(self) -> int:
        """Return the height of the highest subtree from which the workload would borrow."""
        return max((granted.borrowing for one in self.sets for granted in one.granted.values()), default=0)

    @property
    def contested(self) -> frozenset[FlavorResource]:
        """Return the flavors and resources for which other workloads have to be preempted.

        Source: flavorResourcesNeedPreemption of Kueue's pkg/scheduler/preemption.
        """
        return frozenset(
            (granted.flavor, resource)
            for one in self.sets
            for resource, granted in one.granted.items()
            if granted.chance.mode is Mode.PREEMPT
        )

    @property
    def asked(self) -> dict[FlavorResource, int]:
        """Return the amounts of quota that the workload would use.

        As in Kueue, pods themselves are not included; docs/policies/cohort.md describes what follows from that.

        Source: Assignment.TotalRequestsFor of Kueue.
        """
        found: dict[FlavorResource, int] = {}
        for one in self.sets:
            for resource, amount in one.pod_set.requests.items():
                if resource in one.granted and resource != PODS:
                    of = (one.granted[resource].flavor, resource)
                    found[of] = found.get(of, 0) + amount * one.count
        return found


class _Option(NamedTuple):
    """A flavor for the resources of a group: what each resource is assigned, and the mode of the worst."""

    granted: dict[str, AssignedFlavor]
    chance: AssignmentMode
    borrowing: int


_NO_OPTION = _Option({}, AssignmentMode.NONE, 0)


class Assigner:
    """Assigns flavors to a workload.

    ``fair`` selects the rules of fair sharing. ``find`` searches for preemption targets, which shows whether preemption
    could help.
    """

    def __init__(self, quota_index: QuotaIndex, ask: Workload, find: TargetFinder, *, fair: bool) -> None:
        self._quota_index, self._ask, self._find, self._fair = quota_index, ask, find, fair
        self._queue = quota_index.queues[ask.queue]
        self._node = quota_index.tree.queue[ask.queue]

    def assign(self, counts: Iterable[int]) -> Assignment:
        """Return the assignment of the workload with ``counts`` pods in its pod sets.

        The assignment ends at the first pod set for which no flavor is found.
        """
        sized = list(zip(self._ask.pod_sets, counts, strict=True))
        used: dict[FlavorResource, int] = {}
        sets: list[SetAssignment] = []
        for group in _group_pod_sets(sized):
            wanted = [self._wanted(one, count) for one, count in group]
            granted = self._grant([one for one, _ in group], total(wanted), used)
            for (one, count), amounts in zip(group, wanted, strict=True):
                own = {name: granted[name] for name in amounts if name in granted}
                sets.append(SetAssignment(one, count, own, amounts))
                for name, grant in own.items():
                    used[grant.flavor, name] = used.get((grant.flavor, name), 0) + amounts[name]
            if not granted and any(wanted):
                break
        return Assignment(tuple(sets))

    def _wanted(self, one: PodSet, count: int) -> Amounts:
        found = {name: amount * count for name, amount in one.requests.items() if name != PODS}
        if self._queue.group_of(PODS) is not None:
            found[PODS] = count
        return found

    def _grant(
        self, sets: list[PodSet], wanted: Amounts, used: Mapping[FlavorResource, int]
    ) -> dict[str, AssignedFlavor]:
        """Return the flavor of every resource of these pod sets; empty if any resource finds no flavor."""
        granted: dict[str, AssignedFlavor] = {}
        for name in sorted(wanted):
            if name in granted:
                continue
            group = self._queue.group_of(name)
            if group is None:
                return {}
            option = self._option(group, sets, {one: wanted[one] for one in wanted if one in group.resources}, used)
            if not option.granted:
                return {}
            granted |= option.granted
        return granted

    def _option(
        self, group: ResourceGroup, sets: list[PodSet], wanted: Amounts, used: Mapping[FlavorResource, int]
    ) -> _Option:
        # Source: FlavorAssigner.findFlavorForPodSets of Kueue.
        best = _NO_OPTION
        for name in group.flavors:
            flavor = self._quota_index.flavors.get(name)
            if flavor is None or not all(_flavor_matches(flavor, one) for one in sets):
                continue
            option = self._tried(name, wanted, used)
            if not _tries_next_flavor(option, self._queue.fungibility):
                return option
            if _is_better(option, best, self._queue.fungibility):
                best = option
        return best

    def _tried(self, flavor: str, wanted: Amounts, used: Mapping[FlavorResource, int]) -> _Option:
        granted: dict[str, AssignedFlavor] = {}
        worst = _Option(granted, AssignmentMode.FIT, 0)
        for name in sorted(wanted):
            of = (flavor, name)
            chance, borrowing = self._chance(of, used.get(of, 0) + wanted[name])
            one = _Option(granted, chance, borrowing)
            if _is_better(worst, one, self._queue.fungibility):
                worst = one
            if chance is AssignmentMode.NONE:
                return _Option({}, chance, borrowing)
            granted[name] = AssignedFlavor(flavor, chance, borrowing)
        return worst

    def _chance(self, of: FlavorResource, amount: int) -> tuple[AssignmentMode, int]:
        """Return how well the queue can provide an amount, and the height up to which it borrows for that.

        Source: FlavorAssigner.fitsResourceQuota of Kueue.
        """
        usage, tree = self._quota_index.usage, self._quota_index.tree
        if amount > tree.potential[self._node].get(of, 0):
            return AssignmentMode.NONE, 0
        borrowing, reclaims = usage.lowest_that_holds(self._node, of, amount)
        if amount <= usage.available(self._node, of):
            return AssignmentMode.FIT, borrowing
        if amount <= tree.quota(self._node, of).nominal or reclaims or self._preempts_while_borrowing():
            return self._simulated(of, amount, borrowing)
        return AssignmentMode.NONE, borrowing

    def _preempts_while_borrowing(self) -> bool:
        # Source: FlavorAssigner.canPreemptWhileBorrowing of Kueue.
        preemption = self._queue.preemption
        return preemption.borrow.allowed or (self._fair and preemption.reclaim is not Take.NEVER)

    def _simulated(self, of: FlavorResource, amount: int, borrowing: int) -> tuple[AssignmentMode, int]:
        """Search preemption targets for this resource alone, and return the resulting mode and borrowing height.

        Source: PreemptionOracle.SimulatePreemption of Kueue.
        """
        search, after = self._find({of: amount}, (of,))
        if not search.targets:
            return AssignmentMode.NO_CANDIDATES, borrowing
        borrowing, _ = after.lowest_that_holds(self._node, of, amount)
        own = PreemptionReason.IN_QUEUE in search.reasons
        return (AssignmentMode.PREEMPT if own else AssignmentMode.RECLAIM), borrowing


def _group_pod_sets(sized: list[tuple[PodSet, int]]) -> list[list[tuple[PodSet, int]]]:
    """Group the pod sets that have to be assigned the same flavors."""
    groups: dict[str, list[tuple[PodSet, int]]] = {}
    for one, count in sized:
        groups.setdefault(f"group {one.group}" if one.group else f"set {one.name}", []).append((one, count))
    return list(groups.values())


def _flavor_matches(flavor: Flavor, one: PodSet) -> bool:
    """Return whether pods can run on nodes of a flavor, judged only by the labels and taints that the flavor states.

    Source: FlavorAssigner.checkFlavorForPodSets and flavorSelector of Kueue.
    """
    if first_untolerated((*one.tolerations, *flavor.tolerations), flavor.taints) is not None:
        return False
    labels = flavor.labels
    if any(labels[key] != value for key, value in one.node_selector.items() if key in labels):
        return False
    terms = [_relevant_requirements(term.expressions, labels) for term in one.node_affinity]
    return not terms or any(matches(expressions, labels) for expressions in terms)


def _relevant_requirements(expressions: Iterable[Requirement], labels: Mapping[str, str]) -> list[Requirement]:
    return [one for one in expressions if one.key in labels]


def _tries_next_flavor(option: _Option, fungibility: Fungibility) -> bool:
    """Return whether the next flavor has to be tried too.

    Source: shouldTryNextFlavor of Kueue.
    """
    if option.chance in {AssignmentMode.NONE, AssignmentMode.NO_CANDIDATES}:
        return True
    if option.chance is not AssignmentMode.FIT and fungibility.next_before_preempting:
        return True
    return option.borrowing > 0 and fungibility.next_before_borrowing


def _is_better(one: _Option, other: _Option, fungibility: Fungibility) -> bool:
    """Return whether the option ``one`` is better than the option ``other``.

    Source: isPreferred of Kueue.
    """
    hopeless = {AssignmentMode.NONE, AssignmentMode.NO_CANDIDATES}
    if one.chance is not other.chance and (one.chance in hopeless or other.chance in hopeless):
        return one.chance > other.chance
    if fungibility.preemption_over_borrowing:
        return (-one.borrowing, one.chance) > (-other.borrowing, other.chance)
    return (one.chance, -one.borrowing) > (other.chance, -other.borrowing)
