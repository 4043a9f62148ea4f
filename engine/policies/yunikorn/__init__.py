"""Policy ``fence``, dialect ``yunikorn``: what YuniKorn decides, its departures from its own design included."""

from engine.policies.yunikorn.decision import DIALECT, Parameters, decide, reckoning
from engine.policies.yunikorn.node_candidates import NodeCandidates
from engine.policies.yunikorn.pod_table import table_of
from engine.policies.yunikorn.queue_balances import QueueBalances
from engine.policies.yunikorn.quirk_effects import QuirkEffect, effects, quota_effects
from engine.policies.yunikorn.quirks import ALL, Quirk, Quirks
from engine.policies.yunikorn.quota_change import Enforcement, enforce

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
