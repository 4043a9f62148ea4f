"""Trees and policies held against each other: on one moment, or on a stretch of recorded time that is run again."""

from engine.planning.comparison.moments import at_moment
from engine.planning.comparison.recording import EmptyRecordError, Recording, looks, record
from engine.planning.comparison.replaying import replayed
from engine.planning.comparison.results import WHOLE, CoursePoint, SideFigures, Waits
from engine.planning.comparison.sides import ComparedSide

__all__ = [
    "WHOLE",
    "ComparedSide",
    "CoursePoint",
    "EmptyRecordError",
    "Recording",
    "SideFigures",
    "Waits",
    "at_moment",
    "looks",
    "record",
    "replayed",
]
