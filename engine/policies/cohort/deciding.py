"""A workload decided: flavors, mode, and who goes. Source: Kueue's pkg/scheduler, scheduler.go (getAssignments)."""

from collections.abc import Sequence
from functools import partial

import msgspec

from engine.policies.cohort import classic, fair
from engine.policies.cohort.assigning import Assigner, Assignment, Find, Mode
from engine.policies.cohort.fair import Strategy
from engine.policies.cohort.ground import Ground, Question
from engine.policies.cohort.targets import NOBODY, Search
from engine.quota import PodSet, QuotaCluster, Workload

POLICY = "cohort"
FAIR_SHARE = "fair-share"


class Verdict(msgspec.Struct, frozen=True):
    """What is decided for a workload. ``Preempt`` does not promise that anybody goes."""

    assignment: Assignment
    search: Search

    @property
    def mode(self) -> Mode:
        """How it would be admitted."""
        return self.assignment.mode


def decide(cluster: QuotaCluster, ask: Workload, strategies: Sequence[Strategy] | None = None) -> Verdict:
    """Decide for a workload that waits in a queue of the cluster; ``strategies``: of fair sharing, None: classic.

    With fewer pods, where its sets allow that and it can't be had with all of them: then with as many as can be.
    """
    ground = Ground(cluster)
    find: Find = classic.search if strategies is None else partial(fair.search, strategies=strategies)
    assigner = Assigner(ground, ask, find, fair=strategies is not None)
    whole = _decided(ground, ask, assigner, find, [one.count for one in ask.pod_sets])
    if _served(whole):
        return whole
    return _with_fewer(ground, ask, assigner, find) or whole


def _served(verdict: Verdict) -> bool:
    return verdict.mode is Mode.FIT or bool(verdict.search.targets)


def _decided(ground: Ground, ask: Workload, assigner: Assigner, find: Find, counts: Sequence[int]) -> Verdict:
    assignment = assigner.assign(counts)
    if assignment.mode is not Mode.PREEMPT:
        return Verdict(assignment, NOBODY)
    return Verdict(assignment, find(Question(ground, ask, assignment.asked, sorted(assignment.contested))))


def _with_fewer(ground: Ground, ask: Workload, assigner: Assigner, find: Find) -> Verdict | None:
    """By halving: as Kueue does it, also where having fewer pods helps now and hinders then."""
    spare = [_spare(one) for one in ask.pod_sets]
    low, high, found = 0, sum(spare) + 1, None
    while sum(spare) and low < high:
        step = (low + high) // 2
        counts = [one.count - own * step // sum(spare) for one, own in zip(ask.pod_sets, spare, strict=True)]
        tried = _decided(ground, ask, assigner, find, counts)
        if _served(tried):
            found, high = tried, step
        else:
            low = step + 1
    return found


def _spare(one: PodSet) -> int:
    return 0 if one.least is None else max(0, one.count - one.least)
