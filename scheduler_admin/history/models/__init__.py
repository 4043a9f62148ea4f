"""Passes, the journal of what they saw, saved snapshots, decisions, what became of their victims, and sums."""

from scheduler_admin.history.models.decisions import Decision, DecisionQuerySet, Rewound, Step, Victim
from scheduler_admin.history.models.happenings import Happening, HappeningQuerySet, Turn
from scheduler_admin.history.models.mentions import Mention
from scheduler_admin.history.models.passes import JournalEntry, JournalSegment, Pass
from scheduler_admin.history.models.snapshots import SavedSnapshot
from scheduler_admin.history.models.sums import LedgerEntry, Usage, Wait

__all__ = [
    "Decision",
    "DecisionQuerySet",
    "Happening",
    "HappeningQuerySet",
    "JournalEntry",
    "JournalSegment",
    "LedgerEntry",
    "Mention",
    "Pass",
    "Rewound",
    "SavedSnapshot",
    "Step",
    "Turn",
    "Usage",
    "Victim",
    "Wait",
]
