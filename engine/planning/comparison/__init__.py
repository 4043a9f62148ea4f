"""Compares trees and policies: at one moment, or over a stretch of recorded time that is run again."""

from engine.planning.comparison.compared_sides import ComparedSide
from engine.planning.comparison.figures import WHOLE, CoursePoint, SideFigures, Waits
from engine.planning.comparison.forecast_figures import at_moment
from engine.planning.comparison.recording import EmptyRecordError, Recording, record, step_count
from engine.planning.comparison.rerun import rerun_recording

__all__ = [
    "WHOLE",
    "ComparedSide",
    "CoursePoint",
    "EmptyRecordError",
    "Recording",
    "SideFigures",
    "Waits",
    "at_moment",
    "record",
    "rerun_recording",
    "step_count",
]
