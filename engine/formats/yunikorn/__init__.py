"""YuniKorn's queues.yaml <-> QueueTree. What our model has no field for is kept and written back."""

from engine.formats.yunikorn.read import Partition, YuniKornDocument, read
from engine.formats.yunikorn.write import write
from engine.model.notes import ImportFailure, Note, Severity

__all__ = ["ImportFailure", "Note", "Partition", "Severity", "YuniKornDocument", "read", "write"]
