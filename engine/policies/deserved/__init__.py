"""Policy ``deserved``: how much of a cluster each consumer deserves, and who gives it back (kube-arbitrator)."""

from engine.model.snapshot.resource_quotas import SYSTEM
from engine.policies.deserved.deciding import DIALECT, POLICY, decide
from engine.policies.deserved.dividing import Method, deserved
from engine.policies.deserved.ground import ShareIndex, ground
from engine.policies.deserved.question import Parameters
from engine.policies.deserved.standing import ShareStatus, standing

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
