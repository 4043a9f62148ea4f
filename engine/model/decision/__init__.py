"""The decision about a pending pod, and everything that explains it."""

from engine.model.decision.decision import BY_QUOTA, Decision, Safeguard, Trace, apply_decision, decode, encode
from engine.model.decision.facts import (
    DeservedFigures,
    JointLimit,
    NodeVerdict,
    PodFacts,
    PodVerdict,
    QueueFigures,
    QuotaFigures,
    ReclaimNotice,
    ShareFigures,
)
from engine.model.decision.group_facts import GroupFacts, UnitFacts
from engine.model.decision.reasons import Interlock, NodeReason, Outcome, PodReason, Reason

__all__ = [
    "BY_QUOTA",
    "Decision",
    "DeservedFigures",
    "GroupFacts",
    "Interlock",
    "JointLimit",
    "NodeReason",
    "NodeVerdict",
    "Outcome",
    "PodFacts",
    "PodReason",
    "PodVerdict",
    "QueueFigures",
    "QuotaFigures",
    "Reason",
    "ReclaimNotice",
    "Safeguard",
    "ShareFigures",
    "Trace",
    "UnitFacts",
    "apply_decision",
    "decode",
    "encode",
]
