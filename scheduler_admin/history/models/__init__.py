"""Passes and the journal, snapshots and filters that were saved, decisions, what became of their victims, and sums."""

from scheduler_admin.history.models.counts import Tally
from scheduler_admin.history.models.decisions import Decision, DecisionQuerySet, Rewound, Step, Victim
from scheduler_admin.history.models.happenings import Happening, HappeningQuerySet, Turn
from scheduler_admin.history.models.last import LastPreemption
from scheduler_admin.history.models.ledger import LedgerEntry
from scheduler_admin.history.models.mentions import Mention
from scheduler_admin.history.models.nodes import NodePods, NodePodsQuerySet
from scheduler_admin.history.models.passes import JournalEntry, JournalSegment, Pass
from scheduler_admin.history.models.saved_filters import SavedFilter
from scheduler_admin.history.models.snapshots import SavedSnapshot
from scheduler_admin.history.models.usage import Usage, UsageSample
from scheduler_admin.history.models.waits import Wait

__all__ = [
    "Decision",
    "DecisionQuerySet",
    "Happening",
    "HappeningQuerySet",
    "JournalEntry",
    "JournalSegment",
    "LastPreemption",
    "LedgerEntry",
    "Mention",
    "NodePods",
    "NodePodsQuerySet",
    "Pass",
    "Rewound",
    "SavedFilter",
    "SavedSnapshot",
    "Step",
    "Tally",
    "Turn",
    "Usage",
    "UsageSample",
    "Victim",
    "Wait",
]
