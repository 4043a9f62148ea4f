"""Checks that keep Kueue from considering a workload at all, regardless of the quota.

Source: Kueue's pkg/scheduler (nominate, validateResources) and pkg/cache/queue (cluster_queue.go, isAdmissible).
"""

from enum import StrEnum

import msgspec

from engine.feasibility.selectors import selects
from engine.model.quota import QuotaCluster, Workload


class Inadmissible(StrEnum):
    """Reasons for which a workload is not considered."""

    QUEUE_HELD = "queue-held"
    """Its ClusterQueue is stopped, or not active."""
    LOCAL_QUEUE_HELD = "local-queue-held"
    """Its LocalQueue is stopped."""
    NAMESPACE = "namespace"
    "Its ClusterQueue does not admit workloads from its namespace."
    BACK_OFF = "back-off"
    """It was evicted and is not retried yet."""
    PREEMPTION_GATE = "preemption-gate"
    """It is considered, but it would have to preempt other workloads while a gate of its preemption is closed."""


def inadmissible(cluster: QuotaCluster, ask: Workload) -> Inadmissible | None:
    """Return why a workload that waits in a queue of the cluster is not considered, or None if it is considered."""
    queue = cluster.queues[ask.queue]
    if not queue.active:
        return Inadmissible.QUEUE_HELD
    if (ask.namespace, ask.local_queue) in cluster.held:
        return Inadmissible.LOCAL_QUEUE_HELD
    if not _admits(cluster, ask):
        return Inadmissible.NAMESPACE
    waits = ask.waits_until_ms is not None and cluster.now_ms < ask.waits_until_ms
    return Inadmissible.BACK_OFF if waits or not ask.requeued else None


def _admits(cluster: QuotaCluster, ask: Workload) -> bool:
    """Return whether the workload's queue admits workloads of its namespace.

    A queue without a namespace selector admits none. If the labels of namespaces are unknown, every namespace passes.
    """
    wanted = cluster.queues[ask.queue].namespaces
    if wanted is None or cluster.namespaces is None:
        return wanted is not None
    return selects(wanted, cluster.namespaces.get(ask.namespace, {}))


def without_replaced(cluster: QuotaCluster, ask: Workload) -> QuotaCluster:
    """Return the cluster without the workload slice that ``ask`` replaces, whose quota passes to ``ask``.

    Source: Kueue's pkg/workloadslicing (ReplacedWorkloadSlice).
    """
    if not ask.replaces:
        return cluster
    others = tuple(one for one in cluster.workloads if one.key != ask.replaces)
    return msgspec.structs.replace(cluster, workloads=others)
