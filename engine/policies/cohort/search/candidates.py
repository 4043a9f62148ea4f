"""Finds the candidates that may be preempted for a pending workload, in order.

Source: Kueue's pkg/scheduler/preemption/common.
"""

from collections.abc import Sequence

import numpy as np

from engine.model.columns.node_columns import Rows
from engine.model.quota import FlavorResource, Quantities, QuotaCluster, Take, Workload
from engine.policies.cohort.search.quota_attempt import QuotaAttempt
from engine.policies.cohort.search.quota_index import QuotaIndex


def preemptable_rows(attempt: QuotaAttempt, nodes: Sequence[int] | Rows, take: Take) -> Rows:
    """Return the workloads of some queues that hold contested quota and that ``take`` permits to preempt.

    Queues are given by number. Within each queue, rows are in the order of preemption.

    Source: SatisfiesPreemptionPolicy of Kueue (preemption_policy.go).
    """
    if take is Take.NEVER or not len(nodes):
        return np.zeros(0, np.intp)
    index, ask = attempt.quota_index, attempt.ask
    rows = index.preemptable(nodes)
    permitted = index.holding(attempt.contested)[index.kind[rows]]
    if take is not Take.ANY:
        permitted &= index.priority[rows] < ask.priority + (take is Take.LOWER_OR_NEWER_EQUAL_PRIORITY)
    if take is Take.LOWER_OR_NEWER_EQUAL_PRIORITY:
        permitted &= (index.priority[rows] < ask.priority) | (index.turn_ms[rows] > ask.turn_ms)
    rows = rows[permitted]
    return rows[~np.isin(rows, index.named((ask.uid,), rows))]


def own_rows(attempt: QuotaAttempt) -> Rows:
    """Return the workloads that may be preempted in the pending workload's own queue, in the order of preemption."""
    return preemptable_rows(attempt, [attempt.node], attempt.queue.preemption.within)


def other_rows(attempt: QuotaAttempt, nodes: Sequence[int] | Rows) -> Rows:
    """Return the workloads that may be preempted in other queues, one queue after the other."""
    return preemptable_rows(attempt, nodes, attempt.queue.preemption.reclaim)


def preemption_candidates(
    cluster: QuotaCluster, ask: Workload, asked: Quantities, short: tuple[FlavorResource, ...]
) -> tuple[Workload, ...]:
    """Return the workloads that may be preempted for ``ask``, which is ``short`` of some of what it ``asked`` for."""
    attempt = QuotaAttempt(QuotaIndex.of(cluster), ask, asked, short)
    others = attempt.borrowers() & attempt.quota_index.queues_below(attempt.path[-1])
    others[attempt.node] = False
    rows = np.concatenate([own_rows(attempt), other_rows(attempt, np.flatnonzero(others))])
    order = rows[np.argsort(attempt.quota_index.node[rows], kind="stable")]  # by queue, the cluster's first queue first
    return tuple(attempt.quota_index.workloads[row] for row in order.tolist())
