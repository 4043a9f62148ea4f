"""The record of a decision for which whole groups were looked at: its victims, and what stays on the same nodes."""

from functools import partial

import numpy as np

from engine.model.columns.node_columns import Rows
from engine.model.decision import PodFacts, PodReason, PodVerdict, Trace
from engine.model.quantities import Amounts
from engine.policies.common.groups.units import unit_facts
from engine.policies.fence.groups.search import GangPlan
from engine.policies.fence.groups.units import CandidateUnits

_IN_FULL = 100
"""The number of pods that a trace names one by one."""


def verdicts(candidates: CandidateUnits, plan: GangPlan) -> tuple[PodVerdict, ...]:
    """Return the pods that are evicted, unit by unit."""
    pods = (candidates.attempt.columns.pods[row] for row in _victims(plan))
    return tuple(
        PodVerdict(
            pod=PodFacts.of(pod),
            reason=PodReason.LAST_RESORT if pod.opted_out else PodReason.OVER_GUARANTEE,
            detail=pod.queue or "",
        )
        for pod in pods
    )


def trace_of(candidates: CandidateUnits, requests: Amounts, plan: GangPlan | None = None) -> Trace:
    """Return the trace of a decision. ``requests``: those of all pods that get a node."""
    attempt, claim, victims = candidates.attempt, candidates.claim, _victims(plan) if plan else []
    evicted = [attempt.columns.pods[row] for row in victims]
    spared = spared_rows(candidates, plan) if plan else np.zeros(0, np.intp)
    named = [attempt.columns.pods[row] for row in spared[:_IN_FULL].tolist()]
    whole = partial(unit_facts, attempt.snapshot, candidates.units, may_go=candidates.may_go)
    return Trace(
        fence=claim.fence or "",
        entitling=claim.entitling,
        queues=attempt.usage.figures(attempt.leaf, requests, evicted),
        reprieved=tuple(PodVerdict(pod=PodFacts.of(pod), reason=PodReason.NOT_NEEDED) for pod in named),
        candidates=int(np.count_nonzero(candidates.may_go)),
        excluded_counts={str(reason): count for reason, count in sorted(candidates.excluded().items())},
        units=(*whole(victims, evicted=True), *whole(spared.tolist(), evicted=False)),
    )


def spared_rows(candidates: CandidateUnits, plan: GangPlan) -> Rows:
    """Return the pods (rows) that may be evicted, but stay, on the nodes of the pods that get one, or with units there.

    They are in the order of units, the most expendable first.
    """
    places = dict.fromkeys(place for _pod, place in plan.placed)
    evicted = {unit.lead for unit in plan.units}
    rows = [row for unit in candidates.on(places) if unit.lead not in evicted for row in unit.rows]
    return np.array(rows, np.intp)


def _victims(plan: GangPlan) -> list[int]:
    return [row for unit in plan.units for row in unit.rows]
