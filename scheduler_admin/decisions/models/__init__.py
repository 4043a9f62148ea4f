"""Decisions, what became of their victims, and what decisions are found by."""

from scheduler_admin.decisions.models.decisions import Decision, DecisionQuerySet, Rewound, Step, Victim
from scheduler_admin.decisions.models.events import Happening, HappeningQuerySet, Turn
from scheduler_admin.decisions.models.index import Mention
from scheduler_admin.decisions.models.latest import LastPreemption
from scheduler_admin.decisions.models.saved_filters import SavedFilter

__all__ = [
    "Decision",
    "DecisionQuerySet",
    "Happening",
    "HappeningQuerySet",
    "LastPreemption",
    "Mention",
    "Rewound",
    "SavedFilter",
    "Step",
    "Turn",
    "Victim",
]
