"""Who really has to go of those that were taken."""

from engine.policies.cohort import Target, TargetSearch
from tests.engine.plain_cohort.ground import Question

NOBODY = TargetSearch()


def settled(question: Question, taken: list[Target], *, borrowing: bool) -> TargetSearch:
    """Those of the taken, with whom there is room, who really have to go. Leaves the ground as if nobody had gone.

    All but the last are tried in turn, the latest first; the place of one that may stay is taken by the last of all.
    Source: pkg/scheduler/preemption, fillBackWorkloads.
    """
    targets = list(taken)
    put_back = []
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
    return TargetSearch(tuple(targets), tuple(taken), tuple(put_back), borrowing)
