"""What is worked out of the moments of one pass: each from the first, in which little has changed since."""

from engine.model.quota import QuotaCluster
from engine.model.quota.pod_workloads import Gathered
from engine.policies.cohort.search.quota_index import QuotaIndex


def ground_of(at: Gathered) -> QuotaIndex:
    """Once those on their way out are gone."""
    if at.left:
        return QuotaIndex.of(at.cluster)
    return at.cluster.once("ground", lambda: QuotaIndex.of(at.all).changed(at.gone, at.kept))


def with_leaving(at: Gathered) -> QuotaCluster:
    """While they are still there."""
    at.with_leaving.once("ground", lambda: QuotaIndex.of(at.all).changed((), at.kept))
    return at.with_leaving
