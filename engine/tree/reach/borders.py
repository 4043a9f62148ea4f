"""What lies between the asks of one leaf and the pods of another, and what a fence does to it."""

from collections.abc import Callable
from enum import StrEnum

import msgspec

from engine.model.queue_tree import QueueTree


class BorderReason(StrEnum):
    """Why a border is open or shut, each about one queue."""

    SAME_FENCE = "same-fence"
    """Open: the asker's fence holds the victim as well."""
    NO_FENCE = "no-fence"
    """Open: the asker has no fence. The queue is the victim's fence, which lets it in; empty if it has none."""
    SAME_QUEUE = "same-queue"
    FENCE = "fence"
    """The asker's fence does not hold the victim."""
    LEAF_FENCE = "leaf-fence"
    """The asker is a fence of its own."""
    DISABLED = "disabled"
    """The queue turns preemption off for the asker or the victim."""
    NO_GUARANTEE = "no-guarantee"
    """Nothing is guaranteed to the asker or above it of which its max leaves it anything."""
    SHARED_GUARANTEE = "shared-guarantee"
    """Whatever the asker could claim is promised to a queue that holds the victim as well."""
    PRIORITY_FENCE = "priority-fence"
    """The victim's priority fence ranks above all that the asker's own one lets it say."""
    OVER_MAX = "over-max"
    """The queue's max has no room for an ask beside what is guaranteed to the victim."""

    LOWER_PRIORITY = "lower-priority"
    """Open: nothing but the pods' priorities counts."""

    OVERUSED = "overused"
    """Open: as long as the queue, which is the victim or an area around it alone, uses more than it deserves."""
    RELATED = "related"
    """Open, likewise; the queue is the area that holds both, whose queues give to each other first."""

    OWN_QUEUE = "own-queue"
    """Open: the leaf's asks may take from the leaf itself."""
    SAME_COHORT = "same-cohort"
    """Open: the queue is the nearest cohort that holds both, in which what is borrowed is taken back."""
    NO_BORROWING = "no-borrowing"
    """Open only beyond what the tree allows: the queue's max leaves it nothing to borrow."""
    COHORT_BORDER = "cohort-border"
    """The queue is a fence that holds only one of them: nothing is lent or taken across, either way."""
    TAKES_WITHIN_NEVER = "takes-within-never"
    """The asker's settings let it take nothing from itself."""
    TAKES_NEVER = "takes-never"
    """The asker's settings let it take nothing from others."""
    NO_QUOTA = "no-quota"
    """The asker has no quota below the queue, which holds both, and may not preempt while it borrows."""


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
"""Reasons that shut a border to ordinary asks alone: a DaemonSet's claims nothing."""


class Border(msgspec.Struct, frozen=True, kw_only=True):
    """What lies between the asks of one leaf and the pods of another."""

    asker: str
    victim: str
    reason: BorderReason
    queue: str
    """The path of the queue that the reason is about; empty where there is none."""

    @property
    def allowed(self) -> bool:
        """Whether preemption may go through."""
        return self.reason in OPEN


class Fences(StrEnum):
    """What a fence does."""

    ONE_WAY = "one-way"
    """It lets nothing out, and others in."""
    BOTH_WAYS = "both-ways"
    """It lets nothing through, either way."""
    NONE = "none"
    """Nothing: it is not looked at."""


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """Who may preempt whom under a policy, as far as the tree alone tells. What is shut never lets a victim go."""

    policy: str
    border: Callable[[QueueTree, str, str], Border]
    """From the asker to the victim, both paths of leaves; they may be the same one."""
    fences: Fences
    within: bool = False
    """Whether a leaf may be open to its own asks."""

    def open_to_itself(self, tree: QueueTree, path: str) -> bool:
        """Whether asks of a queue, which has to be a leaf for that, may take from the queue itself."""
        return self.within and tree.is_leaf(path) and self.border(tree, path, path).allowed
