"""Policy ``fence``, dialect ``yunikorn``: what YuniKorn decides, its departures from its own design included."""

from engine.policies.yunikorn.books import QueueBalances
from engine.policies.yunikorn.effects import QuirkEffect, effects, quota_effects
from engine.policies.yunikorn.policy import DIALECT, Parameters, decide, reckoning
from engine.policies.yunikorn.quirks import ALL, Quirk, Quirks
from engine.policies.yunikorn.quota import Enforcement, enforce
from engine.policies.yunikorn.survey import NodeCandidates
from engine.policies.yunikorn.table import table_of

__all__ = [
    "ALL",
    "DIALECT",
    "Enforcement",
    "NodeCandidates",
    "Parameters",
    "QueueBalances",
    "Quirk",
    "QuirkEffect",
    "Quirks",
    "decide",
    "effects",
    "enforce",
    "quota_effects",
    "reckoning",
    "table_of",
]
