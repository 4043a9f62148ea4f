"""The kinds of changes to a pending pod, a victim or a queue with which a decision would have been different."""

from enum import StrEnum


class Change(StrEnum):
    """What would have to change for a decision to be different."""

    REQUEST = "request"
    PRIORITY = "priority"
    BUDGET = "budget"
    MAY_PREEMPT = "may-preempt"
    MEMBERS = "members"
    """A smaller number of pods that must run at once, for a pending group."""
    GROUP_REQUEST = "group-request"
    """The request of each of a pending group's pods."""
    GROUP_PRIORITY = "group-priority"
    """The priority of a victim's group."""
    OWN_REQUEST = "own-request"
    """The victim's request; ``request`` is that of the pending pod."""
    START = "start"
    GUARANTEE = "guarantee"
    LESS_GUARANTEED = "less-guaranteed"
    """A lower guarantee of the victims' queue; ``guarantee`` is that of the pending pod's own queue."""
    WEIGHT = "weight"
    MAX = "max"
    HARD = "hard"
    """A max under policy ``deserved``."""
    RESERVED = "reserved"
    """A guarantee under policy ``deserved``."""
    FENCE = "fence"
