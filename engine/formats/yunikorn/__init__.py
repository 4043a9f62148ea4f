"""YuniKorn's queues.yaml <-> QueueTree. What our model has no field for is kept and written back."""

from engine.formats.yunikorn.read import Imported, Partition, read
from engine.formats.yunikorn.write import write
from engine.model.notes import ImportFailure, Note, Severity

__all__ = ["ImportFailure", "Imported", "Note", "Partition", "Severity", "read", "write"]
