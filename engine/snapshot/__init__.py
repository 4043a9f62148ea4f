"""A cluster at one moment, in the types that policies decide on, and the same kept by deltas."""

from engine.snapshot.moment import Reservation, Snapshot
from engine.snapshot.objects import (
    PREEMPTION_BY_SCHEDULER,
    SYSTEM_PRIORITY,
    Claim,
    ClassQuota,
    ClassRule,
    DisruptionBudget,
    Namespace,
    Node,
    Pod,
    Preempted,
    PriorityClass,
    Shield,
    Volume,
    Workload,
)
from engine.snapshot.placing import Protection, queue_of
from engine.snapshot.rules import (
    AffinityTerm,
    HostPort,
    NodeSelectorTerm,
    Requirement,
    Selector,
    SpreadConstraint,
    Taint,
    Toleration,
)
from engine.snapshot.state import DEPARTED_KEPT, Change, ClusterState

__all__ = [
    "DEPARTED_KEPT",
    "PREEMPTION_BY_SCHEDULER",
    "SYSTEM_PRIORITY",
    "AffinityTerm",
    "Change",
    "Claim",
    "ClassQuota",
    "ClassRule",
    "ClusterState",
    "DisruptionBudget",
    "HostPort",
    "Namespace",
    "Node",
    "NodeSelectorTerm",
    "Pod",
    "Preempted",
    "PriorityClass",
    "Protection",
    "Requirement",
    "Reservation",
    "Selector",
    "Shield",
    "Snapshot",
    "SpreadConstraint",
    "Taint",
    "Toleration",
    "Volume",
    "Workload",
    "queue_of",
]
