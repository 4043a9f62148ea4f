"""Reuses a pass's first quota index for its later snapshots, in which little has changed."""

from engine.model.quota import QuotaCluster
from engine.model.quota.pod_workloads import GroupedWorkloads
from engine.policies.cohort.search.quota_index import QuotaIndex


def quota_index_of(at: GroupedWorkloads) -> QuotaIndex:
    """Return the quota index of the cluster once terminating pods have exited."""
    if at.left:
        return QuotaIndex.of(at.cluster)
    return at.cluster.once("quota index", lambda: QuotaIndex.of(at.all).changed(at.gone, at.kept))


def cluster_with_terminating(at: GroupedWorkloads) -> QuotaCluster:
    """Return the cluster in which terminating pods still hold their quota, with its quota index prepared."""
    at.with_leaving.once("quota index", lambda: QuotaIndex.of(at.all).changed((), at.kept))
    return at.with_leaving
