"""The types of what a policy consists of: how it decides, and how its decisions are analyzed."""

from collections.abc import Callable, Iterable, Mapping
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
