"""Holds the result of a search: the workloads to preempt and the reason for each, and those that were reprieved."""

from collections.abc import Callable, Hashable, Sequence
from enum import StrEnum

import msgspec

from engine.model.quota import Workload
from engine.policies.cohort.search.quota_attempt import MissingQuota, QuotaAttempt


class PreemptionReason(StrEnum):
    """Why a workload may be preempted, in Kueue's terms."""

    IN_QUEUE = "InClusterQueue"
    RECLAMATION = "InCohortReclamation"
    WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
    FAIR_SHARING = "InCohortFairSharing"


class Target(msgspec.Struct, frozen=True, gc=False):
    """A workload to preempt, with the reason that permits it."""

    workload: Workload
    why: PreemptionReason


class TargetSearch(msgspec.Struct, frozen=True):
    """The targets of a search, in Kueue's order; there are none if the search failed."""

    targets: tuple[Target, ...] = ()
    taken: tuple[Target, ...] = ()
    """The workloads that were removed, in this order, until the pending workload fit."""
    put_back: tuple[Workload, ...] = ()
    """The removed workloads that proved unnecessary, in the order in which they were put back."""
    borrowing: bool = False
    """Whether the pending workload may borrow then. Otherwise it has to fit in its queue's own quota."""


NO_TARGETS = TargetSearch()


class TargetRemoval:
    """Removes workloads, in order, until the pending workload fits.

    No workload frees more quota than it holds. So the fit is not checked again before the missing amount has been
    removed.
    """

    def __init__(self, attempt: QuotaAttempt, lacks: Callable[[], MissingQuota | None]) -> None:
        self._attempt, self._lacks = attempt, lacks
        self._lack: MissingQuota | None = None
        self.targets: list[Target] = []

    def take(self, target: Target) -> bool:
        """Take a workload as target, and return whether the pending workload fits then."""
        self._attempt.take(target.workload)
        self.targets.append(target)
        if self._lack is not None:
            of, amount = self._lack
            amount -= target.workload.usage.get(of, 0)
            if amount > 0:
                self._lack = of, amount
                return False
        self._lack = self._lacks()
        return self._lack is None


def fill_back(attempt: QuotaAttempt, taken: Sequence[Target], *, borrowing: bool) -> TargetSearch:
    """Return the targets that really have to be preempted, out of those taken to make the pending workload fit.

    Afterwards, only these targets are removed from ``attempt``. All but the last are tried in turn, the latest first.
    The last of all takes the place of a workload that is put back. Source: pkg/scheduler/preemption, fillBackWorkloads.
    """
    targets, put_back = list(taken), []
    needed: set[Hashable] = set()
    for place in reversed(range(len(targets) - 1)):
        one = targets[place].workload
        if (usage := usage_key(one)) in needed:
            continue  # no more quota is free now than when an equal workload was tried
        attempt.put_back(one)
        if attempt.lacks(borrowing=borrowing) is None:
            targets[place] = targets[-1]
            targets.pop()
            put_back.append(one)
        else:
            attempt.take(one)
            needed.add(usage)
    return TargetSearch(tuple(targets), tuple(taken), tuple(put_back), borrowing)


def usage_key(one: Workload) -> Hashable:
    """Return a key that is equal for workloads of one queue that hold, and thus free, the same amounts."""
    return one.queue, *one.usage.items()
