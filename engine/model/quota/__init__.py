"""Quota that queues of a cohort lend each other, as in Kueue: what each queue holds, and what it may reclaim."""

from engine.model.objects import (
    BorrowWithinCohort,
    ClusterQueue,
    Cohort,
    Flavor,
    FlavorQuota,
    FlavorResource,
    Fungibility,
    PodSet,
    Preemption,
    Quantities,
    QuotaCluster,
    ResourceGroup,
    Workload,
)
from engine.model.queue_tree import Take
from engine.model.quota.fair_shares import NO_SHARE, BorrowedShare, lendable, share_of
from engine.model.quota.queue_status import FlavorStatus, QuotaStatus, ShareParts, quota_statuses
from engine.model.quota.quota_tree import QuotaError, QuotaTree
from engine.model.quota.quota_usage import QuotaUsage
from engine.model.quota.share_ranks import NO_RANK, Rank, Ranks

__all__ = [
    "NO_RANK",
    "NO_SHARE",
    "BorrowWithinCohort",
    "BorrowedShare",
    "ClusterQueue",
    "Cohort",
    "Flavor",
    "FlavorQuota",
    "FlavorResource",
    "FlavorStatus",
    "Fungibility",
    "PodSet",
    "Preemption",
    "Quantities",
    "QuotaCluster",
    "QuotaError",
    "QuotaStatus",
    "QuotaTree",
    "QuotaUsage",
    "Rank",
    "Ranks",
    "ResourceGroup",
    "ShareParts",
    "Take",
    "Workload",
    "lendable",
    "quota_statuses",
    "share_of",
]
