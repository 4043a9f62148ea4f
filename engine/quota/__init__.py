"""Quota that queues of a cohort lend each other, as Kueue has it: who holds what of it, and who may take it back."""

from engine.queues import Take
from engine.quota.ranks import NO_RANK, Rank, Ranks
from engine.quota.shares import NO_SHARE, Share, lendable, share_of
from engine.quota.standing import Line, ShareParts, Standing, standings
from engine.quota.tree import QuotaError, QuotaTree
from engine.quota.usage import Usage
from engine.snapshot import (
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
