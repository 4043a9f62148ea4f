"""Policy ``fence``, dialect ``yunikorn``: what YuniKorn decides, its departures from its own design included."""

from engine.policies.yunikorn.books import Books
from engine.policies.yunikorn.effects import Effect, effects, quota_effects
from engine.policies.yunikorn.policy import DIALECT, Parameters, decide, reckoning
from engine.policies.yunikorn.quirks import ALL, Quirk, Quirks
from engine.policies.yunikorn.quota import Enforcement, enforce
from engine.policies.yunikorn.survey import Survey
from engine.policies.yunikorn.table import table_of

__all__ = [
    "ALL",
    "DIALECT",
    "Books",
    "Effect",
    "Enforcement",
    "Parameters",
    "Quirk",
    "Quirks",
    "Survey",
    "decide",
    "effects",
    "enforce",
    "quota_effects",
    "reckoning",
    "table_of",
]
