"""Decides a workload: its flavors, its mode, and which workloads to preempt.

Source: Kueue's pkg/scheduler, scheduler.go (getAssignments).
"""

from collections.abc import Callable, Hashable, Sequence
from functools import partial

import msgspec

from engine.model.quota import FlavorResource, PodSet, Quantities, QuotaCluster, Workload
from engine.policies.cohort.admissible import without_replaced
from engine.policies.cohort.flavor_assignment import Assigner, Assignment, Mode, SearchResult, TargetFinder
from engine.policies.cohort.search import classic, fair
from engine.policies.cohort.search.fair import Strategy
from engine.policies.cohort.search.quota_attempt import QuotaAttempt
from engine.policies.cohort.search.quota_index import QuotaIndex
from engine.policies.cohort.search.targets import NO_TARGETS, TargetSearch

POLICY = "cohort"
FAIR_SHARE = "fair-share"


class WorkloadVerdict(msgspec.Struct, frozen=True):
    """The decision for a workload. The mode ``Preempt`` does not guarantee that any workload is preempted."""

    assignment: Assignment
    search: TargetSearch
    gated: bool = False
    """Whether other workloads would be preempted, but a gate of the workload's preemption is closed."""

    @property
    def mode(self) -> Mode:
        """Return how the workload would be admitted."""
        return self.assignment.mode

    @property
    def served(self) -> bool:
        """Return whether the workload gets quota: enough is free, or other workloads are preempted for it."""
        return self.mode is Mode.FIT or bool(self.search.targets)


def decide(cluster: QuotaCluster, ask: Workload, strategies: Sequence[Strategy] | None = None) -> WorkloadVerdict:
    """Decide for a workload that waits in a queue of the cluster.

    ``strategies`` are those of fair sharing; None selects classic preemption. If the workload cannot be admitted with
    all pods, and its pod sets allow fewer, it is decided with as many pods as possible.

    Source: Scheduler.getInitialAssignments of Kueue.
    """
    quota_index = QuotaIndex.of(without_replaced(cluster, ask))
    search = classic.search if strategies is None else partial(fair.search, strategies=strategies)
    verdict = decide_with(quota_index, ask, _cached_search(quota_index, ask, search), fair=strategies is not None)
    return (
        WorkloadVerdict(verdict.assignment, NO_TARGETS, gated=True) if ask.gated and verdict.search.targets else verdict
    )


def decide_with(quota_index: QuotaIndex, ask: Workload, find: TargetFinder, *, fair: bool) -> WorkloadVerdict:
    """Decide for a workload with a given search for preemption targets."""
    assigner = Assigner(quota_index, ask, find, fair=fair)
    whole = _decide_counts(assigner, find, [one.count for one in ask.pod_sets])
    if whole.served:
        return whole
    return _with_fewer(ask, assigner, find) or whole


def _cached_search(
    quota_index: QuotaIndex, ask: Workload, search: Callable[[QuotaAttempt], TargetSearch]
) -> TargetFinder:
    """Return a search for preemption targets that caches its results.

    For a workload with one resource, the final search repeats the one that tried the flavor.
    """
    known: dict[Hashable, SearchResult] = {}

    def find(asked: Quantities, contested: tuple[FlavorResource, ...]) -> SearchResult:
        of = frozenset(asked.items()), contested
        if of not in known:
            attempt = QuotaAttempt(quota_index, ask, asked, contested)
            known[of] = SearchResult(search(attempt), attempt.usage)
        return known[of]

    return find


def _decide_counts(assigner: Assigner, find: TargetFinder, counts: Sequence[int]) -> WorkloadVerdict:
    assignment = assigner.assign(counts)
    if assignment.mode is not Mode.PREEMPT:
        return WorkloadVerdict(assignment, NO_TARGETS)
    return WorkloadVerdict(assignment, find(assignment.asked, tuple(sorted(assignment.contested))).search)


def _with_fewer(ask: Workload, assigner: Assigner, find: TargetFinder) -> WorkloadVerdict | None:
    """Return the verdict with the most pods that can be admitted, or None; the number of pods is bisected.

    As in Kueue, bisection is used even though removing pods does not always make admission easier.

    Source: PodSetReducer.Search of Kueue (pkg/scheduler/flavorassigner, podset_reducer.go).
    """
    spare = [_removable(one) for one in ask.pod_sets]
    low, high, found = 0, sum(spare) + 1, None
    while sum(spare) and low < high:
        step = (low + high) // 2
        counts = [one.count - own * step // sum(spare) for one, own in zip(ask.pod_sets, spare, strict=True)]
        tried = _decide_counts(assigner, find, counts)
        if tried.served:
            found, high = tried, step
        else:
            low = step + 1
    return found


def _removable(one: PodSet) -> int:
    return 0 if one.least is None else max(0, one.count - one.least)
