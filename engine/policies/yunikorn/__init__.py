"""Policy ``fence``, dialect ``yunikorn``: what YuniKorn decides, its departures from its own design included."""

from engine.policies.yunikorn.effects import Effect, effects, quota_effects
from engine.policies.yunikorn.policy import DIALECT, Parameters, decide, reckoning
from engine.policies.yunikorn.quirks import ALL, Quirk, Quirks
from engine.policies.yunikorn.quota import Enforcement, enforce

__all__ = [
    "ALL",
    "DIALECT",
    "Effect",
    "Enforcement",
    "Parameters",
    "Quirk",
    "Quirks",
    "decide",
    "effects",
    "enforce",
    "quota_effects",
    "reckoning",
]
