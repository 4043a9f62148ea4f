"""A cluster at one moment, in the types that policies decide on, and the state from which it is frozen."""

from engine.model.snapshot.cluster_state import DEPARTED_KEPT, ClusterState, ObjectChange
from engine.model.snapshot.pending_workloads import pending_workloads
from engine.model.snapshot.queue_assignment import Protection, apply_shield, queue_of
from engine.model.snapshot.safeguards import Safeguards
from engine.model.snapshot.snapshot import Reservation, Snapshot

__all__ = [
    "DEPARTED_KEPT",
    "ClusterState",
    "ObjectChange",
    "Protection",
    "Reservation",
    "Safeguards",
    "Snapshot",
    "apply_shield",
    "pending_workloads",
    "queue_of",
]
