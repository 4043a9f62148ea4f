"""Policy ``deserved``: how much of a cluster each consumer deserves, and who gives it back (kube-arbitrator)."""

from engine.model.snapshot.resource_quotas import SYSTEM
from engine.policies.deserved.attempt import Parameters
from engine.policies.deserved.decision import DIALECT, POLICY, decide
from engine.policies.deserved.shares.division import Method, deserved
from engine.policies.deserved.shares.share_index import ShareIndex, ground
from engine.policies.deserved.shares.share_status import ShareStatus, standing

__all__ = [
    "DIALECT",
    "POLICY",
    "SYSTEM",
    "Method",
    "Parameters",
    "ShareIndex",
    "ShareStatus",
    "decide",
    "deserved",
    "ground",
    "standing",
]
