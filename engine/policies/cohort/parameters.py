"""The parameters of policies ``cohort`` and ``fair-share``, and how they read a tree."""

from typing import Literal

import msgspec

from engine.model.quota import BorrowWithinCohort, Preemption, Take
from engine.model.quota.tree_reading import QuotaReading


class _Common(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    guarantees: Literal["nested", "kueue"] = "nested"
    "Whether a parent's guarantee includes its children's guarantees or is added to them, as in Kueue."
    within_queue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = "LowerPriority"
    """Whom in their own queue asks may preempt, of queues that say nothing."""
    reclaim: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any"] = "Any"
    """Whom in other queues that borrow."""


class Parameters(_Common, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a revision may set for policy ``cohort``."""

    while_borrowing: bool = False
    """Whether asks may take from other queues, at lower priority, while their own borrows."""


class FairParameters(_Common, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a revision may set for policy ``fair-share``."""

    strategies: Literal["both", "final", "initial"] = "both"
    """When a share allows to take: by the share afterwards, by the one before, or first by this and then by that."""


def reading_of(parameters: Parameters | FairParameters) -> QuotaReading:
    """Return how the parameters read a tree as quota."""
    allowed = isinstance(parameters, Parameters) and parameters.while_borrowing
    return QuotaReading(
        nested=parameters.guarantees == "nested",
        preemption=Preemption(
            within=Take(parameters.within_queue),
            reclaim=Take(parameters.reclaim),
            borrow=BorrowWithinCohort(allowed=allowed),
        ),
    )
