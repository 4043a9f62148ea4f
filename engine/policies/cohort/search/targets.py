"""What a search found: who goes, and why each; and those put back who need not."""

from collections.abc import Callable, Hashable, Sequence
from enum import StrEnum

import msgspec

from engine.model.quota import Workload
from engine.policies.cohort.search.quota_attempt import Lack, QuotaAttempt


class PreemptionReason(StrEnum):
    """Why a workload may go; Kueue's words."""

    IN_QUEUE = "InClusterQueue"
    RECLAMATION = "InCohortReclamation"
    WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
    FAIR_SHARING = "InCohortFairSharing"


class Target(msgspec.Struct, frozen=True, gc=False):
    """A workload that goes."""

    workload: Workload
    why: PreemptionReason


class TargetSearch(msgspec.Struct, frozen=True):
    """Who goes, in the order that Kueue has them in; nobody: it is in vain."""

    targets: tuple[Target, ...] = ()
    taken: tuple[Target, ...] = ()
    """Who was taken until there was room, one after the other."""
    put_back: tuple[Workload, ...] = ()
    """Those of them who turned out not to be needed, in the order in which that was found."""
    borrowing: bool = False
    """Whether the ask may borrow then. Otherwise it has to fit into its queue's own quota."""


NOBODY = TargetSearch()


class TargetRemoval:
    """Takes one workload after the other, until there is room.

    None makes more room than it holds. So there is no need to look before as much has gone as was lacking.
    """

    def __init__(self, question: QuotaAttempt, lacks: Callable[[], Lack | None]) -> None:
        self._question, self._lacks = question, lacks
        self._lack: Lack | None = None
        self.targets: list[Target] = []

    def take(self, target: Target) -> bool:
        """Take it. Whether there is room then."""
        self._question.take(target.workload)
        self.targets.append(target)
        if self._lack is not None:
            of, amount = self._lack
            amount -= target.workload.usage.get(of, 0)
            if amount > 0:
                self._lack = of, amount
                return False
        self._lack = self._lacks()
        return self._lack is None


def settled(question: QuotaAttempt, taken: Sequence[Target], *, borrowing: bool) -> TargetSearch:
    """Those of the taken, with whom there is room, who really have to go. Leaves the question without them alone.

    All but the last are tried in turn, the latest first; the place of one that may stay is taken by the last of all.
    Source: pkg/scheduler/preemption, fillBackWorkloads.
    """
    targets, put_back = list(taken), []
    needed: set[Hashable] = set()
    for place in reversed(range(len(targets) - 1)):
        one = targets[place].workload
        if (likes := alike(one)) in needed:
            continue  # there is no more room now than when one like it was tried
        question.put_back(one)
        if question.lacks(borrowing=borrowing) is None:
            targets[place] = targets[-1]
            targets.pop()
            put_back.append(one)
        else:
            question.take(one)
            needed.add(likes)
    return TargetSearch(tuple(targets), tuple(taken), tuple(put_back), borrowing)


def alike(one: Workload) -> Hashable:
    """The same for workloads whose going makes the same room: of one queue, that hold as much."""
    return one.queue, *one.usage.items()
