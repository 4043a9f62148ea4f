"""The border between the pending pods of one leaf and the pods of another leaf, and the effect of fences on it."""

from collections.abc import Callable, Hashable
from enum import StrEnum

import msgspec

from engine.model.queue_tree import QueueTree


class BorderReason(StrEnum):
    """Why a border is open or closed; each reason is about one queue."""

    SAME_FENCE = "same-fence"
    """Open: the preemptor's fence contains the victim as well."""
    NO_FENCE = "no-fence"
    """Open: the preemptor has no fence. The queue is the victim's fence, which lets it in; empty if it has none."""
    SAME_QUEUE = "same-queue"
    FENCE = "fence"
    """The preemptor's fence does not contain the victim."""
    LEAF_FENCE = "leaf-fence"
    """The preemptor's leaf is a fence itself."""
    DISABLED = "disabled"
    """The queue turns preemption off for the preemptor or the victim."""
    NO_GUARANTEE = "no-guarantee"
    """Nothing is guaranteed to the preemptor, or above it, that its max lets it have."""
    SHARED_GUARANTEE = "shared-guarantee"
    """All that the preemptor could claim is promised to a queue that contains the victim as well."""
    PRIORITY_FENCE = "priority-fence"
    """The victim's priority fence ranks above every priority that the preemptor's own fence permits."""
    OVER_MAX = "over-max"
    """The queue's max has no room for a pending pod beside what is guaranteed to the victim."""

    LOWER_PRIORITY = "lower-priority"
    """Open: only the priorities of the pods count."""

    OVERUSED = "overused"
    """Open while the queue, which is the victim or a queue around the victim alone, uses more than it deserves."""
    RELATED = "related"
    """Open while the victim uses more than it deserves. The queue contains both; inside it queues give first."""

    OWN_QUEUE = "own-queue"
    """Open: the leaf's pending pods may preempt in the leaf itself."""
    SAME_COHORT = "same-cohort"
    """Open: the queue is the nearest cohort that contains both, in which borrowed quota is reclaimed."""
    NO_BORROWING = "no-borrowing"
    """Open only if the queue uses more than the tree allows, as its max leaves it nothing to borrow."""
    COHORT_BORDER = "cohort-border"
    """The queue is a fence that contains only one of them: nothing is lent or taken across it in either direction."""
    TAKES_WITHIN_NEVER = "takes-within-never"
    """The preemptor's settings do not let it preempt in its own queue."""
    TAKES_NEVER = "takes-never"
    """The preemptor's settings do not let it preempt in other queues."""
    NO_QUOTA = "no-quota"
    """The preemptor has no quota below the queue, which contains both, and may not preempt while it borrows."""


OPEN = frozenset(
    {
        BorderReason.SAME_FENCE,
        BorderReason.NO_FENCE,
        BorderReason.LOWER_PRIORITY,
        BorderReason.OVERUSED,
        BorderReason.RELATED,
        BorderReason.OWN_QUEUE,
        BorderReason.SAME_COHORT,
        BorderReason.NO_BORROWING,
    }
)
"""The reasons of borders that let preemption through."""


CLAIMS = frozenset({BorderReason.NO_GUARANTEE, BorderReason.SHARED_GUARANTEE})
"""Reasons that close a border to ordinary pending pods only: a DaemonSet's pending pods claim no guarantee."""


class Border(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The border between the pending pods of one leaf and the pods of another leaf."""

    preemptor: str
    victim: str
    reason: BorderReason
    queue: str
    """The path of the queue that the reason is about; empty if there is none."""

    @property
    def allowed(self) -> bool:
        """Return whether preemption may go through the border."""
        return self.reason in OPEN


class Fences(StrEnum):
    """The effect that a fence has."""

    ONE_WAY = "one-way"
    """A fence lets nothing out, but it lets others in."""
    BOTH_WAYS = "both-ways"
    """A fence lets nothing through in either direction."""
    NONE = "none"
    """A fence is ignored."""


class Promise(StrEnum):
    """What a queue is promised: beyond it, its pods can be evicted for others."""

    GUARANTEE = "guarantee"
    """Its guarantee."""
    SHARE = "share"
    """Its deserved share of the cluster."""
    QUOTA = "quota"
    """Its quota within a cohort."""
    NOTHING = "nothing"
    """Nothing: only priorities count."""


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """Which queues may preempt which under a policy, as far as the tree alone determines it.

    What is closed never lets a victim be evicted.
    """

    policy: str
    border: Callable[[QueueTree, str, str], Border]
    """Returns the border from the preemptor to the victim, both given as paths of leaves, which may be the same."""
    kind: Callable[[QueueTree, str], Hashable]
    """Returns all that borders depend on of a leaf's own settings: leaves of one parent that have the same are alike.

    Their borders to and from any other leaf are the same but for their names.
    """
    fences: Fences
    promise: Promise
    within: bool = False
    """Whether a leaf may be open to its own pending pods."""

    def open_to_itself(self, tree: QueueTree, path: str) -> bool:
        """Return whether pending pods of a queue, which must be a leaf for that, may preempt in the queue itself."""
        return self.within and tree.is_leaf(path) and self.border(tree, path, path).allowed
