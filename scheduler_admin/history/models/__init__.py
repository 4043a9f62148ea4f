"""Passes, the journal of what they saw, decisions with their victims and what became of them, and sums over time."""

from scheduler_admin.history.models.decisions import Decision, DecisionQuerySet, Rewound, Step, Victim
from scheduler_admin.history.models.passes import JournalEntry, JournalSegment, Pass
from scheduler_admin.history.models.sums import LedgerEntry, Usage, Wait

__all__ = [
    "Decision",
    "DecisionQuerySet",
    "JournalEntry",
    "JournalSegment",
    "LedgerEntry",
    "Pass",
    "Rewound",
    "Step",
    "Usage",
    "Victim",
    "Wait",
]
