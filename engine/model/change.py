"""What could be otherwise about an ask, a victim or a queue, and how far it could."""

from enum import StrEnum


class Change(StrEnum):
    """What would have to be otherwise."""

    REQUEST = "request"
    PRIORITY = "priority"
    BUDGET = "budget"
    MAY_PREEMPT = "may-preempt"
    OWN_REQUEST = "own-request"
    """The victim's, where ``request`` is the ask's."""
    START = "start"
    GUARANTEE = "guarantee"
    LESS_GUARANTEED = "less-guaranteed"
    """Of the queue that victims are of, where ``guarantee`` is the ask's own."""
    WEIGHT = "weight"
    MAX = "max"
    HARD = "hard"
    """A max under policy ``deserved``."""
    RESERVED = "reserved"
    """A guarantee under policy ``deserved``."""
    FENCE = "fence"
