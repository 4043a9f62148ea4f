"""Quota that queues of a cohort lend each other, as Kueue has it: who holds what of it, and who may take it back."""

from engine.model.objects import (
    BorrowWithinCohort,
    ClusterQueue,
    Cohort,
    Flavor,
    FlavorResource,
    Fungibility,
    PodSet,
    Preemption,
    Quantities,
    Quota,
    QuotaCluster,
    ResourceGroup,
    Workload,
)
from engine.model.queue_tree import Take
from engine.model.quota.fair_shares import NO_SHARE, Share, lendable, share_of
from engine.model.quota.queue_status import Line, ShareParts, Standing, standings
from engine.model.quota.quota_tree import QuotaError, QuotaTree
from engine.model.quota.quota_usage import Usage
from engine.model.quota.share_ranks import NO_RANK, Rank, Ranks

__all__ = [
    "NO_RANK",
    "NO_SHARE",
    "BorrowWithinCohort",
    "ClusterQueue",
    "Cohort",
    "Flavor",
    "FlavorResource",
    "Fungibility",
    "Line",
    "PodSet",
    "Preemption",
    "Quantities",
    "Quota",
    "QuotaCluster",
    "QuotaError",
    "QuotaTree",
    "Rank",
    "Ranks",
    "ResourceGroup",
    "Share",
    "ShareParts",
    "Standing",
    "Take",
    "Usage",
    "Workload",
    "lendable",
    "share_of",
    "standings",
]
