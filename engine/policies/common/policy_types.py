"""The types of what a policy consists of: how it decides and compares queues, and how its decisions are analyzed."""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from fractions import Fraction
from typing import Any

import msgspec

from engine.model.decision import Decision, Outcome
from engine.model.objects import Pod
from engine.model.pending_reasons import Tier
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot

Decide = Callable[[Snapshot, QueueTree, Pod], Decision]
"""Decides for one pending pod of a snapshot under a tree."""
MAKES_ROOM = (Outcome.FITS, Outcome.PREEMPT)
"""The outcomes with which a pending pod gets room."""


class PolicyTiers(msgspec.Struct, frozen=True, kw_only=True):
    """The tiers by which a policy, with a revision's parameters, explains why a pod is pending."""

    judge: Callable[[Snapshot, QueueTree, Pod], Iterable[Tier]]
    """Return every tier, without remedies; each may be worked out only when it is asked for."""
    gets_room: Callable[[Snapshot, QueueTree, Pod], bool]
    """Return whether there is room, or the policy makes some, once every delay and grace period is over."""
    ranks: bool
    """Whether a higher priority may get room."""
    quick: bool
    """Whether nodes are examined fast enough to find the least amount that helps there by trying many."""


TiersBy = Callable[[Mapping[str, Any]], PolicyTiers]
"""Return the tiers for a revision's parameters. Raises msgspec.ValidationError for parameters that the policy lacks."""


def room_by(decide: Decide) -> Callable[[Snapshot, QueueTree, Pod], bool]:
    """Return a function that says whether a pending pod gets room by a decision."""

    def gets_room(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> bool:
        return decide(snapshot, tree, ask).outcome in MAKES_ROOM

    return gets_room


class ShareBasis(StrEnum):
    """What a share counts."""

    BORROWED = "borrowed"
    """What the queue borrows of what its cohort could lend, in thousandths."""
    USED = "used"
    """What the queue uses of the cluster, as a fraction: its dominant share."""


class QueueShare(msgspec.Struct, frozen=True, kw_only=True):
    """The share of a queue, for the resource of which it is largest, divided by the queue's weight."""

    basis: ShareBasis
    value: str
    """The share divided by the weight: ``187.5``, ``0.25``; ``+Inf`` for a queue that borrows with a weight of 0."""
    weight: str
    resource: str = ""
    """The resource of which the share is largest; empty: the queue counts nothing, or nothing that could be lent."""
    amount: int = 0
    """What is counted of that resource, in its integer units."""
    whole: int = 0
    """What that is a part of."""
    borrows: bool = False
    """Whether the queue borrows anything, even if nothing of that can be lent."""


def write_fraction(number: Fraction) -> str:
    """Return a fraction as an integer, or with the decimal places of a float."""
    return str(number.numerator) if number.denominator == 1 else repr(float(number))
