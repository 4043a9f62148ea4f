"""A cluster at one moment, in the types that policies decide on, and the same kept by deltas."""

from engine.snapshot.moment import Reservation, Snapshot
from engine.snapshot.objects import (
    SYSTEM_PRIORITY,
    ClassQuota,
    ClassRule,
    DisruptionBudget,
    HostPort,
    Node,
    NodeSelectorTerm,
    Pod,
    Preempted,
    PriorityClass,
    Requirement,
    Shield,
    Taint,
    Toleration,
)
from engine.snapshot.placing import Protection, queue_of
from engine.snapshot.state import DEPARTED_KEPT, ClusterState

__all__ = [
    "DEPARTED_KEPT",
    "SYSTEM_PRIORITY",
    "ClassQuota",
    "ClassRule",
    "ClusterState",
    "DisruptionBudget",
    "HostPort",
    "Node",
    "NodeSelectorTerm",
    "Pod",
    "Preempted",
    "PriorityClass",
    "Protection",
    "Requirement",
    "Reservation",
    "Shield",
    "Snapshot",
    "Taint",
    "Toleration",
    "queue_of",
]
