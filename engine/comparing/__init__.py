"""Trees and policies held against each other: on one moment, or on a stretch of recorded time that is run again."""

from engine.comparing.moments import at_moment
from engine.comparing.recording import EmptyRecordError, Recording, looks, record
from engine.comparing.replaying import replayed
from engine.comparing.results import WHOLE, Figures, Point, Waits
from engine.comparing.sides import Side

__all__ = [
    "WHOLE",
    "EmptyRecordError",
    "Figures",
    "Point",
    "Recording",
    "Side",
    "Waits",
    "at_moment",
    "looks",
    "record",
    "replayed",
]
