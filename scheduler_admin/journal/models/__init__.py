"""Passes and what they saw, and the moments that somebody saved."""

from scheduler_admin.journal.models.passes import JournalEntry, JournalSegment, Pass
from scheduler_admin.journal.models.snapshots import SavedSnapshot

__all__ = ["JournalEntry", "JournalSegment", "Pass", "SavedSnapshot"]
