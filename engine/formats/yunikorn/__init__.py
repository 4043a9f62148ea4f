"""Conversion between YuniKorn's queues.yaml and a QueueTree; fields without a counterpart here are kept."""

from engine.formats.yunikorn.read import Partition, YuniKornDocument, read
from engine.formats.yunikorn.write import write
from engine.model.notes import ImportFailure, Note, Severity

__all__ = ["ImportFailure", "Note", "Partition", "Severity", "YuniKornDocument", "read", "write"]
