"""Trees and policies held against each other: on one moment, or on a stretch of recorded time that is run again."""

from engine.planning.comparison.moments import at_moment
from engine.planning.comparison.recording import EmptyRecordError, Recording, looks, record
from engine.planning.comparison.replaying import replayed
from engine.planning.comparison.results import WHOLE, Figures, Point, Waits
from engine.planning.comparison.sides import Side

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
