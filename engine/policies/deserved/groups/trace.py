"""The record of a decision of policy ``deserved`` for which whole groups, or the nodes of a gang, were looked at."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from engine.model.columns.node_columns import Rows
from engine.model.decision import PodFacts, PodReason, PodVerdict, Trace
from engine.policies.common.groups.units import unit_facts
from engine.policies.deserved.groups.search import ReclaimPlan
from engine.policies.deserved.groups.terms import MemberTerms
from engine.policies.deserved.trace import figures

_IN_FULL = 100
"""The number of pods that a trace names one by one."""


def verdicts(plan: ReclaimPlan) -> tuple[PodVerdict, ...]:
    """Return the pods that are evicted, unit by unit, in the order in which they were taken."""
    return tuple(
        PodVerdict(
            pod=PodFacts.of(pod),
            reason=PodReason.LOWER_PRIORITY if unit.lead in plan.outranked else PodReason.OVER_DESERVED,
            detail=pod.queue or "",
        )
        for unit in plan.units
        for pod in unit.victims
    )


def trace_of(each: Sequence[MemberTerms], plan: ReclaimPlan | None = None, *, coming: bool) -> Trace:
    """Return the trace of a decision.

    ``each``: the terms of the members, the first one's first. ``coming``: whether the victims are evicted.
    """
    first = each[0]
    attempt, snapshot = first.attempt, first.attempt.snapshot
    victims = [pod for unit in plan.units for pod in unit.victims] if plan else []
    spared = spared_rows(each, plan) if plan and coming else np.zeros(0, np.intp)
    evicted = [row for unit in plan.units for row in unit.rows] if plan and coming else []
    may_go = np.any([terms.units.may_go for terms in each], axis=0)
    whole = partial(unit_facts, snapshot, first.units.units, may_go=may_go)
    named = [snapshot.columns.pods[row] for row in spared[:_IN_FULL].tolist()]
    return Trace(
        fence=attempt.tree.fence(attempt.leaf) or "",
        queues=attempt.nodes.usage.figures(attempt.leaf, attempt.requests, victims if coming else ()),
        deserved=figures(attempt, victims, coming=coming),
        reprieved=tuple(PodVerdict(pod=PodFacts.of(pod), reason=PodReason.NOT_NEEDED) for pod in named),
        candidates=int(np.count_nonzero(may_go)),
        excluded_counts={str(reason): count for reason, count in first.units.excluded().items()},
        units=(*whole(evicted, evicted=True), *whole(spared.tolist(), evicted=False)),
    )


def spared_rows(each: Sequence[MemberTerms], plan: ReclaimPlan) -> Rows:
    """Return the pods (rows) that may be evicted, but stay, on the nodes of the pods that get one, or with units there.

    They are in the order of units, the first to go first.
    """
    places = dict.fromkeys(place for _pod, place in plan.placed)
    evicted = {unit.lead for unit in plan.units}
    rows = {
        row: None for terms in each for unit in terms.units.on(places) if unit.lead not in evicted for row in unit.rows
    }
    return np.array(list(rows), np.intp)
