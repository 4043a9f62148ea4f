"""The record of a decision about a group: its victims, and the pods and units that stay after all."""

from collections.abc import Collection, Iterable, Iterator

import numpy as np

from engine.model.columns.node_columns import Rows
from engine.model.decision import PodFacts, PodReason, PodVerdict, Trace, UnitFacts
from engine.model.objects import DisruptionMode
from engine.model.snapshot.eviction_units import pod_group_of
from engine.policies.priority.groups.attempt import GroupAttempt

NOBODY: Rows = np.zeros(0, np.intp)
_IN_FULL = 100
"""The number of pods, and of units, that a trace names one by one."""


def verdicts(attempt: GroupAttempt, leads: Iterable[int]) -> Iterator[PodVerdict]:
    """Yield the pods of the units (leads) that are evicted, each with the budget that its eviction exceeds."""
    for lead in leads:
        over = attempt.violating.get(lead, {})
        for row in attempt.units.rows(lead):
            pod = attempt.columns.pods[row]
            reason = PodReason.OVER_BUDGET if row in over else PodReason.LOWER_PRIORITY
            reason = PodReason.TERMINATING if pod.terminating else reason
            yield PodVerdict(pod=PodFacts.of(pod), reason=reason, detail=over.get(row, ""))


def spared_rows(attempt: GroupAttempt, places: Collection[int], victims: Collection[int]) -> Rows:
    """Return the pods (rows) of lower priority that stay on the nodes (places) of members, or go with units there.

    ``victims``: the units (leads) that are evicted.
    """
    columns, units = attempt.columns, attempt.units
    used = np.zeros(len(columns.nodes), np.bool_)
    used[list(places)] = True
    goes = np.zeros(len(columns.pods), np.bool_)
    goes[list(victims)] = True
    there: Rows = np.flatnonzero(attempt.lower & used[columns.node])
    return there[~goes[units.lead[there]]]


def trace_of(attempt: GroupAttempt, spared: Rows = NOBODY, victims: Collection[int] = ()) -> Trace:
    """Return the trace of a decision; ``spared``: the pods (rows) that stay; ``victims``: the units that go."""
    columns, units = attempt.columns, attempt.units
    named = spared[np.argsort(units.rank[units.lead[spared]], kind="stable")][:_IN_FULL].tolist()
    higher = int(np.count_nonzero(~attempt.lower))
    return Trace(
        reprieved=tuple(PodVerdict(pod=PodFacts.of(columns.pods[row]), reason=PodReason.NOT_NEEDED) for row in named),
        candidates=int(np.count_nonzero(attempt.lower)),
        excluded_counts={str(PodReason.HIGHER_PRIORITY): higher} if higher else {},
        units=(*_units(attempt, victims, evicted=True), *_units(attempt, _leads(attempt, spared), evicted=False)),
    )


def _leads(attempt: GroupAttempt, rows: Rows) -> list[int]:
    leads = np.unique(attempt.units.lead[rows])
    return [int(lead) for lead in leads[np.argsort(attempt.units.rank[leads])]]


def _units(attempt: GroupAttempt, leads: Iterable[int], *, evicted: bool) -> Iterator[UnitFacts]:
    """Yield the groups among some units that are evicted whole or stay whole."""
    grouped = attempt.units.grouped
    whole = (lead for lead in leads if grouped[lead] and _is_whole_group(attempt, lead))
    for _, lead in zip(range(_IN_FULL), whole, strict=False):
        pod = attempt.columns.pods[lead]
        yield UnitFacts(
            group=f"{pod.namespace}/{pod.scheduling_group}",
            priority=int(attempt.units.priority[lead]),
            pods=tuple(attempt.columns.pods[row].uid for row in attempt.units.rows(lead)),
            evicted=evicted,
            violations=len(attempt.violating.get(lead, ())),
        )


def _is_whole_group(attempt: GroupAttempt, lead: int) -> bool:
    group = pod_group_of(attempt.snapshot, attempt.columns.pods[lead])
    return group is not None and group.disruption_mode is DisruptionMode.ALL
