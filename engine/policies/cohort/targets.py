"""What a search found: who goes, and why each; and those put back who need not."""

from enum import StrEnum

import msgspec

from engine.policies.cohort.ground import Question
from engine.quota import Workload


class Why(StrEnum):
    """Why a workload may go; Kueue's words."""

    IN_QUEUE = "InClusterQueue"
    RECLAMATION = "InCohortReclamation"
    WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
    FAIR_SHARING = "InCohortFairSharing"


class Target(msgspec.Struct, frozen=True):
    """A workload that goes."""

    workload: Workload
    why: Why


class Search(msgspec.Struct, frozen=True):
    """Who goes, in the order that Kueue has them in; nobody: it is in vain."""

    targets: tuple[Target, ...] = ()
    taken: tuple[Target, ...] = ()
    """Who was taken until there was room, one after the other."""
    put_back: tuple[Workload, ...] = ()
    """Those of them who turned out not to be needed, in the order in which that was found."""
    borrowing: bool = False
    """Whether the ask may borrow then. Otherwise it has to fit into its queue's own quota."""


NOBODY = Search()


def settled(question: Question, taken: list[Target], *, borrowing: bool) -> Search:
    """Those of the taken, with whom there is room, who really have to go. Leaves the ground as if nobody had gone.

    All but the last are tried in turn, the latest first; the place of one that may stay is taken by the last of all.
    Source: pkg/scheduler/preemption, fillBackWorkloads.
    """
    targets = list(taken)
    put_back: list[Workload] = []
    for place in reversed(range(len(targets) - 1)):
        one = targets[place].workload
        question.ground.put_back(one)
        if question.fits(borrowing=borrowing):
            targets[place] = targets[-1]
            targets.pop()
            put_back.append(one)
        else:
            question.ground.take(one)
    for target in targets:
        question.ground.put_back(target.workload)
    return Search(tuple(targets), tuple(taken), tuple(put_back), borrowing)
