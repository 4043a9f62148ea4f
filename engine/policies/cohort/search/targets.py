"""Holds the result of a search: the workloads to preempt and the reason for each, and those that were reprieved."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import overload

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


class Targets(Sequence[Target]):
    """Workloads to preempt, of which there may be very many; each target is created when it is read."""

    def __init__(
        self, workloads: Sequence[Workload], rows: Sequence[int] = (), reasons: Sequence[PreemptionReason] = ()
    ) -> None:
        """Refer to ``rows`` of all ``workloads``, each with its reason."""
        self._workloads, self._rows, self.reasons = workloads, rows, reasons

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, position: int) -> Target: ...
    @overload
    def __getitem__(self, position: slice) -> "Targets": ...
    def __getitem__(self, position: int | slice) -> "Target | Targets":
        if isinstance(position, slice):
            return Targets(self._workloads, self._rows[position], self.reasons[position])
        return Target(self._workloads[self._rows[position]], self.reasons[position])

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Targets | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))


class TargetSearch(msgspec.Struct, frozen=True):
    """The targets of a search, in Kueue's order; there are none if the search failed."""

    targets: Sequence[Target] = ()
    taken: Sequence[Target] = ()
    """The workloads that were removed, in this order, until the pending workload fit."""
    put_back: tuple[Workload, ...] = ()
    """The removed workloads that proved unnecessary, in the order in which they were put back."""
    borrowing: bool = False
    """Whether the pending workload may borrow then. Otherwise it has to fit in its queue's own quota."""

    @property
    def reasons(self) -> Sequence[PreemptionReason]:
        """Return the reason for each of the targets."""
        targets = self.targets
        return targets.reasons if isinstance(targets, Targets) else [target.why for target in targets]


NO_TARGETS = TargetSearch()


class TargetRemoval:
    """Removes workloads, in order, until the pending workload fits.

    No workload frees more quota than it holds. So the fit is not checked again before the missing amount has been
    removed.
    """

    def __init__(self, attempt: QuotaAttempt, lacks: Callable[[], MissingQuota | None]) -> None:
        self._attempt, self._lacks = attempt, lacks
        self._lack: MissingQuota | None = None
        self.rows: list[int] = []
        """The workloads that were removed, as rows of the quota index."""
        self.reasons: list[PreemptionReason] = []

    def take(self, row: int, kind: int, why: PreemptionReason) -> bool:
        """Take a workload of a kind as target, and return whether the pending workload fits then."""
        self._attempt.take(kind)
        self.rows.append(row)
        self.reasons.append(why)
        if self._lack is not None:
            of, amount = self._lack
            amount -= self._attempt.quota_index.amounts[kind].get(of, 0)
            if amount > 0:
                self._lack = of, amount
                return False
        self._lack = self._lacks()
        return self._lack is None


def fill_back(
    attempt: QuotaAttempt, removed: Sequence[int], reasons: Sequence[PreemptionReason], *, borrowing: bool
) -> TargetSearch:
    """Return the targets that really have to be preempted, out of the rows removed to make the pending workload fit.

    Afterwards, only these targets are removed from ``attempt``. All but the last are tried in turn, the latest first.
    The last of all takes the place of a workload that is put back. Source: pkg/scheduler/preemption, fillBackWorkloads.
    """
    rows, why, put_back = list(removed), list(reasons), list[int]()
    needed: set[int] = set()
    for place, kind in reversed(list(enumerate(attempt.quota_index.kind[rows[:-1]].tolist()))):
        if kind in needed:
            continue  # no more quota is free now than when an equal workload was tried
        attempt.put_back(kind)
        if attempt.lacks(borrowing=borrowing) is None:
            put_back.append(rows[place])
            rows[place], why[place] = rows[-1], why[-1]
            del rows[-1], why[-1]
        else:
            attempt.take(kind)
            needed.add(kind)
    workloads = attempt.quota_index.workloads
    targets, taken = Targets(workloads, rows, why), Targets(workloads, removed, reasons)
    return TargetSearch(targets, taken, tuple(workloads[row] for row in put_back), borrowing)
